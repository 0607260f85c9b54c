"""The support vector machines of an incremental parser in a model file: which arrays there are, and what fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.learning.svm import Svm
from crossarc.models import ModelError
from crossarc.models.tensors import Array, TensorKind
from crossarc.parsers.covington.features import LinkFeatureSet

__all__ = ["check_machines", "tensors_of_machines"]

_MOST_CATEGORIES = 1000  # of morphological features


def tensors_of_machines(n_classes: int) -> dict[str, TensorKind]:
    """The arrays of ``Svm`` for so many classes, and of ``Kernelized``."""
    return {
        "keys": Array(np.uint64, ("groups",)),
        "classes": Array(np.int64, ("groups", "most"), low=-1, high=n_classes - 1),
        "vectors": Array(np.uint32, ("atoms", "vectors")),
        "ends": Array(np.int64, ("groups", "most"), low=0, high="vectors", rising=True),
        "coefficients": Array(np.float32, ("vectors", ("most", -1))),
        "intercepts": Array(np.float32, ("groups", "most", "most")),
        "unseen": Array(np.float32, (n_classes,)),
        "kernel": Array(np.float64, (("atoms", 1),)),
        "feats": Array(np.uint64, ("feats",), increasing=True),
        "categories": Array(np.int64, ("feats",), low=0, high=_MOST_CATEGORIES),
    }


def check_machines(features: LinkFeatureSet, svm: Svm, categories: NDArray[np.int64]) -> None:
    """Refuse machines for other features: each atom has a symbol, each set one for each category of its values."""
    compiled, n_categories = features.compiled, int(categories.max(initial=-1)) + 1
    symbols = len(compiled.seeds) - 1 + len(compiled.set_slots) * n_categories
    if not svm.classes.size or len(svm.vectors) != symbols or symbols > np.iinfo(np.uint16).max:
        raise ModelError(f"support vector machines over {len(svm.vectors)} symbols for features that have {symbols}")
