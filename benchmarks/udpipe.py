"""UDPipe's parser, whose figures Crossarc has to beat: `python benchmarks/udpipe.py [TREEBANK ...]`.

Needs `pip install ufal.udpipe` beside Crossarc. A treebank is a folder of ../shared/treebanks. UDPipe is trained
on its train.conllu with transition_system=swap and its own defaults otherwise: no tokenizer, no tagger, gold tags and
features (by default it looks at forms, UPOS and FEATS, not at lemmas and XPOS). dev.conllu is its heldout data, on
which it chooses the best of its ten iterations. test.conllu is parsed with gold segmentation and tags and the default
beam. Ten minutes for a small treebank, an hour or more for English-EWT.

The model is kept in .benchmarks/udpipe/, the figures in docs/results/udpipe.json, as soon as a treebank is done; one
that has figures is skipped unless `--again`. What UDPipe could not take as it is stands in the entry's `notes`;
where there were two ways out, the one that is better on dev counts.

Seconds are of processor time, so that they mean something on a busy machine. They are still no basis for a claim about
speed: for that, time the kept model beside ours in one run.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ufal.udpipe as ufal

import crossarc
from crossarc import Sentence
from crossarc.evaluation import Score, evaluate

PROJECT = Path(__file__).resolve().parents[1]
TREEBANKS = PROJECT.parent / "shared" / "treebanks"
MODELS = PROJECT / ".benchmarks" / "udpipe"
RESULTS = PROJECT / "docs" / "results" / "udpipe.json"

DEFAULT_TREEBANKS = [
    "Turkish-IMST",
    "Hungarian-Szeged",
    "Danish-DDT",
    "Swedish-Talbanken",
    "Slovenian-SSJ",
    "Basque-BDT",
    "English-EWT",
]  # the quick ones first
FEW_ROOTS = 0.01  # a share of training sentences with several roots below this is taken for mistakes
ROUNDS = 3  # of parsing the test file, for the speed


@dataclass(frozen=True)
class Part:
    """One file of a treebank, as Crossarc reads it and as UDPipe does."""

    gold: list[Sentence]
    sentences: ufal.Sentences

    @classmethod
    def read(cls, path: Path) -> Part:
        gold = list(crossarc.read(path, trees=True))
        sentences = udpipe_sentences(path.read_text(encoding="utf-8"))
        # the first of UDPipe's words is the root
        theirs = [tuple(word.form for word in sentence.words)[1:] for sentence in sentences]
        if theirs != [sentence.form for sentence in gold]:
            raise SystemExit(f"{path}: UDPipe reads other words than Crossarc")
        return cls(gold, sentences)

    def roots(self) -> list[int]:
        """How many roots each sentence has."""
        return [sentence.head.count("0") for sentence in self.gold]


def udpipe_sentences(text: str) -> ufal.Sentences:
    reader = ufal.InputFormat.newInputFormat("conllu")
    reader.setText(text)
    sentences, sentence, error = ufal.Sentences(), ufal.Sentence(), ufal.ProcessingError()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = ufal.Sentence()
    refuse(error)
    return sentences


def refuse(error: ufal.ProcessingError) -> None:
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")


@dataclass(frozen=True)
class Way:
    """A way to train UDPipe on a treebank; `note` says what had to be done."""

    training: ufal.Sentences
    options: str = "transition_system=swap"
    note: str = ""


def ways_to_train(train: Part) -> list[Way]:
    """By default (single_root=1) UDPipe refuses a file with a sentence of several roots.

    Either those are left out, or it is told that there are such; the second only if they are no mere mistakes.
    """
    roots = train.roots()
    several = sum(n != 1 for n in roots)
    if not several:
        return [Way(train.sentences)]
    single = ufal.Sentences()
    for sentence, n in zip(train.sentences, roots, strict=True):
        if n == 1:
            single.append(sentence)
    refused = f"{several} of {len(roots)} training sentences have several roots, which UDPipe refuses by default"
    ways = [Way(single, note=f"{refused}: left out of training")]
    if several >= FEW_ROOTS * len(roots):
        ways.append(Way(train.sentences, f"{Way.options};single_root=0", f"{refused}: trained with single_root=0"))
    return ways


@dataclass(frozen=True)
class Trained:
    way: Way
    data: bytes
    seconds: float
    wall_seconds: float
    dev: dict[str, float | None]


def trained(way: Way, dev: Part, path: Path) -> Trained:
    """Train a model and keep it at `path`."""
    say(f"{path.stem}: training on {len(way.training)} sentences, {way.options}")
    error, none = ufal.ProcessingError(), ufal.Trainer.NONE
    wall, start = time.perf_counter(), time.process_time()
    data = ufal.Trainer.train("morphodita_parsito", way.training, dev.sentences, none, none, way.options, error)
    seconds, wall_seconds = time.process_time() - start, time.perf_counter() - wall
    refuse(error)
    replace_file(path, data)
    scores = figures(dev.gold, parsed(ufal.Model.load(str(path)), dev)[0])
    return Trained(way, data, seconds, wall_seconds, scores)


def parsed(model: ufal.Model, part: Part) -> tuple[list[Sentence], float]:
    """The sentences with UDPipe's trees, and the seconds that `Model.parse` took for all of them."""
    sentences = list(part.sentences)  # copies; a loop over part.sentences itself would parse copies of its own
    for sentence in sentences:
        sentence.unlinkAllNodes()  # the gold tree
    error = ufal.ProcessingError()
    start = time.process_time()
    for sentence in sentences:
        model.trees(sentence, ufal.Model.DEFAULT, error)
    seconds = time.process_time() - start
    refuse(error)
    return [with_tree_of(s, gold) for s, gold in zip(sentences, part.gold, strict=True)], seconds


