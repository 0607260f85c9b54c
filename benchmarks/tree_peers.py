"""The peers of `crossarc.trees`, each doing one of its jobs.

A function here takes our scores (arrays [head, modifier], node 0 is the root), brings them into the peer's
own layout and number type, which is not timed, and gives back a `Contestant`. A torch peer runs in float32,
its usual type, and in float64, which is what ours computes in; the faster of the two counts.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
DOUBLE, SINGLE = 1e-6, 1e-4


@dataclass(frozen=True)
class Contestant:
    """Somebody's way to do a job.

    `answer` turns what `call` gives into numbers that must equal ours within `tolerance` (relative to
    max(1, |ours|)). It is not timed.
    """

    name: str
    call: Callable[[], Any]
    answer: Callable[[Any], NDArray[np.float64]]
    tolerance: float = DOUBLE


def score_of(scores: Scores, heads: Sequence[int] | NDArray[np.int64]) -> float:
    """The score of a tree whose `heads` belong to words 1..n."""
    return float(scores[np.asarray(heads, dtype=np.int64), np.arange(1, len(scores))].sum())


# Best tree, non-projective, any number of roots


def ufal_best(sentences: Sequence[Scores]) -> list[Contestant]:
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    by_modifier = [np.ascontiguousarray(s.T) for s in sentences]
    return [
        Contestant(
            "ufal.chu_liu_edmonds",
            lambda: [chu_liu_edmonds(s) for s in by_modifier],
            lambda trees: np.array([score_of(s, t[0][1:]) for s, t in zip(sentences, trees, strict=True)]),
        )
    ]


def spacy_best(sentences: Sequence[Scores]) -> list[Contestant]:
    mst = importlib.import_module("spacy_experimental.biaffine_parser.mst")
    single = [s.astype(np.float32) for s in sentences]
    biaffine = [np.ascontiguousarray(_root_on_diagonal(s).T) for s in single]

    def heads_of(offsets: Sequence[int]) -> list[int]:
        return [0 if head == word else head + 1 for word, head in enumerate(offsets)]

    return [
        Contestant(
            "spacy-experimental mst_decode, float32",
            lambda: [mst.mst_decode(s) for s in biaffine],
            lambda trees: np.array([score_of(s, heads_of(t)) for s, t in zip(sentences, trees, strict=True)]),
            SINGLE,
        ),
        Contestant(
            "spacy-experimental chu_liu_edmonds, float32",
            lambda: [mst.chu_liu_edmonds(s, 0) for s in single],
            lambda trees: np.array([score_of(s, t[1:]) for s, t in zip(sentences, trees, strict=True)]),
            SINGLE,
        ),
    ]


def networkx_best(sentences: Sequence[Scores]) -> list[Contestant]:
    import networkx

    graphs = [_graph(s) for s in sentences]
    return [
        Contestant(
            "networkx",
            lambda: [networkx.maximum_spanning_arborescence(g, preserve_attrs=True) for g in graphs],
            lambda trees: np.array([t.size(weight="weight") for t in trees]),
        )
    ]


def networkx_k_best(scores: Scores, k: int) -> list[Contestant]:
    import networkx

    graph = _graph(scores)
    return [
        Contestant(
            "networkx ArborescenceIterator",
            lambda: list(itertools.islice(networkx.ArborescenceIterator(graph, minimum=False), k)),
            lambda trees: np.array([t.size(weight="weight") for t in trees]),
        )
    ]


def _graph(scores: Scores) -> Any:
    import networkx

    graph = networkx.DiGraph()
    words = range(1, len(scores))
    arcs = ((h, m, float(scores[h, m])) for h in range(len(scores)) for m in words if h != m)
    graph.add_weighted_edges_from(arcs)
    return graph


# Sums and projective trees: batches of sentences of one length, on torch


def torch_struct_sums(batch: Scores) -> list[Contestant]:
    """It adds 1e-5 to every exp(score), hence the wide tolerance in float64 too."""
    from torch_struct import NonProjectiveDependencyCRF

    def contestant(potentials: Any, kind: str) -> Contestant:
        def call() -> tuple[Any, Any]:
            crf = NonProjectiveDependencyCRF(potentials, multiroot=True)
            return crf.partition, crf.marginals

        def answer(sums: tuple[Any, Any]) -> NDArray[np.float64]:
            return sums_of(sums[0].numpy(), _root_on_top(sums[1].numpy()))

        return Contestant(f"torch-struct, {kind}", call, answer, SINGLE)

    return [contestant(p, kind) for p, kind in _tensors(_root_on_diagonal(batch))]


def torch_struct_projective_sums(batch: Scores) -> list[Contestant]:
    from torch_struct import DependencyCRF

    def contestant(potentials: Any, kind: str) -> Contestant:
        return Contestant(
            f"torch-struct, {kind}",
            lambda: DependencyCRF(potentials).marginals,
            lambda marginals: _root_on_top(marginals.detach().numpy()).astype(np.float64).ravel(),
            _tolerance(kind),
        )

    return [contestant(p, kind) for p, kind in _needing_gradients(_root_on_diagonal(batch))]


def torch_struct_projective_best(batch: Scores) -> list[Contestant]:
    from torch_struct import DependencyCRF

    def contestant(potentials: Any, kind: str) -> Contestant:
        return Contestant(
            f"torch-struct, {kind}",
            lambda: DependencyCRF(potentials).argmax,
            lambda arcs: (arcs.detach() * potentials.detach()).sum((1, 2)).double().numpy(),
            _tolerance(kind),
        )

    return [contestant(p, kind) for p, kind in _needing_gradients(_root_on_diagonal(batch))]


def supar_sums(batch: Scores) -> list[Contestant]:
    matrix_tree = _supar_structs().MatrixTree

    def contestant(scores: Any, kind: str) -> Contestant:
        def call() -> tuple[Any, Any]:
            distribution = matrix_tree(scores, multiroot=True)
            return distribution.log_partition, distribution.marginals

        def answer(sums: tuple[Any, Any]) -> NDArray[np.float64]:
            return sums_of(sums[0].detach().numpy(), sums[1].detach().numpy().swapaxes(1, 2))

        return Contestant(f"supar MatrixTree, {kind}", call, answer, SINGLE)

    return [contestant(s, kind) for s, kind in _tensors(batch.swapaxes(1, 2))]


def supar_projective_sums(batch: Scores) -> list[Contestant]:
    crf = _supar_structs().DependencyCRF

    def contestant(scores: Any, kind: str) -> Contestant:
        return Contestant(
            f"supar DependencyCRF, {kind}",
            lambda: crf(scores, multiroot=True).marginals,
            lambda marginals: _without_root_column(marginals.detach().numpy().swapaxes(1, 2)).ravel(),
            _tolerance(kind),
        )

    return [contestant(s, kind) for s, kind in _tensors(batch.swapaxes(1, 2))]


def supar_projective_best(batch: Scores) -> list[Contestant]:
    crf = _supar_structs().DependencyCRF

    def contestant(scores: Any, kind: str) -> Contestant:
        return Contestant(
            f"supar DependencyCRF, {kind}",
            lambda: crf(scores, multiroot=True).argmax,
            lambda heads: np.array([score_of(s, h[1:]) for s, h in zip(batch, heads.numpy(), strict=True)]),
            _tolerance(kind),
        )

    return [contestant(s, kind) for s, kind in _tensors(batch.swapaxes(1, 2))]


def supar_second_order_best(
    batch: Scores, siblings: NDArray[np.float64], score: Callable[[int, NDArray[np.int64]], float]
) -> list[Contestant]:
    """Its sibling scores are [modifier, head, sibling], none for a first child; `score` scores a tree."""
    crf = _supar_structs().Dependency2oCRF

    def contestant(arcs: Any, parts: Any, kind: str) -> Contestant:
        return Contestant(
            f"supar Dependency2oCRF, {kind}",
            lambda: crf((arcs, parts), multiroot=True).argmax,
            lambda heads: np.array([score(i, h) for i, h in enumerate(heads.numpy())]),
            _tolerance(kind),
        )

    arcs = _tensors(batch.swapaxes(1, 2))
    parts = _tensors(siblings.transpose(0, 3, 1, 2))
    return [contestant(a, p, kind) for (a, kind), (p, _) in zip(arcs, parts, strict=True)]


# log Z and its gradient, as a loss that a network is trained with


def torch_struct_gradient(batch: Scores, *, single_root: bool, projective: bool) -> list[Contestant]:
    """It adds 1e-5 to every exp(score) of non-projective trees, hence the wide tolerance in float64 too."""
    from torch_struct import DependencyCRF, NonProjectiveDependencyCRF

    crf = DependencyCRF if projective else NonProjectiveDependencyCRF

    def answer(log_z: NDArray[Any], gradient: NDArray[Any]) -> NDArray[np.float64]:
        return sums_of(log_z, _root_on_top(gradient))

    return [
        gradient_of(lambda s: crf(s, multiroot=not single_root).partition, potentials, f"torch-struct, {kind}", answer)
        for potentials, kind in _needing_gradients(_root_on_diagonal(batch))
    ]


def supar_gradient(batch: Scores, *, single_root: bool, projective: bool) -> list[Contestant]:
    """It rounds log Z of non-projective trees to float32."""
    structs = _supar_structs()
    kind_of_trees = structs.DependencyCRF if projective else structs.MatrixTree

    def answer(log_z: NDArray[Any], gradient: NDArray[Any]) -> NDArray[np.float64]:
        return sums_of(log_z, gradient.swapaxes(1, 2))

    return [
        gradient_of(
            lambda s: kind_of_trees(s, multiroot=not single_root).log_partition, scores, f"supar, {kind}", answer
        )
        for scores, kind in _needing_gradients(batch.swapaxes(1, 2))
    ]


def gradient_of(
    log_partition: Callable[[Any], Any],
    scores: Any,
    name: str,
    answer: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]],
) -> Contestant:
    """Forward and backward: log Z of each sentence, and the gradient of their sum."""

    def call() -> tuple[Any, Any]:
        scores.grad = None
        log_z = log_partition(scores)
        log_z.sum().backward()
        return log_z, scores.grad

    return Contestant(name, call, lambda sums: answer(sums[0].detach().numpy(), sums[1].numpy()), SINGLE)


def _supar_structs() -> Any:
    """`supar.structs.tree` without the packages' `__init__` files.

    Those import every parser, and with them transformers and stanza, which tree inference does not touch.
    """
    if "supar" not in sys.modules:
        found = importlib.util.find_spec("supar")
        if found is None or found.origin is None:
            raise ModuleNotFoundError("No module named 'supar'")
        folder = Path(found.origin).parent
        for name, path in [("supar", folder), ("supar.utils", folder / "utils")]:
            package = types.ModuleType(name)
            package.__path__ = [str(path)]
            sys.modules[name] = package
    return importlib.import_module("supar.structs.tree")


def _tensors(array: NDArray[np.float64]) -> list[tuple[Any, str]]:
    import torch

    double = torch.tensor(np.ascontiguousarray(array))
    return [(double.float(), "float32"), (double, "float64")]


def _needing_gradients(array: NDArray[np.float64]) -> list[tuple[Any, str]]:
    """As in training. torch-struct's projective CRF, of 2021, runs on today's torch only with such input."""
    return [(tensor.requires_grad_(), kind) for tensor, kind in _tensors(array)]


def _tolerance(kind: str) -> float:
    return SINGLE if kind == "float32" else DOUBLE


def _root_on_diagonal(scores: NDArray[Any]) -> NDArray[Any]:
    """The arcs among the words, with the root's arcs on the diagonal: torch-struct's and spaCy's layout."""
    words = scores[..., 1:, 1:].copy()
    each = np.arange(words.shape[-1])
    words[..., each, each] = scores[..., 0, 1:]
    return words


def _root_on_top(words: NDArray[Any]) -> NDArray[Any]:
    """Back from `_root_on_diagonal`, without a column for the root: shape (..., n+1, n)."""
    n = words.shape[-1]
    each = np.arange(n)
    result = np.zeros((*words.shape[:-2], n + 1, n), dtype=words.dtype)
    result[..., 0, :] = words[..., each, each]
    result[..., 1:, :] = words
    result[..., each + 1, each] = 0
    return result


def _without_root_column(marginals: NDArray[Any]) -> NDArray[np.float64]:
    return marginals[..., 1:].astype(np.float64)


def sums_of(log_partitions: NDArray[Any], marginals: NDArray[Any]) -> NDArray[np.float64]:
    """log Z of every sentence, then the marginals (without the root's column if they have one)."""
    if marginals.shape[-1] == marginals.shape[-2]:
        marginals = _without_root_column(marginals)
    return np.concatenate([log_partitions.ravel(), marginals.ravel()]).astype(np.float64)
