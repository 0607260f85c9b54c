"""What a person meets at a terminal: progress, notes, errors with hints, and Ctrl-C."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import tqdm
from click.testing import CliRunner

import crossarc
from commands import assert_one_line_error, run
from crossarc.cli import common
from crossarc.cli import crossarc as commands
from crossarc.parsers import PRESETS, SpanningTreeConfig
from terminal import in_terminal

TEXT = "The cat sat.\nIt slept.\n\nThen it woke up.\n"


# ---- progress --------------------------------------------------------------------------------------------------------


def test_no_bar_in_output_that_goes_to_the_terminal(handmade, tmp_path):
    seen = in_terminal("convert", handmade)
    assert seen.bytes_.replace("\r\n", "\n") == handmade.read_text()
    seen = in_terminal("convert", handmade, stdout=tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_bytes() == handmade.read_bytes()
    assert re.search(r"handmade\.conllu: +\d+ %\|", seen.bytes_)
    assert seen.text.strip() == ""
    assert in_terminal("convert", handmade, "-q", stdout=tmp_path / "out.conllu").bytes_ == ""


def test_no_bar_in_parsed_sentences(trained):
    treebank, model, _ = trained
    seen = in_terminal("parse", treebank, "-m", model)
    printed = seen.bytes_.removesuffix("\x1b[0m").replace("\r\n", "\n")
    assert printed == run("parse", treebank, "-m", model).stdout.decode()


@pytest.mark.slow
def test_the_first_command_of_the_readme():
    seen = in_terminal("parse", "--text", "I saw a dog yesterday that was barking at the moon.")
    assert seen.code == 0
    assert re.match(r"(crossarc: compiling .*\n)?# newdoc\n", seen.text)
    assert "\r" not in seen.bytes_.replace("\r\n", "\n")


class RecordedBar:
    """What a progress bar is told."""

    made: list[RecordedBar]

    def __init__(self, total=None, **about):
        self.total, self.n, self.postfix = total, 0, ""
        self.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, size):
        self.n += size

    def set_postfix_str(self, text, refresh):
        self.postfix = text


@pytest.fixture
def bars(monkeypatch):
    """All bars that are shown, as if standard error were a terminal."""
    RecordedBar.made = []
    monkeypatch.setattr(tqdm, "tqdm", RecordedBar)
    monkeypatch.setattr(common, "shows_progress", lambda output="": True)
    return RecordedBar.made


def test_bars_count_sentences_and_know_where_they_end(handmade, bars):
    sentences = len(list(common.read_sentences(str(handmade))))
    (bar,) = bars
    assert bar.postfix == f"{sentences} sentences"
    assert bar.n == bar.total == handmade.stat().st_size


def test_bars_know_the_time_that_is_left(monkeypatch, capsys):
    """Two seconds for each fifth of the input, on a clock of their own."""
    now = 0.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    monkeypatch.setattr(common, "shows_progress", lambda output="": True)
    with common.progress_bar("x.conllu", 100) as advance:
        for _ in range(5):
            now += 2.0
            advance(20, 3)
    shown = capsys.readouterr().err.split("\r")
    found = [
        match.groups() for line in shown if (match := re.search(r"(\d+) %.*, (\d+) sentences \[(.*), (.*) left", line))
    ]
    assert found[:2] == [("20", "3", "00:02", "00:08"), ("40", "6", "00:04", "00:06")]
    assert found[-1] == ("100", "15", "00:10", "00:00")


def test_bars_of_raw_text_count_sentences(bars, tmp_path, monkeypatch):
    class Model:
        def segment(self, text, **_):
            return [crossarc.Sentence.of(part.split()) for part in text.split(".")[:-1]]

    monkeypatch.setattr("crossarc.io.text._CHUNK", 20)
    path = tmp_path / "notes.txt"
    path.write_text(TEXT)
    assert len(list(common.read_for(Model(), str(path), None))) == 3
    (bar,) = bars
    assert (bar.postfix, bar.n, bar.total) == ("3 sentences", len(TEXT), len(TEXT))


def test_bars_of_parsing_count_sentences(trained, bars, tmp_path):
    treebank, model, _ = trained
    run("parse", treebank, treebank, "-m", model, "-o", tmp_path / "out.conllu")
    (bar,) = bars
    assert bar.postfix == "300 sentences"
    assert bar.n == bar.total == 2 * treebank.stat().st_size


def test_bars_of_parsing_move_within_long_paragraphs(trained, bars, tmp_path, monkeypatch):
    """Text comes in whole paragraphs; a person is not to wait for the end of one."""
    pipeline = crossarc.load(trained[1])
    segment = SimpleNamespace(apply=lambda text, **_: [crossarc.Sentence.of(part.split()) for part in text.split(".")])
    monkeypatch.setattr("crossarc.pipeline.chunks.load", lambda model: replace(pipeline, segmenter=segment))
    moves = []
    monkeypatch.setattr(RecordedBar, "update", lambda self, size: moves.append((size, self.postfix)))
    path = tmp_path / "notes.txt"
    path.write_text("One two.\n" * 199 + "One two")
    run("parse", path, "-m", trained[1], "-o", tmp_path / "out.conllu")
    assert [postfix for _, postfix in moves] == [f"{count} sentences" for count in (64, 128, 192, 200)]
    assert [size for size, _ in moves[:3]] == pytest.approx(3 * [64 / 200 * path.stat().st_size], abs=1)
    assert sum(size for size, _ in moves) == path.stat().st_size
    assert len(list(crossarc.read(tmp_path / "out.conllu"))) == 200


def test_unknown_sizes_have_no_end(handmade, bars, tmp_path):
    run("convert", handmade, "-o", tmp_path / "x.conllu.gz")
    run("convert", tmp_path / "x.conllu.gz")
    assert [bar.total is None for bar in bars] == [False, True]


# ---- notes -----------------------------------------------------------------------------------------------------------


def test_compiling_is_announced_once_without_a_terminal_too(tmp_path):
    code = """if True:
        import numpy as np
        from crossarc.cli.messages import set_up
        from crossarc.trees._shape import is_projective
        set_up()
        for dtype in (np.int64, np.int32):
            is_projective(np.array([-1, 0], dtype))
    """
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert result.stderr.decode().count("crossarc: compiling kernels for this machine") == 1


def test_quiet_and_verbose(trained, tmp_path):
    treebank, model, _ = trained
    parse = ["parse", treebank, "-m", model, "--max-length", 5]
    assert b"left as it is" in run(*parse).stderr
    assert run(*parse, "-q").stderr == b""
    assert re.search(rb"crossarc: 150 sentences, \d+ words in .* words a second", run(*parse, "-v").stderr)
    train = ["train", treebank, "-m", tmp_path / "x", "--order", 1, "--epochs", 1, "--hash-bits", 16]
    assert run(*train, "--quiet").stderr == b""
    assert_one_line_error(run("stats", "nowhere", "-q"), "nowhere")


def test_each_warning_is_shown_once(handmade, tmp_path):
    path = tmp_path / "windows.conllu"
    path.write_bytes(handmade.read_bytes().replace(b"\n", b"\r\n"))
    said = run("compare", path, handmade, handmade, "--samples", 10).stderr.decode()
    assert said.count("windows.conllu:1: lines end with CR LF (read as LF)\n") == 1
    assert said.startswith("crossarc: warning: ")


def test_validate_says_of_line_ends_once(handmade, tmp_path):
    path = tmp_path / "windows.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + handmade.read_bytes().replace(b"\n", b"\r\n"))
    result = run("validate", path)
    assert result.returncode == 1
    assert result.stdout.decode().splitlines() == [
        f"{path}:1: the file starts with a byte order mark (left out)",
        f"{path}:1: lines end with CR LF (read as LF)",
    ]
    assert run("convert", path).stdout == handmade.read_bytes()
    assert run("convert", handmade, "--crlf").stdout == handmade.read_bytes().replace(b"\n", b"\r\n")


@pytest.fixture
def windows(trained, tmp_path) -> tuple[Path, Path]:
    """The same treebank in two folders: as we write it, and with CR LF and a byte order mark."""
    sentences = list(crossarc.read(trained[0]))[:6]
    folders = tmp_path / "ours", tmp_path / "dos1"
    for folder, newline in zip(folders, ("\n", "\r\n"), strict=True):
        folder.mkdir()
        crossarc.write(sentences, folder / "x.conllu", newline=newline)
        crossarc.write(sentences, folder / "x.conllx", newline=newline)
        (folder / "rules.txt").write_text("at most 1 nsubj per head\nat most 0 obj per head\n", newline=newline)
        constraint = f"{sentences[0].sent_id}\t1\tNotHead={sentences[0].head[0]}\n"
        (folder / "constraints.tsv").write_text(constraint, newline=newline)
    for path in folders[1].iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    return folders


@pytest.mark.parametrize(
    "command",
    [
        "stats F/x.conllu",
        "evaluate F/x.conllu F/x.conllu",
        "compare F/x.conllu F/x.conllu F/x.conllu --samples 10",
        "draw F/x.conllu",
        "convert F/x.conllx --to conllu",
        "parse F/x.conllu -m M",
        "parse F/x.conllx -m M --format conllu",
        "parse F/x.conllu -m M --constraints F/constraints.tsv",
        pytest.param("parse F/x.conllu -m M --rules F/rules.txt", marks=pytest.mark.slow),
        "rank F/x.conllu -m M",
        "calibrate F/x.conllu -m M",
        "suspicious F/x.conllu -m M",
        "inspect M --explain F/x.conllu",
        "crossval F/x.conllu --folds 2 --system generative",
    ],
)
def test_every_command_reads_files_of_windows(trained, windows, command):
    results = [
        run(*(word.replace("F/", f"{folder}/").replace("M", str(trained[1])) for word in command.split(" ")))
        for folder in windows
    ]
    assert [result.returncode for result in results] == [0, 0], results[1].stderr.decode()
    ours, theirs = (
        result.stdout.decode().replace(str(folder), "") for result, folder in zip(results, windows, strict=True)
    )
    assert ours == theirs
    said = results[1].stderr.decode()
    assert said.count("lines end with CR LF (read as LF)") == said.count("byte order mark (left out)") == 1
    assert results[0].stderr.count(b"\n") == said.count("\n") - 2


# ---- errors and hints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["prase"], "no such command: prase", "did you mean parse?"),
        (["zzz"], "no such command: zzz", "crossarc --help"),
        (["corpus", "prase"], "no such command: prase", "did you mean parse?"),
        (["models", "zzz"], "no such command: zzz", "crossarc models --help"),
        (["train", "x", "-m", "m", "--epochs", "zero"], "'zero' is not a whole number", "crossarc train --help"),
        (["draw", "x", "--width", "0.5"], "'0.5' is not a whole number", "crossarc draw --help"),
        (["parse", "x", "--threshold", "half"], "'half' is not a number", "crossarc parse --help"),
        (["stats"], "missing argument 'FILES...'", "crossarc stats --help"),
        (["evaluate", "a", "b", "--breif"], "no such option: --breif", "did you mean --brief?"),
        (["train", "x", "-m", "m", "--epoch", "3"], "no such option: --epoch", "did you mean --epochs?"),
        (["parse"], "give either FILES or --text TEXT", "crossarc parse --help"),
        (["draw", "x", "-o", "x.svg", "--width", "3"], "--width is for text", "crossarc draw --help"),
    ],
)
def test_bad_usage_has_one_style(arguments, message, hint):
    assert_one_line_error(run(*arguments), message, hint=hint)


def test_options_without_effect_are_refused(trained, handmade, tmp_path):
    _, model, _ = trained
    notes = tmp_path / "notes.txt"
    notes.write_text(TEXT)
    for arguments in (
        ["inspect", model, "--arc", "1,2"],
        ["inspect", model, "--top", "3"],
        ["lm", handmade, "-m", model, "--order", "2"],
        ["lm", handmade, "-m", model, "--weight", "0.5"],
        ["rank", handmade, "-m", model, "-o", "-", "--json"],
        ["rank", handmade, "-m", model, "-o", "-", "-n", "3"],
        ["parse", notes, "-m", model, "--constraints", "heads"],
        ["parse", handmade, "-m", model, "--threshold", "0.9"],
        ["parse", handmade, "-m", model, "--retag"],
        ["parse", handmade, "-m", model, "--time-limit", "1"],
        ["crossval", handmade, "--patience", "3"],
    ):
        result = run(*arguments)
        option = [argument for argument in arguments if str(argument).startswith("--") or argument == "-n"][-1]
        assert result.returncode == 2
        assert option in result.stderr.decode().splitlines()[0]


def test_help_without_a_command():
    assert b"Commands:" in run().stdout
    assert b"Commands:" in run("corpus").stdout


def test_text_where_a_file_should_be():
    result = run("parse", "The cat sat.")
    assert_one_line_error(result, "The cat sat.: no such file", hint="crossarc parse --text 'The cat sat.'")
    assert_one_line_error(run("parse", "nowhere.conllu"), "no such file")
    for option in ("--rules", "--constraints"):
        assert_one_line_error(run("parse", "-", option, "nowhere"), "nowhere: no such file")


def test_text_where_a_treebank_should_be(trained, tmp_path):
    _, model, _ = trained
    notes = tmp_path / "notes"
    notes.write_text(TEXT)
    problem = f"{notes}:1: this looks like raw text, not like a treebank"
    for arguments in (["parse", notes, "-m", model], ["rank", notes, "-m", model]):
        assert_one_line_error(run(*arguments), problem, hint="--input text reads it as text")
    for arguments in (["stats", notes], ["evaluate", notes, notes], ["convert", notes]):
        assert_one_line_error(run(*arguments), problem, hint="crossarc parse --input text")
    assert_one_line_error(run("rank", notes, "-m", model, "--input", "text"), "no segmenter")
    assert len(run("validate", notes).stdout.splitlines()) == 2  # one for each paragraph


def test_too_little_memory_is_one_line(monkeypatch, handmade):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    for command in ("stats", "parse"):
        monkeypatch.setattr(f"crossarc.cli.{command}.files_in", greedy)
        hint = "--max-length" if command == "parse" else None
        assert_one_line_error(run(command, handmade), "not enough memory", hint=hint)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_model_that_is_not_there(handmade, jobs):
    result = run("parse", handmade, "-m", "nowhere.crossarc", "--jobs", jobs)
    assert_one_line_error(result, "nowhere.crossarc: no such file")


def test_json_has_no_infinity(capsys):
    common.print_json({"a": float("inf"), "b": [-float("inf"), float("nan"), 1.5], "c": (True, None)})
    printed = capsys.readouterr().out
    assert json.loads(printed, parse_constant=pytest.fail) == {"a": "inf", "b": ["-inf", None, 1.5], "c": [True, None]}


# ---- Ctrl-C and a full disk ------------------------------------------------------------------------------------------


def test_interrupted_training_says_what_was_kept(trained, tmp_path):
    treebank, _, _ = trained
    model = tmp_path / "x.crossarc"
    train = ["train", treebank, "-m", model, "--order", 1, "--hash-bits", 16]
    seen = in_terminal(*train, "--epochs", 1000, interrupt_when=lambda text: "heads 2:" in text)
    assert seen.code == 130
    found = re.search(r"crossarc: the model is that of epoch (\d+) of (\d+)", seen.text)
    assert found
    assert found[1] == found[2]
    assert f"crossarc: interrupted: the model is that of epoch {found[1]}; the same command with --resume" in seen.text
    assert f"crossarc: {model}: " in seen.text
    assert run("inspect", model).returncode == 0
    resumed = run(*train, "--epochs", int(found[1]) + 1, "--resume")
    assert resumed.returncode == 0, resumed.stderr.decode()
    assert f"the model is that of epoch {int(found[1]) + 1} of" in resumed.stderr.decode()


def test_training_that_is_interrupted_at_once(trained, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("crossarc.cli.train.train", interrupted)
    result = run("train", trained[0], "-m", tmp_path / "x.crossarc")
    assert result.returncode == 130
    assert result.stderr == b"crossarc: interrupted: no epoch was finished, and nothing is kept\n"


def test_a_model_that_cannot_be_written_is_noticed_before_any_work(trained, tmp_path, monkeypatch):
    for function in ("read_sentences", "train"):
        monkeypatch.setattr(f"crossarc.cli.train.{function}", lambda *_, **__: pytest.fail("that is work"))
    (tmp_path / "file").write_text("")
    for place, problem in [("nowhere", "no such file or directory"), ("file", "not a directory")]:
        model = tmp_path / place / "x.crossarc"
        assert_one_line_error(run("train", trained[0], "-m", model), f"{model}: {problem}")
    assert_one_line_error(run("train", trained[0], "-m", tmp_path), "is a directory", hint="--help")
    monkeypatch.setattr("crossarc.cli.crossval.read_trees", lambda *_, **__: pytest.fail("that is work"))
    trees = tmp_path / "nowhere" / "x.conllu"
    assert_one_line_error(run("crossval", trained[0], "-o", trees), f"{trees}: no such file or directory")


def test_a_full_disk_in_training_is_one_line(trained, tmp_path, monkeypatch):
    treebank, _, _ = trained
    model = tmp_path / "x.crossarc"
    writes = []

    def full(*arguments, own=crossarc.models.file.save_file):
        writes.append(arguments)
        if len(writes) == 2:
            raise OSError(28, "No space left on device")
        return own(*arguments)

    monkeypatch.setattr("crossarc.models.file.save_file", full)
    result = run("train", treebank, "-m", model, "--order", 1, "--epochs", 3, "--hash-bits", 16)
    *_, error, hint = result.stderr.decode().splitlines()
    assert result.returncode == 2
    assert error == f"crossarc: error: {model}.training: no space left on device"
    assert hint == f"crossarc: hint: once there is room, --resume goes on from {model}.training"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.crossarc.training"]


# ---- several files, and formats --------------------------------------------------------------------------------------


@pytest.fixture
def corpus(trained, tmp_path) -> Path:
    """A folder with treebanks, one of them compressed and in a folder of its own."""
    sentences = list(crossarc.read(trained[0]))
    folder = tmp_path / "corpus"
    (folder / "more").mkdir(parents=True)
    crossarc.write(sentences[:3], folder / "a.conllu")
    crossarc.write(sentences[3:5], folder / "more" / "b.conllu.gz")
    (folder / "README").write_text("nothing to parse")
    return folder


def test_several_files_to_one(trained, corpus):
    _, model, _ = trained
    each = [run("parse", file, "-m", model).stdout for file in (corpus / "a.conllu", corpus / "more" / "b.conllu.gz")]
    both = run("parse", corpus, "-m", model).stdout
    assert both == b"".join(each)
    assert run("parse", corpus / "more", corpus / "a.conllu", "-m", model, "--jobs", 2).stdout == each[1] + each[0]


def test_several_files_to_a_folder(trained, corpus, tmp_path):
    _, model, _ = trained
    out = tmp_path / "out"
    assert run("parse", corpus, "-m", model, "-o", f"{out}/").returncode == 0
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert files == ["a.conllu", "more/b.conllu"]
    assert (out / "a.conllu").read_bytes() == run("parse", corpus / "a.conllu", "-m", model).stdout
    assert run("parse", corpus / "a.conllu", "-m", model, "-o", out, "--format", "tsv").returncode == 0
    assert (out / "a.tsv").read_text().startswith("sent_id\tid\tform\t")
    (corpus / "a.conll").write_text("")
    assert_one_line_error(run("parse", corpus, "-m", model, "-o", out), "would hold the trees of both")


def test_json_lines_and_tables(trained, corpus, tmp_path):
    _, model, _ = trained
    run("parse", corpus, "-m", model, "-o", tmp_path / "x.conllu")
    trees = list(crossarc.read(tmp_path / "x.conllu"))
    lines = run("parse", corpus, "-m", model, "--format", "jsonl").stdout.decode().splitlines()
    assert len(lines) == len(trees)
    for line, tree in zip(map(json.loads, lines), trees, strict=True):
        assert line["sent_id"] == tree.sent_id
        assert [word["head"] for word in line["words"]] == tree.heads[1:].tolist()
        assert [word["form"] for word in line["words"]] == list(tree.form)
    run("parse", corpus, "-m", model, "-o", tmp_path / "x.tsv")
    header, *rows = (line.split("\t") for line in (tmp_path / "x.tsv").read_text().splitlines())
    assert len(rows) == sum(map(len, trees))
    assert [row[header.index("deprel")] for row in rows] == [label for tree in trees for label in tree.deprel]


def test_json_lines_have_all_of_conllu(handmade):
    from crossarc.io import jsonl

    for sentence in crossarc.read(handmade):
        line = json.loads(jsonl.format_sentence(sentence))
        tokens = [(t["first"], t["last"]) for t in line["tokens"]]
        assert tokens == [(i.span[0], i.span[-1]) for i in sentence.inserts if not i.is_empty_node]
        assert [n["id"] for n in line["empty_nodes"]] == [i.row.id for i in sentence.inserts if i.is_empty_node]
        assert len(line["comments"]) == len(sentence.comments)


def test_stats_of_folders_with_a_legend(corpus):
    printed = run("stats", corpus).stdout.decode()
    assert str(corpus / "a.conllu") in printed
    assert str(corpus / "more" / "b.conllu.gz") in printed
    assert "NPT  % non-projective arcs" in printed


def test_one_line_of_scores(handmade, tmp_path):
    assert run("evaluate", handmade, handmade, "--brief").stdout == b"UAS 100.00  LAS 100.00  CLAS 100.00\n"
    untagged = tmp_path / "untagged.conllu"
    crossarc.write((s.with_columns(upos=["X"] * len(s)) for s in crossarc.read(handmade)), untagged)
    line = run("evaluate", handmade, untagged, "--brief").stdout.decode()
    assert re.fullmatch(r"UAS 100\.00  LAS 100\.00  CLAS .*UPOS \d+\.\d\d.*\n", line)
    assert_one_line_error(run("evaluate", handmade, handmade, "--brief", "--json"), "--brief", hint="--help")


def test_help_shows_the_defaults_of_what_is_chosen():
    def shown(*arguments):
        arguments = ["train", "--system", "spanning-tree", *arguments, "--help"]
        return " ".join(CliRunner().invoke(commands, arguments, terminal_width=200).output.split())

    crf, default = PRESETS["ms2007"], SpanningTreeConfig()
    assert crf.epochs != default.epochs
    assert f"Passes over the treebank. [default: {default.epochs}]" in shown()
    for arguments in (["--learner", "crf"], ["--learner=crf"], ["--preset", "ms2007"]):
        assert f"Passes over the treebank. [default: {crf.epochs}]" in shown(*arguments)
        assert f"0: never. [default: {crf.patience}]" in shown(*arguments)
    assert 'The largest step of MIRA ("C"). [default: inf]' in shown("--preset", "mst2005-single")
