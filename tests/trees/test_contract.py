"""What every public function of crossarc.trees promises, whatever it computes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from itertools import chain
from typing import Any

import numpy as np
import pytest

from crossarc import trees
from crossarc.trees import Constraints, NoTreeError, Tree, UnsupportedConstraint

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]
OTHERS = {"k": 3, "size": 3, "rng": 5, "temperature": 2.0}  # what functions take beside scores and flags
SCORES = {"scores", "arcs", "list_of_scores", "list_of_arcs"}  # what they call their scores


@dataclass(frozen=True)
class Function:
    """A public function as one of scores (and siblings), the rest being fixed."""

    name: str
    call: Callable[..., Any]
    argument: str = "scores"  # what it calls the scores in its messages
    siblings: str = "siblings"  # and what the siblings, or grandparents
    second_order: bool = False
    flags: dict[str, bool] = field(default_factory=dict)

    def __call__(self, scores, siblings=None, **options):
        if not self.second_order:
            return self.call(scores, **self.flags, **options)
        if siblings is None:
            siblings = np.zeros((len(scores),) * 3)
        return self.call(scores, siblings, **self.flags, **options)

    @property
    def quadratic(self):
        best = ("best_tree", "best_trees", "k_best_trees", "TreeDistribution.best", "TreeDistribution.k_best")
        return (self.name in best and not self.flags["projective"]) or self.name == "best_graph"

    def parts(self, size):
        """[h, s, m] or [g, h, m]: which scores of pairs of arcs count."""
        a, b, m = np.indices((size, size, size))
        if self.siblings == "grandparents":
            return (a != b) & (b != m) & (a != m) & (b > 0) & (m > 0)
        return (m > 0) & (m != a) & ((b == a) | ((a < b) & (b < m)) | ((m < b) & (b < a)))

    @property
    def limits_children(self):
        """Whether it honours max_children: sums by enumeration, best projective trees by a chart."""
        sums = ("log_partition", "log_partitions", "marginals", "marginals_batch", "entropy", "entropies")
        best = ("best_tree", "best_trees", "min_risk_tree", "min_risk_trees")
        return self.name in (*sums, "log_partitions_and_marginals") or (self.name in best and self.flags["projective"])

    @property
    def searches_trees(self):
        return self.name.split()[0] != "graph_score"

    @property
    def quantity(self):
        """What it computes, as a function or as a method of the distribution."""
        return self.name.rpartition(".")[2]


def fixed_graph(function):
    """A function of a graph and scores, as one of scores: the graph has the size of the scores."""

    def of_scores(*scores, **options):
        size = (*np.shape(scores[0]), 1)[0]
        graph = np.zeros((size, size), dtype=bool)
        graph[:1, 1:] = True
        return function(graph, *scores, **options)

    return of_scores


def first_of(function):
    """A function of many sentences, as one of a single sentence among others."""

    def of_scores(scores, *siblings, **options):
        if "constraints" in options:
            own = options["constraints"]
            options["constraints"] = [own, Constraints(single_root=own.single_root, projective=own.projective)]
        return function([scores, np.zeros((3, 3))], *([each, np.zeros((3, 3, 3))] for each in siblings), **options)

    return of_scores


def chain_of(scores):
    """The heads of a tree for every sentence: each word hangs from the one before it."""
    return np.arange(-1, (*np.shape(scores), 1)[0] - 1)


def method(name):
    """A method or property of TreeDistribution, as a function of scores."""

    def of_scores(scores, **options):
        result = getattr(trees.TreeDistribution(scores, **options), name)
        if not callable(result):
            return result
        taken = inspect.signature(result).parameters
        given = {"tree": chain_of(scores), **OTHERS}
        result = result(**{name: value for name, value in given.items() if name in taken})
        return result.marginals if isinstance(result, trees.TreeDistribution) else result

    return of_scores


def calls_of(name):
    """(name, function, its parameters) of all that a public name offers to compute from scores."""
    public = getattr(trees, name)
    if public is trees.TreeDistribution:
        parameters = inspect.signature(public).parameters
        for part in filter(lambda part: not part.startswith("_"), dir(public)):
            yield f"{name}.{part}", method(part), parameters
    elif not isinstance(public, type):
        parameters = inspect.signature(public).parameters
        if SCORES & parameters.keys():
            yield name, fixed_graph(public) if "heads" in parameters else public, parameters


def with_others(call, parameters):
    """The function with a value for each of the others among its parameters."""
    return partial(call, **{other: OTHERS[other] for other in OTHERS if other in parameters})


def functions():
    """Everything in ``trees.__all__`` that takes scores, with every combination of the flags that it has."""
    for public in trees.__all__:
        for name, call, parameters in calls_of(public):
            call = with_others(call, parameters)
            (argument,) = SCORES & parameters.keys()
            siblings = next((p for p in ("siblings", "list_of_siblings", "grandparents") if p in parameters), None)
            batch = argument.startswith("list_of")
            as_one = first_of(call) if batch else call
            suffix = "[0]" if batch else ""
            for flags in FLAGS:
                own = {flag: value for flag, value in flags.items() if flag in parameters}
                if siblings is None or parameters[siblings].default is None:
                    yield Function(name, as_one, argument + suffix, flags=own)
                if siblings is not None:
                    full = name if parameters[siblings].default is not None else f"{name} with siblings"
                    yield Function(full, as_one, argument + suffix, siblings + suffix, second_order=True, flags=own)
                if not own:
                    break


# the same flags come again for a function that has only one of them
FUNCTIONS = list({(f.name, *f.flags.items()): f for f in functions()}.values())
BATCHES = [
    update_wrapper(with_others(function, parameters), function)
    for _, function, parameters in chain.from_iterable(map(calls_of, trees.__all__))
    if "list_of_scores" in parameters
]
ONE_RESULT_EACH = [function for function in BATCHES if function.__name__ != "log_partitions_and_marginals"]
SINGULAR = {"entropies": "entropy"}  # where it is more than an -s or _batch less


def one_by_one(batch, sentences, constraints=None, **flags):
    """What the function of one sentence makes of each; both sums together have no such function."""
    name = batch.__name__
    if name == "log_partitions_and_marginals":
        singly = [[part[0] for part in batch([scores], **flags)] for scores in sentences]
        return [list(column) for column in zip(*plain(singly), strict=True)]
    shorter = name.removesuffix("_batch") if name.endswith("_batch") else name.removesuffix("s")
    single = getattr(trees, SINGULAR.get(name, shorter))
    single = with_others(single, inspect.signature(single).parameters)
    of_each = [None] * len(sentences) if constraints is None else constraints
    random = np.random.default_rng(OTHERS["rng"]).spawn(len(sentences))
    own = ({"rng": rng} if name == "sample_trees_batch" else {} for rng in random)
    return plain([single(s, constraints=c, **o, **flags) for s, c, o in zip(sentences, of_each, own, strict=True)])


def name_of(function):
    return "-".join([function.name, *(flag for flag, on in function.flags.items() if on)])


def over(chosen):
    return pytest.mark.parametrize("function", [f for f in FUNCTIONS if chosen(f)], ids=name_of)


every_function = over(lambda f: True)


def plain(result):
    """A result as nested lists of numbers, so that any two can be compared."""
    if isinstance(result, np.ndarray):
        return result.tolist()
    if isinstance(result, list | tuple):
        return [plain(part) for part in result]
    return result


def arrays_in(result):
    if isinstance(result, np.ndarray):
        yield result
    elif isinstance(result, list | tuple):
        for part in result:
            yield from arrays_in(part)


def trees_in(result):
    if isinstance(result, Tree):
        yield result
    elif isinstance(result, list):
        for part in result:
            yield from trees_in(part)


def small_integers(*shape):
    """Scores that every type holds exactly."""
    return np.random.default_rng(len(shape)).integers(-4, 5, size=shape)


def read_only(array):
    result = array.astype(float)
    result.flags.writeable = False
    return result


def strided(array):
    wide = np.full([2 * side for side in array.shape], np.nan)
    every_other = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    every_other[...] = array
    return every_other


def unaligned(array):
    raw = np.zeros(array.size * 8 + 1, dtype=np.uint8)[1:]
    result = raw.view(np.float64).reshape(array.shape)
    result[...] = array
    return result


KINDS = {
    "integers": lambda array: array,
    "int8": lambda array: array.astype(np.int8),
    "float32": lambda array: array.astype(np.float32),
    "big-endian": lambda array: array.astype(">f8"),
    "column-major": lambda array: np.asfortranarray(array, dtype=float),
    "strided": strided,
    "read-only": read_only,
    "unaligned": unaligned,
    "lists": lambda array: array.tolist(),
}


@every_function
def test_every_kind_of_array_gives_the_same_answer(function):
    scores, siblings = small_integers(6, 6), small_integers(6, 6, 6)
    expected = plain(function(scores.astype(float), siblings.astype(float)))
    for kind, converted in KINDS.items():
        assert plain(function(converted(scores), converted(siblings))) == expected, kind


@every_function
def test_every_kind_of_labelled_array_gives_the_same_answer(function):
    scores, siblings = small_integers(4, 4, 3), small_integers(4, 4, 4)
    expected = plain(function(scores.astype(float), siblings.astype(float)))
    for kind, converted in KINDS.items():
        assert plain(function(converted(scores), converted(siblings))) == expected, kind


@every_function
def test_inputs_are_not_modified_and_results_share_no_memory_with_them(function):
    rng = np.random.default_rng(2)
    inputs = [
        (rng.normal(size=(6, 6)), rng.normal(size=(6, 6, 6))),
        (rng.normal(size=(4, 4, 2)), rng.normal(size=(4, 4, 4))),
    ]
    for scores, siblings in inputs:
        scores[0, 1] = siblings[0, 0, 1] = -np.inf
        before = scores.tobytes(), siblings.tobytes()
        result = function(scores, siblings)
        for array in arrays_in(result):
            assert not np.shares_memory(array, scores)
            assert not np.shares_memory(array, siblings)
            if array.flags.writeable:
                array[...] = 0
        assert (scores.tobytes(), siblings.tobytes()) == before


@every_function
def test_the_same_answer_twice(function):
    rng = np.random.default_rng(3)
    scores, siblings = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))
    assert plain(function(scores, siblings)) == plain(function(scores, siblings))


@every_function
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_named(function, bad):
    cases = [((4, 4), (2, 3)), ((4, 4), (0, 1)), ((4, 4), (3, 1)), ((4, 4, 2), (1, 3, 1))]
    for shape, position in cases:
        scores = np.zeros(shape)
        scores[position] = bad
        with pytest.raises(ValueError, match="is") as error:
            function(scores)
        assert not isinstance(error.value, NoTreeError)
        assert str(error.value) == f"{function.argument}[{', '.join(map(str, position))}] is {bad}"


@over(lambda f: f.second_order)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_sibling_score_that_is_no_number_is_named(function, bad):
    for position in filter(function.parts(4).__getitem__, [(0, 0, 2), (0, 1, 3), (3, 2, 1), (2, 2, 1)]):
        siblings = np.zeros((4, 4, 4))
        siblings[position] = bad
        with pytest.raises(ValueError, match="is") as error:
            function(np.zeros((4, 4)), siblings)
        assert str(error.value) == f"{function.siblings}[{', '.join(map(str, position))}] is {bad}"


@every_function
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 0), (2, 2, 0), (2, 3, 2), (2, 2, 2, 2)])
def test_wrong_shapes(function, shape):
    siblings = np.zeros((2, 2, 2))
    with pytest.raises(ValueError, match=r"must have|room") as error:
        function.call(*([np.zeros(shape), siblings] if function.second_order else [np.zeros(shape)]), **function.flags)
    assert not isinstance(error.value, NoTreeError)


@over(lambda f: f.second_order)
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (3, 3, 2), (3, 3, 3, 1)])
def test_wrong_shapes_of_siblings(function, shape):
    with pytest.raises(ValueError, match=f"{re.escape(function.siblings)} must have shape"):
        function(np.zeros((3, 3)), np.zeros(shape))


@every_function
def test_the_diagonal_column_0_and_parts_of_no_tree_are_ignored(function):
    rng = np.random.default_rng(4)
    shapes = [(6, 6), (6, 6, 2)]
    unused = ~function.parts(6)
    for shape in shapes:
        scores, siblings = rng.normal(size=shape), rng.normal(size=(6, 6, 6))
        expected = plain(function(scores, siblings))
        for junk in (np.nan, np.inf, -np.inf, 1e300):
            scores[:, 0] = junk
            scores[np.diag_indices(6)] = junk
            siblings[unused] = junk
            assert plain(function(scores, siblings)) == expected


@over(lambda f: f.searches_trees)
def test_no_tree(function):
    nothing = np.full((3, 3), -np.inf)
    cycle = np.full((4, 4), -np.inf)
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 0.0
    for scores in (nothing, cycle, np.full((2, 2), -np.inf)):
        with pytest.raises(NoTreeError):
            function(scores)
    with pytest.raises(NoTreeError):
        function(np.repeat(cycle[:, :, None], 2, axis=2))


@over(lambda f: "single_root" in f.flags)
def test_only_the_single_root_is_impossible(function):
    """Both words have no other head than the root."""
    scores = np.full((3, 3), -np.inf)
    scores[0, 1:] = 0.0
    if function.flags["single_root"]:
        with pytest.raises(NoTreeError, match="tree with a single root for"):
            function(scores)
    else:
        function(scores)


@every_function
def test_no_word(function):
    for junk in (0.0, np.nan, -np.inf):
        result = function(np.full((1, 1), junk), np.full((1, 1, 1), junk))
        for tree in trees_in(result):
            if len(tree.heads) == 1:
                assert plain(tree) == [[-1], None, 0.0]
        if function.quantity in ("log_partition", "entropy", "log_prob", "second_order_log_partition", "graph_score"):
            assert result == 0.0
        if function.quantity in ("marginals", "best_graph"):
            assert plain(result) == [[0]]
    for tree in trees_in(function(np.zeros((1, 1, 2)))):
        if len(tree.heads) == 1:
            assert plain(tree) == [[-1], [-1], 0.0]


@every_function
def test_one_word(function):
    result = function([[np.nan, -2], [np.nan, np.nan]], np.zeros((2, 2, 2)))
    found = [tree for tree in trees_in(result) if len(tree.heads) == 2]
    expected = 1.0 if function.quantity.startswith("min_risk") else -2.0
    for tree in found:
        assert plain(tree) == [[-1, 0], None, expected]
    if function.quantity in ("log_partition", "second_order_log_partition", "graph_score"):
        assert result == pytest.approx(-2.0)
    if function.quantity in ("marginals", "best_graph"):
        assert plain(result) == [[0, 1], [0, 0]]


@over(lambda f: f.quadratic)
def test_a_long_sentence(function):
    """All words in one cycle: recursion would end here."""
    n = 1200
    scores = np.zeros((n + 1, n + 1)) if function.argument != "arcs" else np.full((n + 1, n + 1), -1.0)
    scores[np.arange(1, n + 1), np.arange(1, n + 1) % n + 1] = 5.0
    scores[0, 7] = 1.0
    chain = [-1, n, *range(1, 6), 0, *range(7, n)]
    result = function(scores)
    if isinstance(result, np.ndarray):
        assert np.argwhere(result.T)[:, 1].tolist() == chain[1:]
    else:
        assert next(trees_in([result])).heads.tolist() == chain


@every_function
def test_labels_are_kept(function):
    """Label 1 is the best everywhere."""
    scores = np.zeros((4, 4, 2))
    scores[:, :, 1] = 800.0
    for tree in trees_in(function(scores)):
        if len(tree.heads) == 4:
            assert tree.labels.tolist() == [-1, 1, 1, 1]
    for tree in trees_in(function(scores[:, :, 0])):
        assert tree.labels is None


@over(lambda f: "single_root" in f.flags)
def test_flags_are_obeyed(function):
    rng = np.random.default_rng(6)
    for _ in range(5):
        scores = rng.normal(size=(8, 8))
        for tree in trees_in(function(scores)):
            assert trees.is_tree(tree.heads)
            if len(tree.heads) == 8:
                assert not function.flags["single_root"] or tree.heads.tolist().count(0) == 1
                assert not function.flags.get("projective") or trees.is_projective(tree.heads)


@pytest.mark.parametrize("function", BATCHES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")
@pytest.mark.parametrize("labels", [(), (2,)], ids=["unlabelled", "labelled"])
def test_batches_are_single_sentences(function, flags, labels):
    """In a list or padded (with NaN, which lies beyond), in one thread or several."""
    rng = np.random.default_rng(7)
    lengths = [3, 0, 9, 1, *rng.integers(0, 10, size=300 if not labels else 30).tolist()]
    padded = np.full((len(lengths), 10, 10, *labels), np.nan)
    for scores, n in zip(padded, lengths, strict=True):
        scores[: n + 1, : n + 1] = rng.normal(size=(n + 1, n + 1, *labels))
    sentences = [scores[: n + 1, : n + 1] for scores, n in zip(padded, lengths, strict=True)]
    expected = one_by_one(function, sentences, **flags)
    for threads in (1, 2, 3):
        assert plain(function(sentences, threads=threads, **flags)) == expected
        assert plain(function(padded, lengths=lengths, threads=threads, **flags)) == expected
    assert plain(function(iter(sentences), **flags)) == expected


@pytest.mark.parametrize("function", BATCHES, ids=lambda f: f.__name__)
def test_awkward_batches(function):
    nothing = function([])
    assert all(len(part) == 0 for part in (nothing if isinstance(nothing, tuple) else [nothing]))
    two = np.zeros((2, 3, 3))
    for arguments, message in [
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"lengths": [2]}, "1 lengths for 2 sentences"),
        ({"lengths": [2, 3]}, r"lengths\[1\] is 3, but there is room for 2 words"),
        ({"lengths": [-1, 2]}, r"lengths\[0\] is -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(two, **arguments)
    with pytest.raises(ValueError, match="list_of_scores must have shape"):
        function(np.zeros((3, 3)))
    with pytest.raises(NoTreeError, match=r"list_of_scores\[2\]"):
        function([np.zeros((3, 3)), np.zeros((2, 2)), np.full((3, 3), -np.inf)])
    with pytest.raises(ValueError, match=r"list_of_scores\[1\]\[0, 2\] is nan"):
        function([np.zeros((3, 3)), [[0, 0, np.nan], [0, 0, 0], [0, 0, 0]]])


def test_labelled_and_unlabelled_sentences_in_one_batch():
    plain_scores, labelled = np.zeros((3, 3)), np.zeros((3, 3, 2))
    for function in ONE_RESULT_EACH:
        both = [plain_scores, labelled]
        assert plain(function(both)) == one_by_one(function, both)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("labels", [(), (2,)], ids=["unlabelled", "labelled"])
def test_batches_with_siblings_are_single_sentences(single_root, labels):
    """In a list or padded (with NaN, which lies beyond), in one thread or several."""
    rng = np.random.default_rng(8)
    lengths = [3, 0, 9, 1, *rng.integers(0, 10, size=60).tolist()]
    arcs, siblings = (np.full((len(lengths), 10, 10, *shape), np.nan) for shape in (labels, (10,)))
    list_of_arcs, list_of_siblings = [], []
    for i, size in enumerate(n + 1 for n in lengths):
        list_of_arcs.append(arcs[i, :size, :size])
        list_of_siblings.append(siblings[i, :size, :size, :size])
        list_of_arcs[i][...] = rng.integers(-2, 3, size=(size, size, *labels))
        list_of_siblings[i][...] = rng.integers(-2, 3, size=(size, size, size))
    expected = plain(
        list(map(partial(trees.best_second_order_tree, single_root=single_root), list_of_arcs, list_of_siblings))
    )
    for threads in (1, 2, 3):
        flags = {"single_root": single_root, "threads": threads}
        assert plain(trees.best_second_order_trees(list_of_arcs, iter(list_of_siblings), **flags)) == expected
        assert plain(trees.best_second_order_trees(arcs, siblings, lengths=lengths, **flags)) == expected


def test_awkward_batches_with_siblings():
    function = trees.best_second_order_trees
    assert function([], []) == []
    arcs, siblings = np.zeros((2, 3, 3)), np.zeros((2, 3, 3, 3))
    for arguments, message in [
        ((arcs, siblings[:1]), "1 arrays of siblings for 2 sentences"),
        ((arcs[0], siblings), "list_of_arcs must have shape"),
        ((arcs, [siblings[0], np.zeros((2, 2, 2))]), r"list_of_siblings\[1\] must have shape \(3, 3, 3\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(*arguments)
    with pytest.raises(ValueError, match="threads must be at least 1, not 0"):
        function(arcs, siblings, threads=0)
    with pytest.raises(ValueError, match=r"lengths\[1\] is 3, but there is room for 2 words"):
        function(arcs, siblings, lengths=[2, 3])
    siblings[1] = -np.inf
    with pytest.raises(NoTreeError, match=r"list_of_arcs\[1\] and list_of_siblings\[1\]"):
        function(arcs, siblings)


def forbid(scores, *arcs):
    scores = scores.copy()
    for arc in arcs:
        scores[arc] = -np.inf
    return scores


@over(lambda f: f.searches_trees)
def test_constraints_on_arcs_and_labels_are_masks(function):
    rng = np.random.default_rng(9)
    scores, siblings = rng.normal(size=(6, 6)), rng.normal(size=(6, 6, 6))
    forbidden = Constraints(forbidden_arcs=frozenset({(0, 2), (4, 2)}))
    expected = plain(function(forbid(scores, (0, 2), (4, 2)), siblings))
    assert plain(function(scores, siblings, constraints=forbidden)) == expected
    required = Constraints(required_arcs=frozenset({(2, 1), (4, 3)}))
    if function.quantity.startswith("best_graph"):
        graph = function(scores, siblings, constraints=required)
        assert graph[2, 1]
        assert graph[4, 3]
    else:
        others = [(h, m) for head, m in ((2, 1), (4, 3)) for h in range(6) if h not in (head, m)]
        expected = plain(function(forbid(scores, *others), siblings))
        assert plain(function(scores, siblings, constraints=required)) == expected
    labelled = rng.normal(size=(6, 6, 3))
    on_labels = Constraints(required_labels={1: 2}, forbidden_labels=frozenset({(2, 0), (2, 1)}))
    every = slice(None)
    masked = forbid(labelled, (every, 1, 0), (every, 1, 1), (every, 2, 0), (every, 2, 1))
    assert plain(function(labelled, siblings, constraints=on_labels)) == plain(function(masked, siblings))
    assert plain(function(labelled, siblings, constraints=Constraints())) == plain(function(labelled, siblings))


@over(lambda f: not any(f.flags.values()) and f.flags)
def test_flags_are_shorthands_for_constraints(function):
    rng = np.random.default_rng(10)
    scores, siblings = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))
    for flag in function.flags:
        expected = function.call(
            scores, *([siblings] if function.second_order else []), **{**function.flags, flag: True}
        )
        assert plain(function(scores, siblings, constraints=Constraints(**{flag: True}))) == plain(expected)


@over(lambda f: f.searches_trees)
def test_constraints_that_no_tree_meets_or_no_decoder_can_honour(function):
    scores = np.zeros((4, 4))
    with pytest.raises(UnsupportedConstraint):
        function(scores, constraints=Constraints(max_degree=1))
    if function.limits_children:
        with pytest.raises(ValueError, match="constraint of 1 children of node 4: there are 3 words"):
            function(scores, constraints=Constraints(max_children={4: 1}))
    else:
        with pytest.raises(UnsupportedConstraint):
            function(scores, constraints=Constraints(max_children={1: 1}))
    cycle = Constraints(required_arcs=frozenset({(1, 2), (2, 1)}))
    with pytest.raises(NoTreeError, match="the required arcs form a cycle"):
        function(scores, constraints=cycle)
    nothing = Constraints(required_arcs=frozenset({(1, 2)}), forbidden_arcs=frozenset({(1, 2)}))
    with pytest.raises(NoTreeError):
        function(scores, constraints=nothing)
    with pytest.raises(NoTreeError, match="the constraints allow no label for word 1"):
        function(np.zeros((4, 4, 1)), constraints=Constraints(forbidden_labels=frozenset({(1, 0)})))
    for rule, message in [
        (Constraints(required_arcs=frozenset({(4, 1)})), r"constraint on the arc \(4, 1\)"),
        (Constraints(forbidden_arcs=frozenset({(2, 0)})), r"constraint on the arc \(2, 0\)"),
        (Constraints(forbidden_arcs=frozenset({(2, 2)})), r"constraint on the arc \(2, 2\)"),
        (Constraints(required_labels={1: 2}), "constraint on label 2 of word 1"),
        (Constraints(forbidden_labels=frozenset({(4, 0)})), "constraint on label 0 of word 4"),
    ]:
        with pytest.raises(ValueError, match=message) as error:
            function(np.zeros((4, 4, 2)), constraints=rule)
        assert not isinstance(error.value, NoTreeError)
        assert not function.argument.startswith("list_of") or str(error.value).startswith(function.argument)
    with pytest.raises(ValueError, match="constraints on labels need labelled scores"):
        function(scores, constraints=Constraints(required_labels={1: 0}))


@pytest.mark.parametrize("function", ONE_RESULT_EACH, ids=lambda f: f.__name__)
def test_every_sentence_has_constraints_of_its_own(function):
    batch = [np.random.default_rng(seed).normal(size=(6, 6)) for seed in range(6)]
    of_each = [
        None,
        Constraints(single_root=True),
        Constraints(projective=True),
        Constraints(required_arcs=frozenset({(1, 5)})),
        Constraints(projective=True, single_root=True),
        Constraints(forbidden_arcs=frozenset({(1, 5)}), single_root=True),
    ]
    assert plain(list(function(batch, constraints=of_each))) == one_by_one(function, batch, of_each)
    with pytest.raises(ValueError, match="5 constraints for 6 sentences"):
        function(batch, constraints=of_each[1:])


def test_what_graphs_cannot_honour():
    for rule in (
        Constraints(single_root=True),
        Constraints(projective=True),
        Constraints(required_arcs=frozenset({(1, 2), (3, 2)})),
    ):
        with pytest.raises(UnsupportedConstraint):
            trees.best_graph(np.zeros((4, 4)), constraints=rule)


CONTRACT = {
    "best_tree": "scores, *, constraints, single_root, projective",
    "k_best_trees": "scores, k, *, constraints, single_root, projective",
    "log_partition": "scores, *, constraints, single_root, projective",
    "marginals": "scores, *, constraints, single_root, projective",
    "entropy": "scores, *, constraints, single_root, projective",
    "sample_trees": "scores, size, *, rng, constraints, single_root, projective",
    "min_risk_tree": "scores, *, constraints, single_root, projective",
    "TreeDistribution": "scores, *, constraints, single_root, projective",
    "best_grandparent_tree": "arcs, grandparents, *, constraints, single_root",
    "best_second_order_tree": "arcs, siblings, *, constraints, projective, start, max_changes",
    "best_second_order_trees": "list_of_arcs, list_of_siblings, *, constraints, single_root, threads",
    "best_graph": "arcs, siblings, *, constraints",
    "best_trees": "list_of_scores, *, constraints, single_root, projective, threads",
    "marginals_batch": "list_of_scores, *, constraints, single_root, projective, threads",
    "log_partitions": "list_of_scores, *, constraints, single_root, projective, threads",
    "entropies": "list_of_scores, *, constraints, single_root, projective, threads",
    "k_best_trees_batch": "list_of_scores, k, *, constraints, single_root, projective, threads",
    "sample_trees_batch": "list_of_scores, size, *, rng, constraints, single_root, projective, threads",
    "min_risk_trees": "list_of_scores, *, constraints, single_root, projective, threads",
    "is_tree": "heads",
    "is_projective": "heads",
    "arc_degrees": "heads",
    "degree": "heads",
    "gap_degree": "heads",
    "is_well_nested": "heads",
    "crossing_arcs": "heads",
}


@pytest.mark.parametrize("name", CONTRACT)
def test_the_names_of_the_public_contract(name):
    positional, _, keywords = CONTRACT[name].partition(", *, ")
    parameters = inspect.signature(getattr(trees, name)).parameters
    kinds = inspect.Parameter
    found = [p.name for p in parameters.values() if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    assert found[: len(positional.split(", "))] == positional.split(", ")
    for keyword in filter(None, keywords.split(", ")):
        assert parameters[keyword].kind is kinds.KEYWORD_ONLY
        if keyword in ("single_root", "projective"):
            assert parameters[keyword].default is (name == "best_second_order_tree")
    assert name in trees.__all__


def test_trees_are_heads_labels_and_score():
    assert Tree._fields == ("heads", "labels", "score")
