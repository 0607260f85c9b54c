"""Arrays that callers give to ``crossarc.trees``, ``crossarc.ilp`` and ``crossarc.search``: whatever they are, the
answer is a result or a ``ValueError`` (``NoTreeError`` and ``UnsupportedConstraint`` are such), never a crash.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crossarc import ilp, search, trees
from crossarc.core import Constraints, Tree

# classes of plain data, which check nothing: what is made of them is checked where it is used
DATA = {
    "Arc", "Arcs", "Children", "Constraints", "Exact", "FewArcs", "HillClimbing", "Indicators", "NoChildren",
    "NoCrossing", "NoTreeError", "PaddedTrees", "Pairs", "PartScores", "Parts", "Relaxed", "Rule", "RulesError",
    "SameHead", "SecondOrder", "Solution", "Tree", "UnsupportedConstraint",
}  # fmt: skip
FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (trees, ilp, search)
    for name in module.__all__
    if name not in DATA
}
NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, -7.0, -np.inf])
STRANGE = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e16, -0.0])
INTEGERS = st.sampled_from([-(2**70), -(2**63), -(10**9), -1, 0, 1, 2, 3, 4, 99, 2**31, 10**9, 2**63 - 1, 2**70])
SMALL = st.integers(-1, 4)
UNKNOWN = object()  # the value of a parameter that is left alone
TYPES = ("f8", "f4", "f2", "i8", "i1", "u8", "u1", "?", "c16", "U3", "O", "M8[s]")


def draw_array(draw: Any, shape: tuple[int, ...], *, strange: bool) -> Any:
    size = int(np.prod(shape))
    numbers = st.one_of(NUMBERS, STRANGE) if strange else NUMBERS
    array = np.array(draw(st.lists(numbers, min_size=size, max_size=size)), dtype=np.float64).reshape(shape)
    if strange and draw(st.booleans()):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.nan_to_num(array).astype(np.dtype(draw(st.sampled_from(TYPES))))
    return array


class Input:
    """The arguments of one call: of sentences of the same size, and now and then something else."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.size = draw(st.integers(1, 4))
        self.strange = draw(st.sampled_from([True, False, False]))

    def array(self, *shape: int) -> Any:
        if self.strange and self.draw(st.integers(0, 3)) == 0:
            odd = st.one_of(st.lists(st.integers(0, 4), max_size=4).map(tuple), st.just(()))
            if self.draw(st.integers(0, 4)) == 0:
                return self.draw(st.sampled_from([None, "text", 7, [], [[1], [1, 2]], object(), {}, [[None]]]))
            return draw_array(self.draw, self.draw(odd), strange=True)
        return draw_array(self.draw, shape, strange=self.strange)

    def scores(self) -> Any:
        labels = self.draw(st.sampled_from([(), (), (2,), (0,)]))
        return self.array(self.size, self.size, *labels)

    def triples(self) -> Any:
        return self.array(self.size, self.size, self.size)

    def many(self, kind: Any) -> Any:
        return [kind() for _ in range(self.draw(st.integers(0, 3)))]

    def heads(self) -> Any:
        if self.strange:
            return self.draw(st.one_of(st.lists(INTEGERS, max_size=6), st.just(self.array(self.size))))
        return [-1, *self.draw(st.lists(st.integers(0, self.size - 1), min_size=self.size - 1, max_size=self.size - 1))]

    def integer(self) -> int:
        return self.draw(INTEGERS if self.strange else st.integers(1, 5))

    def constraints(self) -> Constraints:
        number = INTEGERS if self.strange else SMALL
        pairs = st.frozensets(st.tuples(number, number), max_size=2)
        maps = st.dictionaries(number, number, max_size=2)
        return Constraints(
            required_arcs=self.draw(pairs),
            forbidden_arcs=self.draw(pairs),
            required_labels=self.draw(st.one_of(st.just({}), maps)),
            forbidden_labels=self.draw(st.one_of(st.just(frozenset()), pairs)),
            max_children=self.draw(st.one_of(st.just({}), maps)),
            projective=self.draw(st.booleans()),
            single_root=self.draw(st.booleans()),
            max_degree=self.draw(st.sampled_from([None, None, None, 0, -1, 10**9])),
        )

    def parts(self) -> Any:
        """Parts that ``parts_of`` has made, perhaps with an array in which something is wrong."""
        optional = {name: self.triples() for name in ("siblings", "grandparents", "next_siblings") if self.some()}
        made = ilp.parts_of(self.array(self.size, self.size), **optional)
        return self.damaged(made)

    def part_scores(self) -> Any:
        optional = {name: self.triples() for name in ("siblings", "grandparents", "any_siblings") if self.some()}
        return self.damaged(search.part_scores(self.array(self.size, self.size), **optional))

    def damaged(self, made: Any) -> Any:
        if not self.strange:
            return made
        name = self.draw(st.sampled_from([name for name in made._fields if name != "source"]))
        own = getattr(made, name)
        if isinstance(own, tuple):
            return made._replace(**{name: own._replace(first=self.changed(own.first))})
        return made._replace(**{name: self.integer() if isinstance(own, int) else self.changed(own)})

    def changed(self, array: Any) -> Any:
        """An array with other numbers, of another length or another type."""
        kind = self.draw(st.integers(0, 3))
        if kind == 0:
            return array[:-1]
        if kind == 1:
            return array.astype(self.draw(st.sampled_from(["f4", "i4", "u1", "O"])))
        if kind == 2:
            return self.array(self.size, 2)
        if not array.size:
            return np.concatenate([array.ravel(), [5]]).astype(array.dtype)
        changed = array.copy()
        changed.flat[self.draw(st.integers(0, array.size - 1))] = self.draw(st.sampled_from([-1, 99, 10**9, -(10**12)]))
        return changed

    def results(self) -> Any:
        tree = Tree(np.array([-1, 0]), None, 1.0)
        return self.draw(st.sampled_from([[], [tree], [[tree], []], [np.zeros((2, 2))], [np.zeros((2, 2, 1))]]))

    def some(self) -> bool:
        return self.draw(st.booleans())

    def value(self, function: str, name: str) -> Any:
        """What a parameter of that name gets."""
        makers = {
            "scores": self.scores,
            "arcs": self.scores,
            "labels": lambda: self.array(self.size, self.size, 2),
            "list_of_scores": lambda: self.many(self.scores),
            "list_of_arcs": lambda: self.many(self.scores),
            "list_of_siblings": lambda: self.many(self.triples),
            "lengths": lambda: self.draw(st.lists(INTEGERS if self.strange else SMALL, max_size=3)),
            "heads": (lambda: self.array(self.size, self.size)) if "graph" in function else self.heads,
            "siblings": self.triples,
            "grandparents": self.triples,
            "next_siblings": self.triples,
            "any_siblings": self.triples,
            "valencies": lambda: self.array(self.size, 2, 3),
            "nonprojective": lambda: self.array(self.size, self.size),
            "crossing": lambda: self.array(self.size, self.size),
            "parts": self.part_scores if "search" in function else self.parts,
            "constraints": self.constraints,
            "results": self.results,
            "rng": lambda: 1,
            "k": lambda: self.draw(SMALL),
            "size": lambda: self.draw(SMALL),
            "threads": lambda: self.draw(SMALL),
            "rounds": lambda: self.draw(SMALL),
            "restarts": self.integer if self.strange else lambda: 2,
            "seed": self.integer,
            "max_changes": self.integer,
            "max_candidates": self.integer,
            "start": lambda: self.draw(st.sampled_from(["projective", "nonprojective", "else"])),
            "search": lambda: self.draw(st.sampled_from(["exact", "second-order", "climbing", "ad3", "ilp", "else"])),
            "solver": lambda: self.draw(st.sampled_from(["highs", "ad3"])),
            "single_root": self.some,
            "projective": self.some,
            "exact": self.some,
        }
        return makers[name]() if name in makers else UNKNOWN

    def arguments(self, name: str, function: Any) -> dict[str, Any]:
        """Those that must be given, and some of the others."""
        found = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.default is inspect.Parameter.empty or self.some():
                value = self.value(name, parameter.name)
                if value is not UNKNOWN:
                    found[parameter.name] = value
        return found