def with_tree_of(parse: ufal.Sentence, gold: Sentence) -> Sentence:
    words = list(parse.words)
    return gold.with_tree([-1, *[word.head for word in words[1:]]], [word.deprel for word in words])


def figures(gold: Sequence[Sentence], system: Sequence[Sentence]) -> dict[str, float | None]:
    scores = evaluate(gold, system)
    everywhere, crossing = scores.all_words, scores.nonprojective_sentences
    return {
        "uas": per_cent(everywhere.uas),
        "las": per_cent(everywhere.las),
        "las_universal": per_cent(everywhere.las_universal),
        "uas_nonprojective_sentences": per_cent(crossing.uas),
        "las_nonprojective_sentences": per_cent(crossing.las),
    }


def per_cent(score: Score) -> float | None:
    return round(100 * score.f1, 2) if score.gold else None


def measure(name: str) -> dict[str, Any]:
    """Train, keep the model, parse, score. All is read first: what is wrong with a file shows before training."""
    train, dev, test = (Part.read(TREEBANKS / name / f"{part}.conllu") for part in ("train", "dev", "test"))
    path = MODELS / f"{name}.udpipe"
    candidates = [trained(way, dev, path) for way in ways_to_train(train)]
    best = max(candidates, key=lambda candidate: candidate.dev["las"] or 0)
    replace_file(path, best.data)
    model = ufal.Model.load(str(path))
    rounds = [parsed(model, test) for _ in range(ROUNDS)]
    words = sum(map(len, test.gold))
    return {
        **figures(test.gold, rounds[0][0]),
        "dev": best.dev,
        "training_seconds": round(best.seconds, 1),
        "training_seconds_wall": round(best.wall_seconds, 1),
        "words_per_second": round(words / statistics.median(seconds for _, seconds in rounds)),
        "model_bytes": len(best.data),
        "training_sentences": len(best.way.training),
        "test_words": words,
        "ufal.udpipe": importlib.metadata.version("ufal.udpipe"),
        "options": f"{best.way.options}; no tokenizer, no tagger, gold tags; heldout: dev.conllu; default beam",
        "notes": notes(best, candidates, dev, test),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, one thread",
        "date": datetime.date.today().isoformat(),
    }


def notes(best: Trained, candidates: Sequence[Trained], dev: Part, test: Part) -> list[str]:
    found = [best.way.note] if best.way.note else []
    found += [
        f"worse on dev (UAS {other.dev['uas']}, LAS {other.dev['las']}): {other.way.note}"
        for other in candidates
        if other is not best
    ]
    for name, part in {"dev": dev, "test": test}.items():
        if several := sum(n != 1 for n in part.roots()):
            found.append(f"{several} of {len(part.gold)} {name} sentences have several roots (kept)")
    return found


def known_results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def remember(name: str, entry: dict[str, Any]) -> None:
    results = dict(sorted({**known_results(), name: entry}.items()))
    replace_file(RESULTS, (json.dumps(results, indent=2, ensure_ascii=False) + "\n").encode())


def replace_file(path: Path, data: bytes) -> None:
    """Write the file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_bytes(data)
    draft.replace(path)


def say(text: str) -> None:
    print(f"[{datetime.datetime.now():%H:%M:%S}] {text}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", default=DEFAULT_TREEBANKS)
    parser.add_argument("--again", action="store_true", help="measure treebanks that have figures, too")
    options = parser.parse_args()
    for name in options.treebanks:
        if not (TREEBANKS / name).is_dir():
            parser.error(f"no folder {TREEBANKS / name}")
    chosen = [name for name in options.treebanks if options.again or name not in known_results()]
    if len(chosen) == 1:
        entry = measure(chosen[0])
        remember(chosen[0], entry)
        say(f"{chosen[0]}: UAS {entry['uas']} LAS {entry['las']}, {entry['words_per_second']} words/s")
        return
    # Each in a process of its own: the trainer scores its heldout data with a single_root left over in memory from the
    # training before, and may choose another iteration then (seen in 1.4.0.1).
    failures = [name for name in chosen if subprocess.call([sys.executable, __file__, "--again", name])]
    if failures:
        raise SystemExit(f"failed: {', '.join(failures)}")


if __name__ == "__main__":
    main()
