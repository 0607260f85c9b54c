"""How the generative model is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting

__all__ = ["Condition", "GenerativeConfig"]

Condition = Literal["head", "direction", "distance"]

_TAGS, _WORDS = ("upos", "xpos"), ("form", "lemma")
_EM = {"unsupervised": (True,)}


@dataclass(frozen=True)
class GenerativeConfig(Config):
    """How to train the generative model (McDonald & Satta 2007, §4.4). The defaults are right for most people.

    >>> GenerativeConfig(symbols="upos+lemma").symbols
    'upos+lemma'
    """

    unsupervised: bool = setting(
        False,
        "Learn by expectation maximisation from tagged sentences; heads are not looked at.",
        flags="--unsupervised/--supervised",
    )
    symbols: str | None = setting(
        None,
        "What words are to the model: upos, xpos, form, lemma, or a tag and a word, such as upos+lemma.",
        default_text="upos+form; unsupervised: upos",
    )
    condition: Condition | None = setting(
        None,
        "What modifiers depend on: their head alone, the direction, too, or also the distance (with --stop and "
        "--projective, how many words the modifiers before them cover).",
        default_text="distance; unsupervised: direction",
    )
    stop: bool = setting(
        True,
        "Whether heads decide when they have enough modifiers (Klein & Manning 2004).",
        flags="--stop/--no-stop",
    )
    projective: bool = setting(
        True,
        "Whether arcs must not cross; better even for treebanks in which they do.",
        flags="--projective/--nonprojective",
    )
    single_root: bool | None = config.single_root("with --stop or --unsupervised yes, otherwise as in the treebank")
    start: Literal["harmonic", "uniform", "random"] = setting(
        "harmonic",
        "What EM begins with: near heads likelier, all trees alike, or random probabilities.",
        only=_EM,
    )
    restarts: int = setting(0, "Further, random starts of EM; the most probable model is kept.", low=0, only=_EM)
    epochs: int = setting(100, "The most iterations of EM.", low=1, only=_EM)
    prior: float = setting(10.0, "What EM adds to the expected count of every tag and decision.", low=1e-12, only=_EM)
    seed: int = config.seed("of random starts", only=_EM)

    @property
    def partial_trees(self) -> bool:
        return self.unsupervised

    @property
    def sharded(self) -> bool:
        return self.unsupervised

    def without_effect(self) -> dict[str, str]:
        found = super().without_effect()
        if self.unsupervised and self.start != "random" and not self.restarts:
            found["seed"] = "--start random or --restarts above 0"
        return found

    def check(self) -> None:
        names = (self.symbols or "upos").split("+")
        if not (len(names) == 1 and names[0] in _TAGS + _WORDS) and not (
            len(names) == 2 and names[0] in _TAGS and names[1] in _WORDS
        ):
            raise CrossarcError(f"symbols are {self.symbols}, which is none of upos, xpos, form, lemma, upos+form ...")
        if self.stop and self.single_root is False:
            raise CrossarcError("stop needs a single root: the root does not decide when it has enough modifiers")
