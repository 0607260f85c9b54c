"""How the incremental parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crossarc.parsers.config import Config, setting

__all__ = ["CovingtonConfig"]

_LINEAR = {"classifier": ("linear",)}


@dataclass(frozen=True)
class CovingtonConfig(Config):
    """How to train the incremental parser (Nivre 2007). The defaults are right for most people.

    >>> CovingtonConfig(exploration=2.0)
    Traceback (most recent call last):
    crossarc.core.errors.CrossarcError: exploration is 2.0: it must be from 0 to 1
    """

    projective: bool | None = setting(
        None,
        "Whether only projective links are made, in training and parsing.",
        flags="--projective/--nonprojective",
        default_text="as in the treebank",
    )
    single_root: bool | None = setting(
        None,
        "Whether trees have exactly one root.",
        flags="--single-root/--several-roots",
        default_text="as in the treebank",
    )
    classifier: Literal["linear", "svm"] = setting(
        "linear",
        "svm: support vector machines with a quadratic kernel, as in the paper (needs scikit-learn: pip install "
        "'.[svm]'): a minute or two for 20,000 words, hours for 200,000, and slower parsing.",
    )
    features: str = setting("default", "A feature set of ours (default), or a file of templates.")
    exploration: float = setting(
        1.0,
        "How often training follows the parser's own choices, right or wrong, so that it learns to make the best of an "
        "error. 0: only gold trees (a static oracle), as in the paper.",
        low=0,
        high=1,
        only=_LINEAR,
    )
    epochs: int = setting(10, "Passes over the treebank.", low=1, only=_LINEAR)
    seed: int = setting(1, "Of the random order of sentences, and of exploration.", only=_LINEAR)
    hash_bits: int = setting(22, "There are 2 to this power weights.", low=10, high=28, only=_LINEAR)
    aggressiveness: float = setting(0.01, 'The largest step of passive-aggressive learning ("C").', low=0, only=_LINEAR)
