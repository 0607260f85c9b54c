"""spaCy's `en` design trained on a treebank: tok2vec, tagger, parser, and a morphologizer, for that is what finds UPOS.

The configuration is what `spacy init config -l en -p tagger,morphologizer,parser -o efficiency` makes: the small
convolutional tok2vec (width 96, depth 4) that all components share. Documents of ten sentences with the gold words, so
that the parser learns where sentences end, as it does in spaCy's own pipelines.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc
from spacy.training import Example

import crossarc
from crossarc import Sentence
from crossarc.integrations.spacy import sentences_of
from crossarc.text.treebank import tokens_of

STEPS = 4000  # ten epochs of English-EWT; the best on dev is kept
SEED = 1
SENTENCES_OF_A_DOCUMENT = 10


def train(train: Path, dev: Path, model: Path) -> None:
    make_config = importlib.import_module("spacy.cli.init_config").init_config
    config = make_config(lang="en", pipeline=["tagger", "morphologizer", "parser"], optimize="efficiency", gpu=False)
    config["corpora"] = {
        "train": {"@readers": "treebank_documents.v1", "path": str(train)},
        "dev": {"@readers": "treebank_documents.v1", "path": str(dev)},
    }
    config["training"] |= {"seed": SEED, "max_epochs": 0, "max_steps": STEPS, "eval_frequency": 400}
    model.mkdir(parents=True, exist_ok=True)
    nlp = importlib.import_module("spacy.training.initialize").init_nlp(config)
    importlib.import_module("spacy.training.loop").train(nlp, model)


@spacy.registry.readers("treebank_documents.v1")
def treebank_documents(path: str) -> Callable[[Any], Iterator[Example]]:
    sentences = list(crossarc.read(path))

    def examples(nlp: Any) -> Iterator[Example]:
        for start in range(0, len(sentences), SENTENCES_OF_A_DOCUMENT):
            gold = document(nlp, sentences[start : start + SENTENCES_OF_A_DOCUMENT])
            spaces = [bool(token.whitespace_) for token in gold]
            yield Example(Doc(nlp.vocab, [token.text for token in gold], spaces), gold)

    return examples


def document(nlp: Any, sentences: Sequence[Sentence]) -> Doc:
    """A document with the gold annotation. A root's head is the word itself, as spaCy has it."""
    heads: list[int] = []
    for sentence in sentences:
        first = len(heads)
        heads += [first + (head or word) - 1 for word, head in enumerate(sentence.heads[1:].tolist(), start=1)]

    def column(name: str, empty: str = "") -> list[str]:
        return [empty if value == "_" else value for sentence in sentences for value in getattr(sentence, name)]

    return Doc(
        nlp.vocab,
        [form for sentence in sentences for form in sentence.form],
        [space for sentence in sentences for space in spaces_after_words(sentence)],
        tags=column("xpos"),
        pos=column("upos"),
        morphs=column("feats"),
        heads=heads,
        deps=["ROOT" if label == "root" else label for label in column("deprel")],
        sent_starts=[word == 0 for sentence in sentences for word in range(len(sentence))],
    )


def spaces_after_words(sentence: Sentence) -> list[bool]:
    """Within a token of several words, there are none."""
    return [
        token.space and word == len(token.words)
        for token in tokens_of(sentence)
        for word in range(1, len(token.words) + 1)
    ]


class Pipeline:
    """From raw text, or from words whose sentences are known, to trees."""

    def __init__(self, path: Path) -> None:
        self.nlp = spacy.load(path / "model-best")

    def documents(self, text: str) -> list[Doc]:
        """Paragraphs with spaCy's own tokens, tags and trees, as `en` finds them: without the morphologizer."""
        with self.nlp.select_pipes(disable="morphologizer"):
            return list(self.nlp.pipe(text.split("\n\n")))

    def from_text(self, text: str) -> list[Sentence]:
        return [sentence for found in self.nlp.pipe(text.split("\n\n")) for sentence in sentences_of(found)]

    def from_words(self, gold: Sequence[Sentence]) -> list[Sentence]:
        documents = (
            Doc(
                self.nlp.vocab,
                list(sentence.form),
                spaces_after_words(sentence),
                sent_starts=[word == 0 for word in range(len(sentence))],
            )
            for sentence in gold
        )
        return [sentence for found in self.nlp.pipe(documents) for sentence in sentences_of(found)]
