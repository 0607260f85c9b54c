"""Raw text with the English models: `python benchmarks/text.py`; writes docs/results/text.md.

Three tables from ../shared/treebanks/English-EWT, on one thread: the scores of the models on test, by the official
scorer; our segmenter (trained on train alone) beside libraries from PyPI on the raw text of dev; words a second from
raw text to CoNLL-U, and of each step, on text that a process meets for the first time. Peers are installed in an
environment of their own; one that cannot be is left out.
"""

from __future__ import annotations

import datetime
import importlib
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from environment import PROJECT, commit, run_inside

TREEBANK = PROJECT.parent / "shared" / "treebanks" / "English-EWT"
RESULTS = PROJECT / "docs" / "results" / "text.md"
ROUNDS = 3
PEERS = ["spacy", "pysbd", "sacremoses", "blingfire"]
MODELS = ("en", "en-fast", "en-minilm")
GOALS = {  # from raw text
    "en": {
        "Tokens": 99.2,
        "Sentences": 88.0,
        "UPOS": 95.2,
        "XPOS": 94.5,
        "UFeats": 95.7,
        "Lemmas": 96.2,
        "UAS": 86.0,
        "LAS": 83.5,
    },
    "en-minilm": {
        "Tokens": 99.2,
        "Sentences": 88.0,
        "UPOS": 96.0,
        "XPOS": 95.5,
        "UFeats": 96.0,
        "Lemmas": 96.5,
        "UAS": 89.5,
        "LAS": 87.5,
    },
}
GOAL_SPEEDS = {"en": 12_000, "en-fast": 20_000, "en-minilm": 1_800}  # words a second, all steps

ALL_STEPS = "all: raw text to CoNLL-U"

Tokens = list[list[str]]  # sentences of tokens
Result = TypeVar("Result")


def main() -> None:
    run_inside("text", [["-e", "."], ["--no-deps", "-e", "packages/crossarc-en-minilm"]], [[peer] for peer in PEERS])
    lines = [
        "# Raw text",
        "",
        f"Written by `python benchmarks/text.py` on {datetime.date.today()}, at commit {commit()}.",
        "",
        *scores_table(),
        "",
        *segmenters_table(),
        "",
        *speed_table(),
    ]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n")


def scores_table() -> list[str]:
    import crossarc
    from crossarc.pipeline import scores_of

    test = list(crossarc.read(TREEBANK / "test.conllu"))
    scores = {model: scores_of(crossarc.load(model), test) for model in MODELS}
    names = list(scores["en"]["raw text"])
    lines = [
        "## Scores of the English models",
        "",
        "English-EWT, test set, F1 by the official scorer (CoNLL 2018); from raw text, and from the gold words.",
        "",
        f"| model | input | {' | '.join(names)} |",
        f"| --- | --- |{' ---: |' * len(names)}",
    ]
    lines += [
        f"| `{model}` | {start} | {' | '.join(f'{own[name]:.2f}' if name in own else '' for name in names)} |"
        for model, starts in scores.items()
        for start, own in starts.items()
    ]
    for model, goals in GOALS.items():
        cells = (f"≥ {goals[name]}" if name in goals else "" for name in names)
        lines.append(f"| goal of `{model}` | raw text | {' | '.join(cells)} |")
    return lines


def segmenters_table() -> list[str]:
    import crossarc
    from crossarc.text import Segmenter, raw_text
    from crossarc.text.treebank import paragraphs_of

    dev = list(crossarc.read(TREEBANK / "dev.conllu"))
    gold = [[token.form for token in sentence] for paragraph in paragraphs_of(dev) for sentence in paragraph]
    paragraphs = raw_text(dev).split("\n\n")
    ours = Segmenter.train(list(crossarc.read(TREEBANK / "train.conllu")))
    contestants: dict[str, Callable[[], Tokens]] = {
        "ours": lambda: [
            [token for token, _ in sentence] for text in paragraphs for found in ours.pieces(text) for sentence in found
        ]
    }
    for name, make in {
        "spaCy, English rules and sentencizer": spacy,
        "pySBD and sacremoses": pysbd_and_sacremoses,
        "BlingFire": blingfire,
    }.items():
        try:
            contestants[name] = make(paragraphs)
        except ImportError as error:
            print(f"left out: {name} ({error})")
    lines = [
        "## Segmenters",
        "",
        "English-EWT, raw text of dev, with blank lines between paragraphs; F1 of tokens and sentences. The libraries",
        "split contractions (do, n't), which are one token of two words in this treebank.",
        "",
        "| segmenter | tokens | sentences |",
        "| --- | ---: | ---: |",
    ]
    for name, segment in contestants.items():
        tokens, sentences = (f1(*spans) for spans in zip(spans_of(gold), spans_of(segment()), strict=True))
        lines.append(f"| {name} | {tokens:.2f} | {sentences:.2f} |")
    return lines


