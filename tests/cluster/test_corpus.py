"""Corpora of every format, with everything that can be wrong with them; folders that are gone on with."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import crossarc
from cluster_corpus import checksums
from commands import assert_one_line_error, run
from crossarc.cluster import check_outputs, corpus_status
from crossarc.cluster.corpus import Plan, Rank, plan
from crossarc.cluster.job import CorpusJob
from crossarc.cluster.queue import Crash, Stop, attempt
from crossarc.cluster.reading import Fields
from crossarc.cluster.worker import ShardParser, ShardWork
from crossarc.core import CrossarcError, InputError, Place
from crossarc.io.streams import open_output
from crossarc.parsers import ParseOptions
from crossarc.testing import random_treebank
from trained import trained

TEXT = "A hearing is scheduled on the issue today. Really?\n\nIt isn't. We'll see.\n\n\nThe end.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "my.crossarc"
    trained("order 1").save(path)
    return path


def parser_of(planned: Plan, on_error: str = "skip") -> ShardParser:
    return ShardWork(planned.folder.path, planned.job, planned.checksum, on_error)()


def parsed(inputs: list[Path], output: Path, model: str | Path = "en", *, on_error: str = "skip", **job) -> Plan:
    """Parse in this process what is left to do."""
    planned = plan(inputs, output, model, CorpusJob(**job))
    parser = parser_of(planned, on_error)
    for shard in planned.shards:
        parser(shard)
    return planned


def trees_in(output: Path) -> list[crossarc.Sentence]:
    paths = sorted(path for path in output.glob("part-*") if ".errors." not in path.name)
    return [tree for path in paths for tree in crossarc.read(path)]


def errors_in(output: Path) -> list[dict]:
    return [
        json.loads(line) for path in sorted(output.glob("*.errors.jsonl")) for line in path.read_text().splitlines()
    ]


# ---- what goes in and comes out --------------------------------------------------------------------------------------


def test_texts_are_parsed_as_ever_whatever_they_are_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = [sentence.columns for sentence in crossarc.load("en")(TEXT)]
    Path("a.txt").write_text(TEXT)
    for name in ("b.txt.gz", "c.txt.xz", "d.txt.zst"):
        with open_output(name) as stream:
            stream.write(TEXT.encode())
    Path("e.jsonl").write_text(json.dumps({"id": "doc 7", "text": TEXT, "url": "x", "n": [1], "s": "3"}) + "\n\n")
    parquet.write_table(pyarrow.table({"id": ["row"], "text": [TEXT]}), "f.parquet")
    parsed(["."], "out")
    trees = trees_in(Path("out"))
    assert [tree.columns for tree in trees] == 6 * expected
    names = [tree.metadata("newdoc id") for tree in trees if tree.metadata("newdoc id")]
    assert names == ["a.txt", "b.txt.gz", "c.txt.xz", "d.txt.zst", "doc 7", "row"]
    assert len({tree.sent_id for tree in trees}) == len(trees)
    first = next(tree for tree in trees if tree.metadata("newdoc id") == "doc 7")
    assert first.comments[:6] == (
        "# newdoc id = doc 7",
        "# meta::url = x",
        "# meta::n = [1]",
        '# meta::s = "3"',
        "# newpar id = doc_7-p1",
        "# sent_id = doc_7-p1-s1",
    )


def test_fields_can_have_other_names(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"name": 7, "body": "Yes."}\n')
    parquet.write_table(pyarrow.table({"name": [8], "body": ["No."]}), tmp_path / "y.parquet")
    parsed([tmp_path], tmp_path / "out", fields=Fields("name", "body"))
    assert [(t.metadata("newdoc id"), t.text) for t in trees_in(tmp_path / "out")] == [("7", "Yes."), ("8", "No.")]


@pytest.mark.parametrize("format", ["conllu.gz", "conllu.xz", "conllu.zst", "parquet"])
def test_all_outputs_have_the_same_trees(tmp_path, model, format, corpus_file):
    options = ParseOptions(confidence=True, k=2)
    parsed([corpus_file], tmp_path / "plain", model, options=options)
    parsed([corpus_file], tmp_path / "other", model, options=options, format=format)
    plain, other = trees_in(tmp_path / "plain"), trees_in(tmp_path / "other")
    assert [tree.to_conllu() for tree in other] == [tree.to_conllu() for tree in plain]
    if format == "parquet":
        table = parquet.read_table(tmp_path / "other" / "part-000000.parquet")
        assert all(0 <= p <= 1 for row in table["arc_prob"].to_pylist() for p in row)


@pytest.fixture
def corpus_file(tmp_path) -> Path:
    path = tmp_path / "x.conllu"
    crossarc.write(random_treebank(150, seed=11), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [(), ("--confidence", "-k", "2"), ("--constraints", "misc", "--max-length", "9"), ("-m", "en-fast", "--retag")],
)
def test_it_is_what_crossarc_parse_writes(tmp_path, model, corpus_file, options):
    expected = tmp_path / "expected.conllu"
    assert run("parse", corpus_file, "-m", model, "-o", expected, *options).returncode == 0
    result = run("corpus", "parse", corpus_file, "-m", model, "-o", tmp_path / "out", "--shard-size", 0.02, *options)
    assert result.returncode == 0, result.stderr
    parts = sorted((tmp_path / "out").glob("part-*.conllu"))
    assert len(parts) > 1
    assert b"".join(path.read_bytes() for path in parts) == expected.read_bytes()


def test_a_range_knows_the_document_that_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_text("Yes.\n\n" * 30)
    Path("y.conllu").write_text("1\tYes\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    parsed(["x.txt", "y.conllu"], "out", shard_size=6e-5, format="parquet")
    tables = [parquet.read_table(path) for path in sorted(Path("out").glob("part-*"))]
    assert len(tables) > 2
    ids = [name for table in tables for name in table["doc_id"].to_pylist()]
    assert ids == ["x.txt"] * 30 + [None]
    assert len({name for table in tables for name in table["sent_id"].to_pylist()}) == 31


# ---- bad input -------------------------------------------------------------------------------------------------------


def bad_files(folder: Path) -> list[Path]:
    """Files with something wrong in each, and good sentences around it."""
    good = "1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
    whole = gzip.compress(("Yes.\n\n" * 50).encode() + os.urandom(1000).hex().encode())
    contents = {
        "a.conllu": (good + "1\tno\ttabs\n\n" + good).encode(),
        "b.txt.gz": whole[:-300],
        "c.jsonl": b'{"text": "Yes."}\n{"text": 3}\nnot json\n[]\n{"text": "\\ud800"}\n{"text": "No."}\n\xff\n',
        "d.parquet": b"PAR1 but no more",
        "f.txt": b"Yes.\n\nN\xffo.\n\nNo.\n",
        "g.conllu": b"",
        "h.txt": b"gone soon",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    parquet.write_table(pyarrow.table({"body": ["Yes."]}), folder / "e.parquet")
    parquet.write_table(pyarrow.table({"text": [7]}), folder / "i.parquet")
    return sorted(path for path in folder.iterdir() if path.is_file())


def test_bad_input_is_named_and_counted_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [path.name for path in bad_files(tmp_path)]
    planned = plan(files, "out", "en", CorpusJob())
    Path("h.txt").unlink()
    record = parser_of(planned)(planned.shards[0])
    found = [(error["file"], error["line"], error["error"]) for error in errors_in(Path("out"))]
    expected = [
        ("a.conllu", 3, "columns"),
        ("b.txt.gz", 0, "damaged or truncated compressed file"),
        ("c.jsonl", 2, "no text in the field 'text'"),
        ("c.jsonl", 3, "not JSON: expecting value at column 1"),
        ("c.jsonl", 4, "not a JSON object"),
        ("c.jsonl", 5, "half of a surrogate pair"),
        ("c.jsonl", 7, "not JSON: not UTF-8"),
        ("d.parquet", 0, "not a Parquet file"),
        ("e.parquet", 0, "no column 'text', but body"),
        ("f.txt", 3, "byte 0xff is not valid UTF-8"),
        ("g.conllu", 0, "no sentences in this file"),
        ("h.txt", 0, "no such file"),
        ("i.parquet", 0, "the column 'text' is int64, not text"),
    ]
    assert [(file, line) for file, line, _ in found] == [(file, line) for file, line, _ in expected]
    assert all(part in error for (*_, error), (*_, part) in zip(found, expected, strict=True))
    assert record.failed == corpus_status("out").failed == len(expected)
    texts = [tree.text for tree in trees_in(Path("out")) if "b.txt" not in (tree.sent_id or "")]
    assert texts == ["Yes", "Yes", "Yes.", "No.", "Yes.", "No."]


def test_lines_are_counted_from_where_the_file_begins(tmp_path, model):
    path = tmp_path / "x.conllu"
    text = "".join(tree.to_conllu() for tree in random_treebank(80, seed=3))
    path.write_text(text + "# sent_id = bad\n1\tno\ttabs\n\n" + text)
    parsed([path], tmp_path / "out", model, shard_size=0.004)
    (error,) = errors_in(tmp_path / "out")
    assert (error["file"], error["line"], error["sent_id"]) == (str(path), text.count("\n") + 2, "bad")


def test_bad_input_can_end_the_run(tmp_path, model):
    path = tmp_path / "x.conllu"
    path.write_text("1\tno\ttabs\n\n")
    result = run("corpus", "parse", path, "-m", model, "-o", tmp_path / "out", "--on-error", "stop")
    assert_one_line_error(result, "x.conllu:1:", "columns")
    assert corpus_status(tmp_path / "out").done == 0


def test_sentences_without_a_tree_are_in_the_side_file(tmp_path, model):
    path = tmp_path / "x.conllu"
    trees = list(random_treebank(5, seed=11))
    trees[3] = trees[3].with_columns(misc=["Head=99"] * len(trees[3]))
    crossarc.write(trees, path)
    assert run("corpus", "parse", path, "-m", model, "-o", tmp_path / "out", "--constraints", "misc").returncode == 0
    (error,) = errors_in(tmp_path / "out")
    assert "99 cannot be the head" in error["error"]
    assert error["line"] == sum(tree.to_conllu().count("\n") for tree in trees[:3]) + len(trees[3].comments) + 1
    assert next(crossarc.read_string(error["sentence"])).form == trees[3].form
    assert len(trees_in(tmp_path / "out")) == 4


class Unexpected:
    """A pipeline with a defect."""

    def __init__(self, pipeline) -> None:
        self._pipeline = pipeline

    def parse(self, sentences, *arguments, **options):
        if any(sentence.sent_id == "bad" for sentence in sentences):
            raise ZeroDivisionError("a defect")
        return self._pipeline.parse(sentences, *arguments, **options)


def test_a_defect_costs_one_sentence(tmp_path, model, corpus_file):
    text = corpus_file.read_text()
    corpus_file.write_text(text + "# sent_id = bad\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n" + text)
    planned = plan([corpus_file], tmp_path / "out", model, CorpusJob())
    parser = parser_of(planned)
    parser.pipeline = Unexpected(parser.pipeline)
    assert parser(planned.shards[0]).sentences == 301
    (error,) = errors_in(tmp_path / "out")
    assert (error["sent_id"], error["error"]) == ("bad", "ZeroDivisionError: a defect")
    assert len(trees_in(tmp_path / "out")) == 300


def test_errors_are_outcomes(tmp_path):
    def fails(error):
        def do(shard):
            raise error

        return attempt(do, None)

    assert fails(KeyError("x")) == Crash("KeyError: 'x'")
    full = OSError(28, "full")
    assert fails(full) == Stop(full)
    assert isinstance(fails(CrossarcError("x")), Stop)


# ---- going on --------------------------------------------------------------------------------------------------------


@pytest.fixture
def half_done(tmp_path, model, corpus_file) -> Path:
    """A folder with some shards done, and some to do."""
    planned = plan([corpus_file], tmp_path / "out", model, CorpusJob(shard_size=0.01))
    parser = parser_of(planned)
    for shard in planned.shards[:3]:
        parser(shard)
    assert len(planned.shards) > 4
    return tmp_path / "out"


def left(tmp_path, model, **job) -> list[int]:
    planned = plan([tmp_path / "x.conllu"], tmp_path / "out", model, CorpusJob(**{"shard_size": 0.01, **job}))
    return [shard.number for shard in planned.shards]


def test_only_what_is_left_is_done(tmp_path, model, half_done):
    assert left(tmp_path, model)[0] == 3
    parsed([tmp_path / "x.conllu"], half_done, model, shard_size=0.01)
    parsed([tmp_path / "x.conllu"], tmp_path / "whole", model, shard_size=0.01)
    assert checksums(half_done) == checksums(tmp_path / "whole")
    assert left(tmp_path, model) == []


def test_outputs_that_are_gone_and_inputs_that_changed_are_done_again(tmp_path, model, half_done):
    (half_done / "part-000001.conllu").unlink()
    assert 1 in left(tmp_path, model)
    (half_done / "part-000002.conllu").write_text("cut off")
    assert {1, 2} <= set(left(tmp_path, model))
    assert check_outputs(half_done) == ["part-000001", "part-000002"]
    assert run("corpus", "status", half_done, "--check").returncode == 1
    os.utime(tmp_path / "x.conllu", (1, 1))
    assert 0 in left(tmp_path, model)


def test_shards_that_were_begun_before_come_last(tmp_path, model, half_done):
    planned = plan([tmp_path / "x.conllu"], half_done, model, CorpusJob(shard_size=0.01))
    parser_of(planned).journal.started(planned.shards[0])
    assert left(tmp_path, model)[-1] == 3


def test_a_record_that_was_cut_off_does_not_count(tmp_path, model, half_done):
    (journal,) = half_done.glob("manifest/journals/*")
    journal.write_bytes(journal.read_bytes()[:-20])
    assert corpus_status(half_done).done == 2
    assert 2 in left(tmp_path, model)


def test_another_model_or_other_options_are_refused(tmp_path, model, half_done):
    other = tmp_path / "other.crossarc"
    trained("order high").save(other)
    command = ["corpus", "parse", tmp_path / "x.conllu", "-o", half_done, "--shard-size", 0.01]
    assert_one_line_error(run(*command, "-m", other), "out: begun with another model")
    assert_one_line_error(run(*command, "-m", model, "--confidence"), "begun with", "confidence = False, not True")
    with pytest.raises(CrossarcError, match=r"format = conllu, not parquet"):
        left(tmp_path, model, format="parquet")
    (tmp_path / "new.conllu").write_text("x")
    with pytest.raises(CrossarcError, match=r"new\.conllu was not there when it was begun"):
        plan([tmp_path / "x.conllu", tmp_path / "new.conllu"], half_done, model, CorpusJob(shard_size=0.01))


def test_what_the_model_cannot_do_is_said_before_anything_is_written(tmp_path, model, corpus_file):
    command = ["corpus", "parse", corpus_file, "-m", model, "-o", tmp_path / "out"]
    assert_one_line_error(run(*command, "--max-degree", 1), "--max-degree")
    (tmp_path / "x.txt").write_text("Yes.")
    assert_one_line_error(run("corpus", "parse", tmp_path / "x.txt", "-m", model, "-o", tmp_path / "out"), "segmenter")
    assert_one_line_error(run("corpus", "parse", tmp_path / "none", "-o", tmp_path / "out"), "no such file or folder")
    missing = [*command[:4], tmp_path / "no.crossarc", *command[5:]]
    assert_one_line_error(run(*missing), "no such file, nor the name of a model")
    assert_one_line_error(run(*command, "--rank", 2), "--rank and --of", hint="--help")
    assert_one_line_error(run(*command, "--rank", 2, "--of", 2), "rank 2 of 2: ranks are 0 to 1")
    assert_one_line_error(run(*command, "--rank", 0, "--of", 2, "--ray", "auto"), "two ways", hint="--help")
    assert_one_line_error(run("corpus", "status", tmp_path / "out"), "no corpus has been parsed to this folder")
    assert not (tmp_path / "out").exists()


def test_ranks_share_the_work(tmp_path, model, corpus_file):
    ranks = [plan([corpus_file], tmp_path / "out", model, CorpusJob(shard_size=0.01), Rank(i, 3)) for i in range(3)]
    numbers = [[shard.number for shard in one.shards] for one in ranks]
    assert sorted(number for some in numbers for number in some) == list(range(corpus_status(tmp_path / "out").shards))
    assert all(numbers)
    for one in ranks:
        parser = parser_of(one)
        for shard in one.shards:
            parser(shard)
    assert corpus_status(tmp_path / "out").complete


def test_status_says_how_far_it_is(tmp_path, model, half_done):
    found = json.loads(run("corpus", "status", half_done, "--json").stdout)
    assert found["done"] == 3
    assert found["running"] == 0
    assert found["words_per_second"] > 0
    assert found["seconds_left"] is None  # nobody is at work
    planned = plan([tmp_path / "x.conllu"], half_done, model, CorpusJob(shard_size=0.01))
    parser_of(planned).journal.started(planned.shards[0])  # this process lives
    shown = run("corpus", "status", half_done).stdout.decode()
    assert "running    1" in shown
    assert corpus_status(half_done).seconds_left > 0


def test_without_ray_one_line_says_what_to_install(tmp_path, model, corpus_file, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    result = run("corpus", "parse", corpus_file, "-m", model, "-o", tmp_path / "out", "--ray", "auto")
    assert_one_line_error(result, "pip install '.[cluster]'")


def test_input_errors_go_from_process_to_process():
    error = InputError("x", Place("a", 3, "s"))
    assert str(pickle.loads(pickle.dumps(Stop(error))).error) == "a:3: sentence s: x"
