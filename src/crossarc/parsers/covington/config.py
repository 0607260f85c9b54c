"""How the incremental parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crossarc.parsers import config
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

    projective: bool | None = config.projective("Whether only projective links are made, in training and parsing.")
    single_root: bool | None = config.single_root()
    classifier: Literal["linear", "svm"] = setting(
        "linear",
        "svm: support vector machines with a quadratic kernel, as in the paper (needs scikit-learn: pip install "
        "'.[svm]'): a minute or two for 20,000 words, hours for 200,000, and slower parsing.",
    )
    features: str = config.features("default")
    exploration: float = setting(
        1.0,
        "How often training follows the parser's own choices, right or wrong, so that it learns to make the best of an "
        "error. 0: only gold trees (a static oracle), as in the paper.",
        low=0,
        high=1,
        only=_LINEAR,
    )
    epochs: int = config.epochs(only=_LINEAR)
    seed: int = config.seed("of the random order of sentences, and of exploration", only=_LINEAR)
    hash_bits: int = config.hash_bits(22, only=_LINEAR)
    aggressiveness: float = setting(0.01, 'The largest step of passive-aggressive learning ("C").', low=0, only=_LINEAR)