def spacy(paragraphs: Sequence[str]) -> Callable[[], Tokens]:
    pipeline = importlib.import_module("spacy").blank("en")
    pipeline.add_pipe("sentencizer")
    return lambda: [[token.text for token in s] for text in paragraphs for s in pipeline(text).sents]


def pysbd_and_sacremoses(paragraphs: Sequence[str]) -> Callable[[], Tokens]:
    sentences = importlib.import_module("pysbd").Segmenter(language="en", clean=False)
    words = importlib.import_module("sacremoses").MosesTokenizer(lang="en")
    return lambda: [words.tokenize(s, escape=False) for text in paragraphs for s in sentences.segment(text)]


def blingfire(paragraphs: Sequence[str]) -> Callable[[], Tokens]:
    library = importlib.import_module("blingfire")
    return lambda: [
        library.text_to_words(s).split(" ") for text in paragraphs for s in library.text_to_sentences(text).split("\n")
    ]


def spans_of(sentences: Iterable[Sequence[str]]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """First and last characters of tokens and of sentences, white space not counted."""
    tokens, whole, position = set(), set(), 0
    for sentence in sentences:
        start = position
        for token in sentence:
            size = len("".join(token.split()))
            if size:
                tokens.add((position, position + size))
            position += size
        if position > start:
            whole.add((start, position))
    return tokens, whole


def f1(gold: set[tuple[int, int]], system: set[tuple[int, int]]) -> float:
    return 200 * len(gold & system) / (len(gold) + len(system))


def speed_table() -> list[str]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as workers:
        rounds = [{name: workers.submit(microseconds_a_word, name).result() for name in MODELS} for _ in range(ROUNDS)]
    lines = [
        "## Speed",
        "",
        f"English-EWT, one thread, processor time, medians of {ROUNDS} rounds. In each, a new process first parses the",
        "raw text of train (200,000 words), so that kernels are there and frequent words have been met; then text that",
        "it has not met before: all steps with the raw text of dev, one after the other with that of test.",
        "The networks of `en` and `en-minilm` find trees and tags together, before lemmas; `en-fast` has a tagger of",
        "its own.",
        "",
        "| model | step | words a second | time, the parser alone = 1 |",
        "| --- | --- | ---: | ---: |",
    ]
    for model in MODELS:
        taken = {name: statistics.median(own[model][name] for own in rounds) for name in rounds[0][model]}
        speeds = {name: f"{1e6 / own:,.0f}" for name, own in taken.items()}
        speeds[ALL_STEPS] += f" (goal: {GOAL_SPEEDS[model]:,})"
        lines += [
            f"| `{model}` | {name} | {speeds[name]} | {own / taken['parser']:.2f} |" for name, own in taken.items()
        ]
    return lines


def microseconds_a_word(model: str) -> dict[str, float]:
    """Of all steps and of each step, in a process that has done nothing else."""
    import crossarc
    from crossarc.io.conllu import format_sentence
    from crossarc.text import raw_text

    train, dev, test = (list(crossarc.read(TREEBANK / f"{name}.conllu")) for name in ("train", "dev", "test"))
    pipeline = crossarc.load(model)
    for sentence in pipeline(raw_text(train)):
        format_sentence(sentence)

    def timed(words: int, step: Callable[[], Result]) -> tuple[float, Result]:
        start = time.process_time()
        result = step()
        return 1e6 * (time.process_time() - start) / words, result

    n_dev, n_test, of_dev, of_test = sum(map(len, dev)), sum(map(len, test)), raw_text(dev), raw_text(test)
    whole, _ = timed(n_dev, lambda: "".join(map(format_sentence, pipeline(of_dev))))
    segmenter, segmented = timed(n_test, lambda: pipeline.segment(of_test))
    tagger, tagged = timed(n_test, lambda: pipeline.annotate(segmented))
    parser, parsed = timed(n_test, lambda: list(pipeline.parser.trees(tagged)))
    writer, _ = timed(n_test, lambda: "".join(map(format_sentence, parsed)))
    steps = {"segmenter": segmenter, "tagger and lemmatizer": tagger, "parser": parser, "writer": writer}
    return {ALL_STEPS: whole, **steps}


if __name__ == "__main__":
    main()
