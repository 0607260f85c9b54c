"""Text in, trees out: pipelines, their files, and the commands around them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click import UsageError
from click.testing import CliRunner

import crossarc
from crossarc.cli import crossarc as commands
from crossarc.core import CrossarcError, InputError, Sentence
from crossarc.evaluation.calibration import Calibration, Temperatures
from crossarc.features.weights import dequantized
from crossarc.io import read
from crossarc.models import available
from crossarc.parsers import SpanningTreeConfig, TrainingListener
from crossarc.parsers import load as load_parser
from crossarc.pipeline import Pipeline, scores_of, train_components
from trained import DEV, TEST, TRAIN, trained

TEXT = " ".join(" ".join(sentence.form[:-1]) + sentence.form[-1] for sentence in TEST[:8])


@cache
def pipeline() -> Pipeline:
    annotated = train_components(TRAIN, ["segmenter", "tagger", "lemmatizer"], dev=DEV)
    return Pipeline(trained("order 1"), **annotated.components)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "my.crossarc"
    pipeline().save(path)
    return path


def run(*arguments: object, stdin: bytes | None = None) -> bytes:
    """What a command prints; an error is raised."""
    result = CliRunner().invoke(commands, list(map(str, arguments)), input=stdin, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout_bytes


def test_text_gets_tags_lemmas_and_trees():
    found = pipeline()(TEXT)
    assert [sentence.form for sentence in found] == [sentence.form for sentence in TEST[:8]]
    for sentence in found:
        assert "_" not in (*sentence.upos, *sentence.lemma, *sentence.head, *sentence.deprel)
    assert list(pipeline().parser.trees(found)) == found


def test_reprs_are_short():
    model = pipeline()
    for whatever in (model, *model.components.values()):
        assert len(repr(whatever)) < 120
        assert " at 0x" not in repr(whatever)


def test_a_call_does_what_the_command_line_does(model, tmp_path):
    dev = tmp_path / "dev.conllu"
    crossarc.write(DEV, dev)
    run("calibrate", dev, "-m", model, "--fit")
    found = crossarc.load(model)(TEXT, confidence=True, k=2)
    written = run("parse", "--text", TEXT, "-m", model, "--confidence", "-k", "2").decode()
    assert "".join(sentence.to_conllu() for sentence in found) == written
    assert "ArcProb=" in found[0].misc[0]
    assert found[1].metadata("crossarc_rank") == "2"
    with pytest.raises(TypeError, match="confidenc"):
        crossarc.load(model)(TEXT, confidenc=True)


def test_many_texts_are_parsed_as_each_of_them(model):
    texts = [" ".join(sentence.form) for sentence in TEST[:20]] + ["", TEXT]
    assert list(pipeline().pipe(iter(texts))) == [pipeline()(text) for text in texts]
    assert list(pipeline().pipe([])) == []


@pytest.mark.slow
def test_many_texts_in_processes():
    texts = [" ".join(sentence.form) for sentence in TEST] + [TEXT]
    assert list(pipeline().pipe(texts, jobs=2)) == list(pipeline().pipe(texts))


def test_what_a_model_can_be_given():
    model = pipeline()
    (alone,) = model.trees(TEST[0])
    assert list(model.trees([TEST[0]])) == list(model.parser.trees(TEST[0])) == [alone]
    assert [parsed.sentence for parsed in model.parse(TEXT)] == model(TEXT)
    for wrong, message in [
        (lambda: model(["a"]), r"one text, a str, not list: several texts are for model\.pipe"),
        (lambda: model(TEST[0]), r"not Sentence: .* model\.trees"),
        (lambda: model.pipe("a"), r"one is for model\(text\)"),
        (lambda: list(model.parse(["a"])), "str instead of Sentence objects"),
        (lambda: list(model.parser.parse("a text")), r"text is for crossarc\.load\(model\)\(text\)"),
    ]:
        with pytest.raises(TypeError, match=message):
            wrong()


def test_training_from_files_reports_progress_when_asked(tmp_path, capsys):
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    crossarc.write(TRAIN[:40], train)
    crossarc.write(DEV, dev)
    config = SpanningTreeConfig(order="1", epochs=2, hash_bits=16)
    silent = crossarc.train(str(train), config, dev=dev)
    assert capsys.readouterr().err == ""
    parser = crossarc.train(iter(TRAIN[:40]), config, dev=iter(DEV), progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("crossarc: ") for line in lines)
    assert [line for line in lines if line.startswith("crossarc: heads 2: ") and "dev UAS" in line]
    assert list(parser.trees(TEST)) == list(silent.trees(TEST))
    with pytest.raises(InputError, match="no such file"):
        crossarc.train("nowhere.conllu", config)
    with pytest.raises(TypeError, match="str instead of Sentence"):
        crossarc.train(["nowhere.conllu"], config)


def test_given_annotation_stays_unless_it_is_replaced():
    given = TEST[0].with_columns(upos=["GIVEN"] * len(TEST[0]), lemma=["given"] * len(TEST[0]))
    assert pipeline().annotate([given]) == [given]
    (anew,) = pipeline().annotate([given], retag=True)
    assert "GIVEN" not in anew.upos
    assert "given" not in anew.lemma


def test_missing_annotation_is_filled_in():
    bare = Sentence.of(TEST[0].form)
    (full,) = pipeline().annotate([bare])
    assert full == pipeline().annotate([bare], retag=True)[0]
    one = full.with_columns(upos=["_", *full.upos[1:]])
    assert pipeline().annotate([one]) == [full]
    other = next(tag[0] for tag in pipeline().tagger.tags if tag[0] != full.upos[0])
    kept = bare.with_columns(upos=[other, *full.upos[1:]])
    assert pipeline().annotate([kept])[0].upos[0] == other
    assert pipeline().annotate([kept])[0].xpos[0] == "_"  # that of another tag would not fit
    assert pipeline().annotate([Sentence.of([])]) == [Sentence.of([])]


def test_the_file_gives_the_same_pipeline(model):
    assert crossarc.load(model)(TEXT) == pipeline()(TEXT)
    assert list(load_parser(model).trees(TEST)) == list(pipeline().parser.trees(TEST))


def test_a_model_may_have_a_parser_only(tmp_path):
    path = tmp_path / "plain.crossarc"
    trained("order 1").save(path)
    plain = crossarc.load(path)
    assert list(plain.trees(TEST)) == list(trained("order 1").trees(TEST))
    bare = [Sentence.of(TEST[0].form)]
    assert plain.annotate(bare) == bare
    with pytest.raises(CrossarcError, match="no segmenter"):
        plain("Text.")


def test_quantized_files_are_small_and_stay_as_they_are(tmp_path, model):
    quantized = tmp_path / "quantized.crossarc"
    replace(pipeline(), quantized=True, about={"licence": "none"}).save(quantized)
    assert quantized.stat().st_size < 0.5 * model.stat().st_size
    loaded = crossarc.load(quantized)
    assert loaded.about == {"licence": "none"}
    again = tmp_path / "again.crossarc"
    loaded.save(again)
    assert again.read_bytes() == quantized.read_bytes()
    weights = pipeline().parser.scorer.heads_model.weights
    assert np.abs(dequantized(loaded.parser.scorer.heads_model.weights) - weights).max() < 0.03 * np.abs(weights).max()


def test_a_lemmatizer_needs_a_tagger():
    with pytest.raises(CrossarcError, match="needs a tagger"):
        train_components(TRAIN, ["lemmatizer"])


def test_parse_text_and_files(model, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text(TEXT)
    from_file = run("parse", notes, "-m", model)
    assert run("parse", "--text", TEXT, "-m", model) == from_file
    assert run("parse", "-", "--input", "text", "-m", model, stdin=TEXT.encode()) == from_file
    parsed = tmp_path / "parsed.conllu"
    parsed.write_bytes(from_file)
    found = [replace(sentence, path="<text>", line=0) for sentence in read(parsed, trees=True)]
    assert [replace(sentence, path="<text>") for sentence in crossarc.load(model)(TEXT)] == found
    assert run("parse", parsed, "-m", model) == from_file
    assert run("parse", parsed, "--retag", "-m", model) == from_file
    run("validate", parsed)


def test_parse_refuses_what_makes_no_sense(model, tmp_path):
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(InputError, match=r"broken\.txt:2: byte 0xff is not valid UTF-8"):
        run("parse", broken, "-m", model)
    with pytest.raises(InputError, match="no text in this file"):
        run("parse", "--text", " ", "-m", model)
    for arguments in ([broken, "--text", "x"], [], ["--text", "x", "--input", "conllu"]):
        with pytest.raises(UsageError):
            run("parse", *arguments, "-m", model)
    plain = tmp_path / "plain.crossarc"
    trained("order 1").save(plain)
    with pytest.raises(CrossarcError, match="no segmenter"):
        run("parse", "--text", "x", "-m", plain)
    with pytest.raises(CrossarcError, match="nor the name of a model"):
        run("parse", "--text", "x", "-m", "xx")


def test_train_with_parts(tmp_path, handmade):
    model = tmp_path / "my.crossarc"
    parts = ["segmenter", "tagger", "lemmatizer"]
    arguments = ["train", handmade, "--dev", handmade, "-m", model, "--order", "1", "--epochs", "1"]
    result = CliRunner().invoke(commands, [*map(str, arguments), "--with", ",".join(parts)], standalone_mode=False)
    assert result.exception is None
    for number in (1, 2):
        assert f"crossarc: tagger {number}: " in result.stderr
    (scores,) = re.findall(r"crossarc: dev: (.*)\n", result.stderr)
    assert re.findall(r"[A-Z]\w+", scores) == [
        "Tokens",
        "Sentences",
        "Words",
        "UPOS",
        "XPOS",
        "UFeats",
        "Lemmas",
        "UAS",
        "LAS",
    ]
    assert all(20 < float(score) <= 100 for score in re.findall(r"\d+\.\d\d", scores))
    assert list(crossarc.load(model).components) == ["parser", *parts]
    with pytest.raises(UsageError, match="tager"):
        run("train", handmade, "-m", model, "--with", "tager")


def test_progress_of_the_tagger_adds_up():
    class Counting(TrainingListener):
        def __init__(self):
            self.expected, self.learnt_of, self.ended = {}, Counter(), []

        def begin_epoch(self, stage, epoch, words):
            self.current = (stage, epoch)
            self.expected[self.current] = words

        def progress(self, stage, words):
            self.learnt_of[self.current] += words

        def end_epoch(self, report):
            self.ended.append((report.stage, report.epoch))

    listener = Counting()
    train_components(TRAIN[:40], ["tagger"], listener=listener)
    assert listener.expected == listener.learnt_of
    assert listener.ended == [("tagger", 1), ("tagger", 2)]


def test_what_is_fitted_later_keeps_the_parts(model, tmp_path):
    dev = tmp_path / "dev.conllu"
    crossarc.write(DEV, dev)
    run("calibrate", dev, "-m", model, "--fit")
    assert list(crossarc.load(model).components) == ["parser", "segmenter", "tagger", "lemmatizer"]


def test_rank_and_suspicious_fill_in_missing_tags(model, tmp_path):
    bare, annotated = tmp_path / "bare.conllu", tmp_path / "annotated.conllu"
    crossarc.write((s.with_columns(**dict.fromkeys(("upos", "xpos", "feats"), ["_"] * len(s))) for s in DEV), bare)
    crossarc.write(pipeline().annotate(read(bare)), annotated)
    run("calibrate", annotated, "-m", model, "--fit")
    for command in (
        ["rank"],
        ["suspicious", "--only", "head", "--only", "label"],
    ):  # tags that are missing: no suspects
        listed = {path: run(*command, path, "-m", model, "--json").decode() for path in (bare, annotated)}
        assert listed[bare].replace(str(bare), str(annotated)) == listed[annotated]


def test_commands_that_parse_read_raw_text(model, tmp_path):
    run("calibrate", written(tmp_path / "dev.conllu", DEV), "-m", model, "--fit")
    text = " ".join(sentence.text for sentence in DEV[:5])
    own = pipeline()(text)
    for name, options in [("notes.txt", []), ("notes", ["--input", "text"])]:
        (tmp_path / name).write_text(text)
        ranked = json.loads(run("rank", tmp_path / name, "-m", model, "--json", *options))
        assert sorted(row["text"] for row in ranked) == sorted(sentence.text for sentence in own)
        explained = json.loads(run("inspect", model, "--explain", tmp_path / name, "--json", *options))
        assert [(arc["head"], arc["word"]) for arc in explained] == [(int(h), m) for m, h in enumerate(own[0].head, 1)]


def test_lists_are_json_with_fields(model, tmp_path):
    dev = tmp_path / "dev.conllu"
    crossarc.write(DEV, dev)
    run("calibrate", dev, "-m", model, "--fit")
    ranked = json.loads(run("rank", dev, "-m", model, "-n", 3, "--json"))
    by_id = {sentence.sent_id: sentence for sentence in DEV}
    for row in ranked:
        sentence, word = by_id[row["sent_id"]], row["least_certain"]
        assert row["text"] == sentence.text
        assert row["words"] == len(sentence)
        assert row["entropy_per_word"] == pytest.approx(row["entropy"] / len(sentence), abs=1e-4)
        assert word["form"] == sentence.form[word["word"] - 1]
        assert 0 <= word["probability"] <= 1
        assert isinstance(word["head"], int)
    for row in json.loads(run("suspicious", dev, "-m", model, "-n", 3, "--json")):
        sentence, word = by_id[row["sent_id"]], row["word"]
        assert (row["head"], row["label"]) == (int(sentence.head[word - 1]), sentence.deprel[word - 1])
        assert row["unlikely"] in ("head", "label", "tag")
        assert 0 <= row["probability"] <= 1
        assert row["parsed_label"] in pipeline().parser.labels


def test_wrong_tags_are_the_most_suspicious_ones(model, tmp_path):
    run("calibrate", written(tmp_path / "dev.conllu", DEV), "-m", model, "--fit")
    rng = np.random.default_rng(3)
    wrong, sentences = set(), []
    for sentence in TEST:
        upos = list(sentence.upos)
        for word in range(1, len(upos) + 1):
            if rng.random() < 0.03:
                upos[word - 1] = str(rng.choice([tag for tag in ("NOUN", "VERB", "ADV") if tag != upos[word - 1]]))
                wrong.add((sentence.sent_id, word))
        sentences.append(sentence.with_columns(upos=upos))
    gold = written(tmp_path / "gold.conllu", sentences)
    listed = json.loads(run("suspicious", gold, "-m", model, "--only", "tag", "-n", len(wrong), "--json"))
    assert {row["unlikely"] for row in listed} == {"tag"}
    assert len({(row["sent_id"], row["word"]) for row in listed} & wrong) > 0.8 * len(wrong)
    trained("order 1").save(tmp_path / "parser.crossarc")
    with pytest.raises(CrossarcError, match="no tagger"):
        run("suspicious", gold, "-m", tmp_path / "parser.crossarc", "--only", "tag")


def test_labelled_trees_on_the_command_line(tmp_path):
    dev, model = written(tmp_path / "dev.conllu", DEV[:5]), tmp_path / "unsure.crossarc"
    replace(trained("order 1"), calibration=Calibration(Temperatures(0.2, 5.0))).save(model)
    trees = list(crossarc.read(written(tmp_path / "out", run("parse", dev, "-m", model, "-k", 4, "--labelled"))))
    probabilities = {}
    for tree in trees:
        probabilities.setdefault(tree.sent_id, []).append(float(tree.metadata("crossarc_prob")))
    assert all(own == sorted(own, reverse=True) for own in probabilities.values())
    assert len({(tree.sent_id, tree.head, tree.deprel) for tree in trees}) == len(trees)
    assert len({(tree.sent_id, tree.head) for tree in trees}) < len(trees)


def written(path, what):
    """A file with these sentences, or with these bytes."""
    path.write_bytes(what) if isinstance(what, bytes) else crossarc.write(what, path)
    return path


def test_built_in_models_say_whose_they_are():
    for name, about in available().items():
        assert {"licence", "attribution", "scores", "components", "bytes"} <= about.keys()
        assert name in run("models").decode()
        assert json.loads(run("models", "--json"))[name] == about


PACKAGED = sorted((Path(__file__).parents[2] / "packages").glob("*/src/*/*.crossarc"))


@pytest.mark.slow
@pytest.mark.parametrize("path", ["en", "en-fast", *PACKAGED], ids=lambda path: Path(path).stem)
def test_the_models_of_the_project_have_the_scores_that_they_say(path, treebanks):
    model = crossarc.load(path)
    folder = model.about["treebank"].removeprefix("UD ")
    scores = scores_of(model, list(read(treebanks / folder / "test.conllu")))
    for start, shares in model.about["scores"].items():
        for name, share in shares.items():
            assert scores[start][name] == pytest.approx(share, abs=0.02), (start, name)
