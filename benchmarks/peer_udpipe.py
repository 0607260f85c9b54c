"""UDPipe 1 as a whole pipeline, trained on the same files: tokenizer, tagger, lemmatizer, parser.

Its own defaults, but for `transition_system=swap`, since arcs may cross, and what makes training short enough for a
benchmark: fewer epochs and iterations, and no structured oracle. With the defaults, it takes more than an hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import ufal.udpipe as ufal

from crossarc import Sentence, read_string

SETTINGS = {
    "tokenizer": "epochs=5",
    "tagger": "iterations=4",
    "parser": "transition_system=swap;structured_interval=0;iterations=4",
}


def train(train: Path, dev: Path, model: Path) -> None:
    error = ufal.ProcessingError()
    data = ufal.Trainer.train("morphodita_parsito", read(train), read(dev), *SETTINGS.values(), error)
    refuse(error)
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(data)


class Pipeline:
    """From raw text, or from words whose sentences are known, to trees."""

    def __init__(self, path: Path) -> None:
        self.model = ufal.Model.load(str(path))
        if self.model is None:
            raise SystemExit(f"UDPipe cannot load {path}")

    def conllu(self, text: str) -> str:
        """The trees of a raw text, with the words, tags and lemmas that UDPipe finds."""
        tokenizer = self.model.newTokenizer(ufal.Model.DEFAULT)
        tokenizer.setText(text)
        return self._written(sentences_from(tokenizer))

    def from_text(self, text: str) -> list[Sentence]:
        return list(read_string(self.conllu(text)))

    def from_words(self, gold: Sequence[Sentence]) -> list[Sentence]:
        bare = "".join(Sentence.of(sentence.form).to_conllu() for sentence in gold)
        reader = ufal.InputFormat.newInputFormat("conllu")
        reader.setText(bare)
        return list(read_string(self._written(sentences_from(reader))))

    def _written(self, sentences: Iterable[ufal.Sentence]) -> str:
        writer, error, written = ufal.OutputFormat.newConlluOutputFormat(), ufal.ProcessingError(), []
        for sentence in sentences:
            self.model.tag(sentence, ufal.Model.DEFAULT, error)
            self.model.parse(sentence, ufal.Model.DEFAULT, error)
            refuse(error)
            written.append(writer.writeSentence(sentence))
        return "".join(written)


def read(path: Path) -> ufal.Sentences:
    """The sentences of a treebank; those with several roots are left out, for UDPipe refuses to learn from them."""
    reader = ufal.InputFormat.newInputFormat("conllu")
    reader.setText(path.read_text(encoding="utf-8"))
    sentences = ufal.Sentences()
    for sentence in sentences_from(reader):
        if sum(word.head == 0 for word in list(sentence.words)[1:]) == 1:
            sentences.append(sentence)
    return sentences


def sentences_from(source: ufal.InputFormat) -> Iterable[ufal.Sentence]:
    error = ufal.ProcessingError()
    while source.nextSentence(sentence := ufal.Sentence(), error):
        yield sentence
    refuse(error)


def refuse(error: ufal.ProcessingError) -> None:
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
