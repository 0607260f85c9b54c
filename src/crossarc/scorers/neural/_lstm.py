"""The arithmetic of a cell of an LSTM between two matrix products, in loops that become vector instructions.

For that, divisions must not check for zeros ("numpy" errors); "contract" lets a multiplication and an addition become
one instruction.
"""

from typing import Any

import numpy as np

from crossarc._jit import njit

_VECTOR: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}

# tanh x = x p(x²) / q(x²) to within a few units in the last place of 32-bit numbers, for |x| <= 9 (Eigen has the same)
LIMIT = np.float32(9.0)
P0, P1, P2 = np.float32(4.89352455891786e-03), np.float32(6.37261928875436e-04), np.float32(1.48572235717979e-05)
P3, P4 = np.float32(5.12229709037114e-08), np.float32(-8.60467152213735e-11)
P5, P6 = np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
Q0, Q1 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
Q2, Q3 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
HALF = np.float32(0.5)


@njit(inline="always", **_VECTOR)
def tanh(x):
    x = min(max(x, -LIMIT), LIMIT)
    square = x * x
    above = P0 + square * (P1 + square * (P2 + square * (P3 + square * (P4 + square * (P5 + square * P6)))))
    below = Q0 + square * (Q1 + square * (Q2 + square * Q3))
    return x * above / below


@njit(inline="always", **_VECTOR)
def sigmoid(x):
    return HALF + HALF * tanh(HALF * x)


@njit(cache=True, nogil=True, **_VECTOR)
def lstm_cells(gates, cells, states, out):
    """One step of some sequences: cells and states are replaced, states written to out.

    ``gates[j]`` are the sums that the input, forget, cell and output gates of sequence j are made of; they are replaced
    by the gates.
    """
    size = cells.shape[1]
    for j in range(len(gates)):
        gate, cell, state, written = gates[j], cells[j], states[j], out[j]
        for i in range(2 * size):
            gate[i] = sigmoid(gate[i])
        for i in range(2 * size, 3 * size):
            gate[i] = tanh(gate[i])
        for i in range(3 * size, 4 * size):
            gate[i] = sigmoid(gate[i])
        for i in range(size):
            cell[i] = gate[size + i] * cell[i] + gate[i] * gate[2 * size + i]
        for i in range(size):
            value = gate[3 * size + i] * tanh(cell[i])
            state[i] = value
            written[i] = value


@njit(cache=True, nogil=True, **_VECTOR)
def lstm_gradients(gates, before, cells, of_states, of_cells):
    """A step backwards: gates are replaced by the gradients of their sums, ``of_cells`` by that of ``before``.

    ``before`` and ``cells`` are the cells before and after the step; ``of_states`` and ``of_cells`` are gradients.
    """
    size, one = cells.shape[1], np.float32(1.0)
    for j in range(len(gates)):
        gate, old, cell, of_state, of_cell = gates[j], before[j], cells[j], of_states[j], of_cells[j]
        for i in range(size):
            in_gate, forget, new, out = gate[i], gate[size + i], gate[2 * size + i], gate[3 * size + i]
            squashed = tanh(cell[i])
            change = of_cell[i] + of_state[i] * out * (one - squashed * squashed)
            gate[i] = change * new * in_gate * (one - in_gate)
            gate[size + i] = change * old[i] * forget * (one - forget)
            gate[2 * size + i] = change * in_gate * (one - new * new)
            gate[3 * size + i] = of_state[i] * squashed * out * (one - out)
            of_cell[i] = change * forget
