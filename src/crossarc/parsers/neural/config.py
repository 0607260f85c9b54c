"""How the neural parser is trained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from crossarc.parsers import config
from crossarc.parsers.config import Config, setting

__all__ = ["NeuralConfig"]


@dataclass(frozen=True)
class NeuralConfig(Config):
    """How to train the neural parser. The defaults are right for most people.

    >>> NeuralConfig(tags="own").tags
    'own'
    """

    tags: Literal["gold", "own", "none"] | None = setting(
        None,
        "gold: tags and lemmas are part of the input, as the treebank or a tagger gives them. own: the same network "
        "finds tags and trees from words alone. none: trees from words alone.",
        default_text="gold; with --encoder or --with tagger: own",
    )
    encoder: str | None = setting(
        None,
        "A pretrained encoder below the LSTM: a folder with config.json, model.safetensors and tokenizer.json (in the "
        "format of Hugging Face's BERT), or an installed package that carries one.",
        default_text="an LSTM from scratch",
    )
    vectors: str | None = setting(
        None,
        "Without --encoder: the vectors of word pieces of such an encoder, without their context, which the LSTM sees "
        "beside its own. Parsing is nearly as fast as without them.",
        default_text="none",
    )
    projective: bool | None = config.projective()
    single_root: bool | None = config.single_root()
    loss: Literal["tree", "head"] = setting(
        "tree",
        "What is learnt: the probability of the gold tree among all trees, or that of each head among all words.",
    )
    epochs: int = setting(20, "Passes over the treebank; steps get smaller until the last.", low=1)
    seed: int = config.seed("of the first weights, of the order of sentences, and of dropout")
    batch_words: int | None = setting(
        None, "How many words each step learns from.", low=1, default_text="800, fewer for small treebanks"
    )
    learning_rate: float = setting(0.002, "The size of Adam's first steps.", low=0)
    encoder_learning_rate: float = setting(0.0002, "That of a pretrained encoder.", low=0)
    dropout: float = setting(0.33, "The share of units that are dropped in each step.", low=0, high=0.9)
    word_dropout: float = setting(
        0.1, "The share of words that are replaced by the unknown word in each step.", low=0, high=1
    )
    embedding_size: int = setting(
        100, "The size of the vector of each group of attributes of a word.", low=1, high=4096
    )
    hidden_size: int = setting(200, "Units of each direction of the LSTM.", low=1, high=4096)
    layers: int | None = setting(None, "Layers of the LSTM.", low=1, high=8, default_text="2; with --encoder: 1")
    arc_size: int = setting(200, "The size of the vectors that arcs are scored from.", low=1, high=4096)
    label_size: int = setting(64, "The size of the vectors that labels are scored from.", low=1, high=4096)

    def without_effect(self) -> dict[str, str]:
        return super().without_effect() | ({} if self.encoder else {"encoder_learning_rate": "--encoder"})

    def beside(self, components: Collection[str]) -> NeuralConfig:
        if self.tags is not None:
            return self
        return replace(self, tags="own" if self.encoder or "tagger" in components else "gold")

    @property
    def finds_tags(self) -> bool:
        return self.tags == "own"

    @property
    def partial_trees(self) -> bool:
        return True