def test_what_is_exported_is_tested():
    assert {"crossarc.trees.best_tree", "crossarc.ilp.score_of", "crossarc.search.best_trees"} <= set(FUNCTIONS)
    assert {*trees.__all__, *ilp.__all__, *search.__all__} >= DATA


SLOW = ("crossarc.search.best_trees", "crossarc.ilp.relax", "crossarc.ilp.solve")  # they compile much


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in FUNCTIONS]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_result_or_a_value_error(name, data):
    draw = Input(data.draw)
    try:
        arguments = draw.arguments(name, FUNCTIONS[name])
    except ValueError:  # parts_of and part_scores, which make the input of others, refuse theirs
        return
    try:
        found = FUNCTIONS[name](**arguments)
    except ValueError:
        return
    if isinstance(found, trees.TreeDistribution):
        use_distribution(found, draw)


def use_distribution(distribution: trees.TreeDistribution, draw: Input) -> None:
    for use in (
        lambda: distribution.log_prob(draw.heads()),
        lambda: distribution.log_prob(Tree(draw.heads(), draw.heads(), 0.0)),
        lambda: distribution.k_best(draw.draw(SMALL)),
        lambda: distribution.sample(draw.draw(SMALL), rng=1),
        distribution.min_risk,
        lambda: (distribution.marginals, distribution.entropy),
        lambda: distribution.with_temperature(draw.draw(st.one_of(NUMBERS, STRANGE))),
    ):
        with contextlib.suppress(ValueError):
            use()


def test_heads_that_are_no_tree_have_no_score():
    parts = ilp.parts_of(np.zeros((5, 5)))
    for heads in ([-1, 10**9, 0, 0, 0], [-1, 0, 0, 0], [-1, 2, 1, 0, 0], [0, 0, 0, 0, 0], [-1, 0.5, 0, 0, 0], "text"):
        with pytest.raises(ValueError, match="heads"):
            ilp.score_of(parts, heads)
        with pytest.raises(ValueError, match="heads"):
            ilp.indicators_of(parts, heads)


def test_scores_beside_which_one_is_nothing():
    """Dual decomposition divides by the number of values that are left above 0."""
    for scale in (1e16, 1e30, 1e300):
        parts = ilp.parts_of(scale * np.random.default_rng(1).normal(size=(4, 4)))
        found = ilp.relax(parts, single_root=True, rounds=50)
        assert len(found.indicators.arcs) == len(parts.arcs)
