"""How the incremental parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting

__all__ = ["PRESETS", "CovingtonConfig"]

_LINEAR = {"classifier": ("linear",)}
_SVM = {"classifier": ("svm",)}


@dataclass(frozen=True)
class CovingtonConfig(Config):
    """How to train the incremental parser (Nivre 2007). The defaults are right for most people.

    >>> CovingtonConfig(exploration=2.0)
    Traceback (most recent call last):
    crossarc.core.errors.CrossarcError: exploration is 2.0: it must be from 0 to 1
    """

    projective: bool | None = config.projective("Whether only projective links are made, in training and parsing.")
    max_degree: int | None = setting(
        None,
        "The highest degree of non-projectivity of links, in training and parsing; 0 is --projective.",
        low=0,
        default_text="no limit",
    )
    single_root: bool | None = config.single_root()
    classifier: Literal["linear", "svm"] = setting(
        "linear",
        "svm: support vector machines with a quadratic kernel, as in the paper (needs scikit-learn: pip install "
        "'.[svm]'): a minute or two for 20,000 words, hours for 200,000, and slower parsing.",
    )
    features: str = config.features("default, n07")
    unattached: Literal["closest", "root"] = setting(
        "closest",
        "The head of words that are left without one: that which each came closest to, or the root.",
    )
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
    hash_bits: int = config.hash_bits(23, only=_LINEAR)
    aggressiveness: float = setting(0.01, 'The largest step of passive-aggressive learning ("C").', low=0, only=_LINEAR)
    svm_degree: int = setting(2, "The degree of the kernel (gamma x·y + r)^degree; 1: linear.", low=1, only=_SVM)
    svm_gamma: float = setting(0.2, "The gamma of the kernel.", low=1e-6, only=_SVM)
    svm_r: float = setting(0.0, "The r of the kernel.", low=0, only=_SVM)
    svm_cost: float = setting(0.5, 'What an error costs in training ("C").', low=1e-6, only=_SVM)
    svm_tolerance: float = setting(1.0, 'When training stops ("epsilon").', low=1e-6, only=_SVM)
    svm_split: int = setting(
        1000,
        "Tags of the new word that occur with at least this many links have machines of their own; 0: none has.",
        low=0,
        only=_SVM,
    )

    @property
    def degree(self) -> int | None:
        """The highest degree of a link, None for no limit."""
        return 0 if self.projective else self.max_degree

    def check(self) -> None:
        if self.max_degree is not None and self.projective is not None and self.projective != (self.max_degree == 0):
            kind = "projective" if self.projective else "non-projective"
            raise CrossarcError(f"max_degree is {self.max_degree}: that does not go with {kind} links")


# Nivre (2007), section 5: its features, support vector machines that learn from gold trees, and the root as the head of
# all that is left over
PRESETS = {
    "n07": CovingtonConfig(classifier="svm", features="n07", unattached="root", single_root=False, exploration=0.0)
}
