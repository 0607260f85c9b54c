"""What the enhancer learns from a treebank: the paths of arcs, the labels that each may have, and how to choose."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.enhancing.features import CandidateView, items_of
from crossarc.enhancing.lexical import delexicalized
from crossarc.enhancing.paths import Candidate, Path, PathIndex, path_between
from crossarc.enhancing.tree_view import TreeView
from crossarc.evaluation.deps import arcs_of_deps
from crossarc.features.templates import Compiled
from crossarc.text.classifier import Choices, Classifier, train_classifier

__all__ = ["NO_ARC", "NumberedChoices", "PathLabels", "label_classes", "learn_labels", "learn_paths", "numbered"]

NO_ARC = ""  # the label of a candidate that is no head

_FEWEST = 3  # arcs that a path, or a label of a path, must have; one is a mistake more often than not
_BITS = 18
_EPOCHS = 10
_MAX_STEP = 0.1

PathLabels = dict[Path, tuple[int, ...]]
Labels = dict[tuple[int, int], str]  # of (head, modifier), several with | between them


class NumberedChoices(NamedTuple):
    """The labels of all paths, as the classifier takes them."""

    lists: dict[Path, int]  # the number of each path
    classes: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def of(self, paths: Iterable[Path]) -> Choices:
        """The choices of candidates with these paths."""
        return Choices(np.array([self.lists[path] for path in paths], dtype=np.int64), self.classes, self.bounds)


def numbered(paths: PathLabels) -> NumberedChoices:
    classes = [label for labels in paths.values() for label in labels]
    bounds = np.cumsum([0, *map(len, paths.values())])
    return NumberedChoices({path: i for i, path in enumerate(paths)}, np.array(classes, dtype=np.int64), bounds)


def label_classes(labels: Sequence[str]) -> NDArray[np.int64]:
    """Each label is a class of its own."""
    return np.arange(len(labels))[:, None]


def learn_paths(sentences: Iterable[Sentence]) -> tuple[tuple[str, ...], PathLabels]:
    """All labels, and those of each path. ``CrossarcError`` if there is nothing in DEPS."""
    graphs = [(sentence, own) for sentence in sentences if (own := _labels_of(sentence))]
    if not graphs:
        raise CrossarcError("cannot learn enhanced dependencies: there is nothing in DEPS")
    counts: defaultdict[Path, Counter[str]] = defaultdict(Counter)
    for _, candidate, label in _examples(graphs, PathIndex(_frequent_paths(graphs))):
        counts[candidate.path][label] += 1
    kept = {path: _frequent_labels(of_path) for path, of_path in counts.items()}
    labels = tuple(sorted({label for of_path in kept.values() for label in of_path}))
    numbers = {label: i for i, label in enumerate(labels)}
    return labels, {path: tuple(map(numbers.__getitem__, kept[path])) for path in sorted(kept)}


def learn_labels(
    sentences: Iterable[Sentence],
    labels: Sequence[str],
    paths: PathLabels,
    templates: Compiled,
    rng: np.random.Generator,
) -> Classifier:
    """The classifier that chooses among the labels of a path; it learns where there is more than one."""
    graphs = ((sentence, own) for sentence in sentences if (own := _labels_of(sentence)))
    numbers = {label: i for i, label in enumerate(labels)}
    open_paths: list[Path] = []
    rows: list[list[str]] = []
    gold: list[int] = []
    for view, candidate, label in _examples(graphs, PathIndex(paths)):
        choices = paths[candidate.path]
        if len(choices) > 1 and numbers.get(label) in choices:
            open_paths.append(candidate.path)
            rows.append(view.attributes(candidate))
            gold.append(numbers[label])
    return train_classifier(
        templates,
        items_of(rows),
        numbered(paths).of(open_paths),
        np.array(gold, dtype=np.int64),
        label_classes(labels),
        bits=_BITS,
        epochs=_EPOCHS,
        max_step=_MAX_STEP,
        rng=rng,
    )


def _labels_of(sentence: Sentence) -> Labels:
    """The arcs in DEPS, without those from empty nodes."""
    found: Labels = {}
    for modifier, deps in enumerate(sentence.deps, 1):
        for node, label in arcs_of_deps(deps):
            if node.isdecimal():
                arc = int(node), modifier
                found[arc] = f"{found[arc]}|{label}" if arc in found else label
    return found


def _frequent_paths(graphs: Iterable[tuple[Sentence, Labels]]) -> list[Path]:
    """The paths of arcs in DEPS that are not rare, and all those of arcs of the tree."""
    counts: Counter[Path] = Counter()
    of_tree: set[Path] = set()
    for sentence, labels in graphs:
        tree = TreeView(sentence)
        of_tree.update((f"^{label}",) for label in sentence.deprel)
        paths = (path_between(tree, modifier, head) for head, modifier in labels if head <= len(tree))
        counts.update(path for path in paths if path is not None)
    return [*of_tree, *(path for path, count in counts.items() if count >= _FEWEST and path not in of_tree)]


def _frequent_labels(counts: Counter[str]) -> list[str]:
    """Those that are not rare, the most frequent first; at least one."""
    usual = sorted(counts, key=lambda label: (-counts[label], label))
    return [label for label in usual if counts[label] >= _FEWEST] or usual[:1]


def _examples(
    graphs: Iterable[tuple[Sentence, Labels]], index: PathIndex
) -> Iterator[tuple[CandidateView, Candidate, str]]:
    """All candidates of a treebank, with their labels."""
    for sentence, labels in graphs:
        view = CandidateView(TreeView(sentence))
        for word in range(1, len(sentence) + 1):
            for candidate in index.candidates(view.tree, word):
                label = labels.get((candidate.head, word), NO_ARC)
                yield view, candidate, delexicalized(label, view.sources(candidate)) if label else label
