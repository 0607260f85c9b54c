"""SIMD: several numbers that go through the same arithmetic at once, one in each lane of the processor's vectors.

Numba makes vector instructions only of long loops. Here a ``Lanes`` is a number to a kernel, to be added, multiplied
and divided; and a vector of ``LANES`` float64 to the compiler, which has the instructions for it on every machine. The
result in a lane is that of the same operations on plain numbers, to the last bit.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from crossarc._jit import jit_helper

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)

# where it pays: enough of the lanes are taken
MIN_SIMD_SENTENCES = 4


class Lanes(types.Type):
    """The type of a vector of numbers."""

    def __init__(self):
        super().__init__(name=f"Lanes({LANES})")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, VECTOR)


@jit_helper
def empty_lanes(rows, columns):
    """np.empty((rows, columns, LANES)) of float64, all lanes of which lie in one line of the cache each."""
    numbers = rows * columns * LANES
    buffer = np.empty(numbers + LANES)
    first = -(buffer.ctypes.data // buffer.itemsize) % LANES
    return buffer[first : first + numbers].reshape((rows, columns, LANES))


def place(context, builder, signature, arguments):
    """The address of the lanes array[g, x]."""
    array, g, x = arguments[:3]
    array = context.make_array(signature.args[0])(context, builder, array)
    columns = builder.extract_value(array.shape, 1)
    index = builder.mul(builder.add(builder.mul(g, columns), x), ir.Constant(g.type, LANES))
    return builder.bitcast(builder.gep(array.data, [index]), VECTOR.as_pointer())


@intrinsic
def load(typing, array, g, x):
    """array[g, x, :] of an array of the shape (any, any, LANES)."""

    def generate(context, builder, signature, arguments):
        return builder.load(place(context, builder, signature, arguments), align=8)

    return Lanes()(array, types.intp, types.intp), generate


@intrinsic
def store(typing, array, g, x, lanes):
    """array[g, x, :] = lanes."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[3], place(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, lanes), generate


def place_in_run(context, builder, signature, arguments):
    """The address of the lanes array[i : i + LANES]."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), VECTOR.as_pointer())


@intrinsic
def load_run(typing, array, i):
    """array[i : i + LANES] of an array of one dimension."""

    def generate(context, builder, signature, arguments):
        return builder.load(place_in_run(context, builder, signature, arguments), align=8)

    return Lanes()(array, types.intp), generate


@intrinsic
def store_run(typing, array, i, lanes):
    """array[i : i + LANES] = lanes."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], place_in_run(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def load_runs(typing, array, places, i):
    """LANES runs at once: number k is that of ``load_run`` at places[k] + i."""

    def generate(context, builder, signature, arguments):
        runs = [builder.load(address, align=8) for address in addresses_of_runs(context, builder, signature, arguments)]
        return context.make_tuple(builder, signature.return_type, runs)

    return types.UniTuple(Lanes(), LANES)(array, places, types.intp), generate


@intrinsic
def store_runs(typing, array, places, i, runs):
    """``load_runs`` the other way."""

    def generate(context, builder, signature, arguments):
        for k, address in enumerate(addresses_of_runs(context, builder, signature, arguments)):
            builder.store(builder.extract_value(arguments[3], k), address, align=8)
        return context.get_dummy_value()

    return types.void(array, places, types.intp, runs), generate


def addresses_of_runs(context, builder, signature, arguments):
    array, places, i = arguments[:3]
    array = context.make_array(signature.args[0])(context, builder, array)
    places = context.make_array(signature.args[1])(context, builder, places)
    for k in range(LANES):
        place = builder.load(builder.gep(places.data, [ir.Constant(i.type, k)]))
        yield builder.bitcast(builder.gep(array.data, [builder.add(place, i)]), VECTOR.as_pointer())


@intrinsic
def transposed(typing, runs):
    """Lane k of run j becomes lane j of run k."""

    def generate(context, builder, signature, arguments):
        own = [builder.extract_value(arguments[0], k) for k in range(LANES)]
        # each round puts runs that are half of all runs apart together, an element of one beside that of the other
        for _ in range(LANES.bit_length() - 1):
            own = [
                builder.shuffle_vector(own[k], own[k + LANES // 2], interleaved(half))
                for k in range(LANES // 2)
                for half in range(2)
            ]
        return context.make_tuple(builder, signature.return_type, own)

    return runs(runs), generate


def interleaved(half):
    """Which elements of two vectors, one after the other, make the first or second half of them taken in turn."""
    order = [k + LANES * second for k in range(LANES) for second in range(2)]
    return ir.Constant(ir.VectorType(ir.IntType(32), LANES), order[half * LANES : (half + 1) * LANES])


@intrinsic
def load_each(typing, arrays, i):
    """Element i of each of LANES contiguous arrays of any dimension, as if they were flat: lane k is of arrays[k]."""

    def generate(context, builder, signature, arguments):
        tuple_type, lanes = signature.args[0], ir.Constant(VECTOR, ir.Undefined)
        for k in range(LANES):
            array = context.make_array(tuple_type.dtype)(context, builder, builder.extract_value(arguments[0], k))
            element = builder.load(builder.gep(array.data, [arguments[1]]))
            lanes = builder.insert_element(lanes, element, ir.Constant(ir.IntType(32), k))
        return lanes

    return Lanes()(arrays, types.intp), generate


@intrinsic
def filled(typing, number):
    """The same number in all lanes."""

    def generate(context, builder, signature, arguments):
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for i in range(LANES):
            lanes = builder.insert_element(lanes, arguments[0], ir.Constant(ir.IntType(32), i))
        return lanes

    return Lanes()(types.float64), generate


@intrinsic
def where_greater(typing, a, b, if_greater, otherwise):
    """if_greater in the lanes where a > b (which no NaN is), otherwise in the others."""

    def generate(context, builder, signature, arguments):
        a, b, if_greater, otherwise = arguments
        return builder.select(builder.fcmp_ordered(">", a, b), if_greater, otherwise)

    return Lanes()(a, b, if_greater, otherwise), generate


def define(operation, instruction):
    @intrinsic
    def lanewise(typing, a, b):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return Lanes()(a, b), generate

    @overload(operation)
    def of_lanes(a, b):
        if isinstance(a, Lanes) and isinstance(b, Lanes):
            return lambda a, b: lanewise(a, b)


define(operator.add, "fadd")
define(operator.mul, "fmul")
define(operator.truediv, "fdiv")
