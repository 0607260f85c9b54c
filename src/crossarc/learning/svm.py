"""Support vector machines with polynomial kernels, through LIBSVM as scikit-learn has it (the extra ``svm``).

Only training needs scikit-learn: decisions are made by a kernel of ours, from the arrays of ``Svm``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import MissingLibrary
from crossarc.learning._svm import Svm

__all__ = ["Svm", "SvmSettings", "fit_svm", "no_svm"]

_CACHE = 500  # megabytes


class SvmSettings(NamedTuple):
    """The kernel K(x, y) = (gamma x·y + r)^degree, and how LIBSVM learns; its own names are in brackets."""

    degree: int = 2
    gamma: float = 0.2
    r: float = 0.0  # (coef0)
    cost: float = 0.5  # of an error (C)
    tolerance: float = 1.0  # of the stopping criterion (epsilon)


def fit_svm(
    symbols: NDArray[np.uint32],
    classes: NDArray[np.int64],
    keys: NDArray[np.uint64],
    n_classes: int,
    *,
    settings: SvmSettings,
    smallest: int,
    learnt: Callable[[int], None],
) -> Svm:
    """One group of machines for each key that has as many instances as the smallest group, one for all others together.

    ``symbols[x, a]`` is the symbol of atom a in instance x, 0 for none. ``learnt`` is told how many instances each
    group had. Training takes more than quadratic time in the number of instances of a group.
    """
    found, group_of, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    by_size = np.argsort(sizes, kind="stable")
    pooled = 1 + np.searchsorted(sizes[by_size].cumsum(), smallest)  # as many keys as make a group
    large = [g for g in by_size[pooled:] if sizes[g] >= smallest]
    members = [~np.isin(group_of, large), *(group_of == g for g in large)]
    machines = []
    for member in members:
        machines.append(_fit_group(symbols[member], classes[member], settings))
        learnt(int(member.sum()))
    frequencies = np.bincount(classes, minlength=n_classes) / len(classes)
    unseen = (frequencies - 2.0).astype(np.float32)
    return _side_by_side([np.uint64(0), *found[large]], machines, _kernel(settings, symbols.shape[1]), unseen)


def no_svm(n_classes: int) -> Svm:
    """What stands for it where there is none."""
    return _side_by_side([], [], _kernel(SvmSettings(), 0), np.zeros(n_classes, dtype=np.float32))


def _kernel(settings: SvmSettings, n_atoms: int) -> NDArray[np.float64]:
    """K of two vectors by the number of symbols that they share."""
    shared = np.arange(n_atoms + 1, dtype=np.float64)
    values: NDArray[np.float64] = (settings.gamma * shared + settings.r) ** settings.degree
    return values


class _Machines:
    """The machines of one group: between any two of its classes."""

    def __init__(self, classes: NDArray[np.int64], n_atoms: int) -> None:
        n = len(classes)
        self.classes = classes
        self.counts = np.zeros(n, dtype=np.int64)  # support vectors of each class
        self.vectors = np.zeros((0, n_atoms), dtype=np.uint32)
        self.coefficients = np.zeros((0, max(n - 1, 0)), dtype=np.float32)
        self.intercepts = np.zeros((n, n), dtype=np.float32)


def _fit_group(symbols: NDArray[np.uint32], classes: NDArray[np.int64], settings: SvmSettings) -> _Machines:
    machines = _Machines(np.unique(classes), symbols.shape[1])
    n = len(machines.classes)
    if n < 2:
        return machines
    svc = _svc(settings).fit(_binary(symbols), classes)
    sign = -1.0 if n == 2 else 1.0  # scikit-learn turns the only machine of two classes round
    machines.counts = svc.n_support_.astype(np.int64)
    machines.vectors = symbols[svc.support_]
    machines.coefficients = (sign * svc.dual_coef_.toarray().T).astype(np.float32)
    machines.intercepts[np.triu_indices(n, 1)] = sign * svc.intercept_
    return machines


def _svc(settings: SvmSettings) -> Any:
    try:
        from sklearn.svm import SVC
    except ImportError:
        raise MissingLibrary("the classifier svm needs scikit-learn", "svm") from None
    kernel = {"kernel": "poly", "degree": settings.degree, "gamma": settings.gamma, "coef0": settings.r}
    return SVC(**kernel, C=settings.cost, tol=settings.tolerance, cache_size=_CACHE)


def _binary(symbols: NDArray[np.uint32]) -> Any:
    """A column for each symbol of each atom but 0."""
    columns = np.empty(symbols.shape, dtype=np.int64)
    width = 0
    for a in range(symbols.shape[1]):
        different, columns[:, a] = np.unique(symbols[:, a], return_inverse=True)
        columns[:, a] += width
        width += len(different)
    there = symbols != 0
    rows = np.concatenate([[0], there.sum(axis=1).cumsum()])
    from scipy.sparse import csr_matrix  # takes long to import, and parsing does without

    return csr_matrix((np.ones(rows[-1]), columns[there], rows), shape=(len(symbols), width))


def _side_by_side(
    keys: Iterable[np.uint64], groups: list[_Machines], kernel: NDArray[np.float64], unseen: NDArray[np.float32]
) -> Svm:
    """The arrays of all groups in one; missing classes have no number and no vectors."""
    n_atoms = len(kernel) - 1
    most = max((len(group.classes) for group in groups), default=0)
    classes = np.full((len(groups), most), -1)
    counts = np.zeros((len(groups), most), dtype=np.int64)
    intercepts = np.zeros((len(groups), most, most), dtype=np.float32)
    coefficients = np.zeros((sum(len(group.vectors) for group in groups), max(most - 1, 0)), dtype=np.float32)
    start = 0
    for g, group in enumerate(groups):
        n, end = len(group.classes), start + len(group.vectors)
        classes[g, :n], counts[g, :n], intercepts[g, :n, :n] = group.classes, group.counts, group.intercepts
        coefficients[start:end, : max(n - 1, 0)] = group.coefficients
        start = end
    vectors = [group.vectors.T for group in groups] or [np.zeros((n_atoms, 0), dtype=np.uint32)]
    return Svm(
        np.array(list(keys), dtype=np.uint64),
        np.ascontiguousarray(np.concatenate(vectors, axis=1)),
        counts.ravel().cumsum().reshape(counts.shape),
        classes,
        coefficients,
        intercepts,
        unseen,
        kernel,
    )
