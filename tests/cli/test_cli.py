"""The command line as a person meets it: output, exit codes, one-line errors."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import crossarc
from commands import assert_one_line_error, run, run_process
from crossarc.trees import is_projective
from disturb import disturbed

GOOD = "# sent_id = s1\n1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CYCLE = GOOD.replace("s1", "s2").replace("\t0\t", "\t1\t")


@pytest.fixture
def file(tmp_path):
    def make(content: str | bytes, name: str = "x.conllu") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def test_help_needs_no_heavy_import():
    code = "import sys, crossarc.cli; assert not {'numba', 'scipy', 'tqdm', 'highspy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    output = run("--help").stdout.decode()
    for command in (
        "train",
        "parse",
        "lm",
        "inspect",
        "stats",
        "evaluate",
        "compare",
        "draw",
        "serve",
        "convert",
        "validate",
    ):
        assert command in output
        help_text = run(command, "--help")
        assert help_text.returncode == 0
        assert b"Usage:" in help_text.stdout


def test_what_a_command_imports_is_not_looked_through_for_garbage():
    code = (
        "import gc; from crossarc.cli import crossarc; crossarc.get_command(None, 'stats')\n"
        "assert gc.isenabled() and gc.get_freeze_count() > 10_000"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("model", "system"), [("en", "neural"), ("en-fast", "spanning_tree")])
def test_parsing_imports_the_system_of_the_model_and_no_extra(model, system):
    code = (
        "import sys; from crossarc.cli import crossarc\n"
        f"crossarc(['parse', '-q', '-m', {model!r}, '--text', 'A hearing is scheduled.'], standalone_mode=False)\n"
        "extras = {'highspy', 'torch', 'pyarrow', 'ray', 'sklearn', 'nltk', 'fastapi', 'spacy', 'pandas', 'networkx'}\n"
        "print(*sorted(extras & set(sys.modules)), file=sys.stderr)\n"
        "ours = (name for name in sys.modules if name.startswith('crossarc.'))\n"
        "print(*(name for name in ours if name.endswith('.parser')), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    extras, parsers = done.stderr.splitlines()
    assert extras == ""
    assert f"crossarc.parsers.{system}.parser" in parsers.split()
    assert set(parsers.split()) <= {f"crossarc.parsers.{system}.parser", "crossarc.parsers.linear.parser"}
    assert done.stdout.count("\troot\t") == 1


def test_a_process(file):
    assert crossarc.__version__ in run_process("--version").stdout.decode()
    bad = file(GOOD + CYCLE)
    for runner in (run, run_process):
        assert_one_line_error(
            runner("evaluate", bad, bad), "x.conllu:6: sentence s2: the heads form a cycle: 1 → 2 → 1"
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + CYCLE, "x.conllu:6: sentence s2: the heads form a cycle: 1 → 2 → 1"),
        (GOOD.replace("\t0\t", "\t7\t"), "x.conllu:3: sentence s1: HEAD 7 of word 2 is out of range"),
        (GOOD.replace("2\tb", "3\tb"), "x.conllu:3: sentence s1: ID 2 is missing"),
        (GOOD.replace("2\tb", "1\tb"), "x.conllu:3: sentence s1: ID 1 is doubled"),
        (GOOD.replace("root\t_", "root"), "x.conllu:3: sentence s1: 9 columns instead of 10"),
        (GOOD.encode().replace(b"b", b"\xfe"), "x.conllu:3: sentence s1: byte 0xfe is not valid UTF-8"),
        ("", "x.conllu: no sentences in this file"),
    ],
)
@pytest.mark.parametrize("command", [["stats"], ["evaluate"], ["compare"]])
def test_bad_input_is_one_line(command, content, message, file):
    path = file(content)
    arguments = {"stats": [path], "evaluate": [path, path], "compare": [path, path, path]}[command[0]]
    assert_one_line_error(run(*command, *arguments), message)


def test_missing_file_and_directory(tmp_path):
    assert_one_line_error(run("stats", tmp_path / "nowhere"), "nowhere: no such file or directory")
    assert_one_line_error(run("stats", tmp_path), "no .conllu, .conll or .conllx files in this directory")
    assert_one_line_error(run("convert", tmp_path), "is a directory")
    assert_one_line_error(run("convert", tmp_path / "nowhere"), "no such file")


def test_output_that_cannot_be_written(file, tmp_path):
    assert_one_line_error(run("convert", file(GOOD), "-o", tmp_path / "no" / "y.conllu"), "no such file or directory")
    assert_one_line_error(run("convert", file(GOOD), "-o", tmp_path), "is a directory")


def test_bad_usage_is_exit_code_2():
    assert run("stats").returncode == 2
    assert run("nonsense").returncode == 2
    assert run("evaluate", "a", "b", "--nonsense").returncode == 2
    assert b"Traceback" not in run("evaluate", "a").stderr


def test_skipping_broken_sentences_reports_how_many(file):
    path = file(GOOD + CYCLE + GOOD.replace("s1", "s3") + CYCLE.replace("s2", "s4"))
    result = run("stats", path, "--on-error", "skip", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)[str(path)]["sentences"] == 2
    assert result.stderr.decode().count("left out: ") == 2
    assert "2 broken sentences left out" in result.stderr.decode()


def test_convert_skips_what_is_broken_and_keeps_the_rest(file):
    path = file(GOOD + GOOD.replace("\t0\t", "\t9\t") + GOOD.replace("s1", "s3"))
    result = run("convert", path, "--on-error", "skip")
    assert result.stdout.decode() == GOOD + GOOD.replace("s1", "s3")
    assert "1 broken sentence left out" in result.stderr.decode()
    assert_one_line_error(run("convert", path), "x.conllu:7")


def test_convert_through_pipes_and_compressed_files(handmade, tmp_path):
    plain = handmade.read_bytes()
    assert run("convert", "-", stdin=plain).stdout == plain
    target = tmp_path / "x.conllu.gz"
    assert run("convert", handmade, "-o", target).returncode == 0
    assert gzip.decompress(target.read_bytes()) == plain
    conllx = run("convert", handmade, "--to", "conllx")
    assert "CoNLL-X has no place for: " in conllx.stderr.decode()
    back = run("convert", "-", "--from", "conllx", stdin=conllx.stdout).stdout
    assert back.count(b"\n\n") == plain.count(b"\n\n")


def test_a_missing_final_blank_line_is_reported_and_completed(file):
    result = run("convert", file(GOOD[:-1]))
    assert result.stdout.decode() == GOOD
    assert "x.conllu:3: no blank line after the last sentence" in result.stderr.decode()


def test_a_broken_pipe_is_no_drama(file):
    path = file(GOOD * 20_000)
    command = f"{sys.executable} -m crossarc convert {path} | head -n 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False)
    assert result.stdout == b"# sent_id = s1\n"
    assert result.stderr == b""
    assert result.returncode == 0


def test_nothing_is_drawn_when_piped(handmade):
    for arguments in (["stats", handmade], ["evaluate", handmade, handmade], ["validate", handmade]):
        assert b"\r" not in run(*arguments).stderr


def test_stats(handmade):
    table = run("stats", handmade).stdout.decode()
    assert "NPT" in table
    assert "deg0" in table
    data = json.loads(run("stats", handmade, handmade, "--json").stdout)[str(handmade)]
    assert data["nonprojective_sentences"] >= 25
    assert sum(data["degrees"].values()) == data["sentences"]


def test_evaluate_and_compare(handmade, tmp_path):
    systems = [tmp_path / "a.conllu", tmp_path / "b.conllu"]
    for seed, path in enumerate(systems):
        crossarc.write(disturbed(crossarc.read(handmade), seed), path)
    report = run("evaluate", handmade, systems[0])
    assert report.returncode == 0
    data = json.loads(run("evaluate", handmade, systems[0], "--json").stdout)
    assert f"{data['official']['LAS']['f1']:.2f}" in report.stdout.decode()
    assert data["all_words"]["uas"]["correct"] < data["all_words"]["uas"]["gold"]
    assert {"by_label", "by_arc_length", "by_sentence_length", "confusion", "graph"} <= data.keys()
    comparison = run("compare", handmade, *systems, "--samples", 200)
    assert "McNemar" in comparison.stdout.decode()
    side_by_side = json.loads(run("compare", handmade, *systems, "--samples", 200, "--json").stdout)
    assert side_by_side["differences"]["UAS"]["first"] == pytest.approx(data["all_words"]["uas"]["f1"])
    assert side_by_side["evaluations"][0] == data
    assert run("compare", handmade, "-", "-").returncode == 2


def test_validate_finds_everything(file):
    content = (
        GOOD
        + CYCLE
        + GOOD.replace("root\t_\t_", "root\t9:x|1:y|x\t_")
        + "# sent_id = s5\n1\ta\t_\t_\t_\t_\t0\tx\t0:x|0:x\t_\n2\tb\t_\t_\n2\tb\t_\t_\t_\t_\t0\tx\t1:x|0:x\t_\n\n\n"
        + GOOD.replace("s1", "s6")[:-1]
    )
    path = file(content)
    result = run("validate", path, "--single-root")
    lines = [line.removeprefix(f"{path}:") for line in result.stdout.decode().splitlines()]
    assert result.returncode == 1
    assert lines == [
        "6: sentence s2: the heads form a cycle: 1 → 2 → 1",
        "11: sentence s1: DEPS of word 2: there is no node '9'",
        "11: sentence s1: DEPS of word 2: 'x' is not head:label",
        "9: sentence s1: this sent_id was used at line 1",
        "15: sentence s5: 4 columns instead of 10",
        "16: sentence s5: ID 2 is doubled or out of order: 3 expected",
        "18: superfluous blank line (left out)",
        "21: no blank line after the last sentence",
    ]
    assert "8 problems in 1 file" in result.stderr.decode()
    assert len(json.loads(run("validate", path, "--json").stdout)) == 8
    assert run("validate", file(GOOD, "good.conllu")).returncode == 0


def test_validate_single_root(handmade):
    assert run("validate", handmade).returncode == 0
    assert run("validate", handmade, "--single-root").stdout.decode().count("2 roots") == 2


def test_train_and_parse(trained, tmp_path):
    treebank, model, said = trained
    assert re.search(r"heads 2: loss 0\.\d+ \(wrong heads a word in loss-augmented search\), .* dev UAS", said)
    assert re.search(r"crossarc: the model is that of epoch [12] of 2\n", said)
    assert len(re.findall(r"crossarc: heads 1: .* words/s .*  about \d+ s left\n", said)) == 1
    assert not re.search(r"crossarc: heads 2: .* left", said)
    assert re.search(r"crossarc: dev: UAS \d\d\.\d\d  LAS \d\d\.\d\d\n", said)
    assert re.search(rf"crossarc: {model}: \d\.\d MB, trained in .* s\n$", said)
    assert "the right one among them for " in said
    assert not Path(f"{model}.training").exists()
    parsed = run("parse", treebank, "-m", model)
    assert parsed.returncode == 0
    gold, system = list(crossarc.read(treebank)), tmp_path / "parsed.conllu"
    system.write_bytes(parsed.stdout)
    for before, after in zip(gold, crossarc.read(system), strict=True):
        assert after.with_columns(head=before.head, deprel=before.deprel).columns == before.columns
        assert after.comments == before.comments


def test_several_processes_give_the_same_output_in_order(trained):
    treebank, model, _ = trained
    one = run("parse", treebank, "-m", model)
    two = run("parse", treebank, "-m", model, "--jobs", 2)
    assert two.returncode == 0, two.stderr.decode()
    assert two.stdout == one.stdout


def test_the_k_best_trees_have_ranks_and_scores(trained):
    treebank, model, _ = trained
    output = run("parse", treebank, "-m", model, "-k", 3).stdout.decode()
    first = output.split("\n\n")[:3]
    assert [next(line for line in block.split("\n") if "crossarc_rank" in line) for block in first] == [
        f"# crossarc_rank = {rank}" for rank in (1, 2, 3)
    ]
    assert all("# crossarc_score = " in block for block in first)


@pytest.mark.slow
def test_probabilities(trained, tmp_path):
    treebank, _, _ = trained
    model, svg = tmp_path / "crf.crossarc", tmp_path / "reliability.svg"
    small = ["--epochs", 2, "--hash-bits", 16]
    assert run("train", treebank, "-m", model, "--learner", "crf", *small).returncode == 0
    trees = read_output(run("parse", treebank, "-m", model, "--confidence"), tmp_path)
    for tree in trees:
        (entropy,) = [comment for comment in tree.comments if comment.startswith("# crossarc_entropy = ")]
        assert float(entropy.split()[-1]) >= 0
        for misc in tree.misc:
            assert (match := re.search(r"ArcProb=(\d\.\d{4})\|RelProb=(\d\.\d{4})$", misc))
            assert 0 <= float(match[2]) <= float(match[1]) <= 1
    unsure = read_output(
        run("parse", treebank, "-m", model, "--decode", "marginal-threshold", "--threshold", 0.99, "--jobs", 2),
        tmp_path,
    )
    assert sum(tree.head.count("_") for tree in unsure) > 0
    assert b"# crossarc_prob = " in run("parse", treebank, "-m", model, "-k", 2).stdout
    calibrated = run("calibrate", treebank, "-m", model, "--fit", "--svg", svg)
    assert b"expected calibration error of labelled arcs: 0." in calibrated.stdout
    assert svg.read_text().startswith("<svg ")
    ranked = json.loads(run("rank", treebank, "-m", model, "-n", 9, "--json").stdout)
    assert [row["entropy"] for row in ranked] == sorted((row["entropy"] for row in ranked), reverse=True)
    listed = run("suspicious", treebank, "-m", model, "-n", 5).stdout.decode().splitlines()
    assert len(listed) == 6
    assert listed[1].startswith(f"{treebank}:")
    cyclic = tmp_path / "cyclic.conllu"
    sentences = list(crossarc.read(treebank))
    where = next(i for i, sentence in enumerate(sentences) if len(sentence) > 2)
    heads = sentences[where].heads
    heads[1], heads[2] = 2, 1
    sentences[where] = sentences[where].with_tree(heads)
    crossarc.write(sentences, cyclic)
    judged = run("suspicious", cyclic, "--folds", 2, "--json")
    assert judged.returncode == 0
    assert b"1 sentence has a cycle" in judged.stderr
    assert len(json.loads(judged.stdout)) == 50


@pytest.mark.slow
def test_probabilities_that_are_not_there(trained, tmp_path):
    treebank, _, _ = trained
    model = tmp_path / "plain.crossarc"
    assert run("train", treebank, "-m", model, "--order", 1, "--epochs", 1, "--hash-bits", 16).returncode == 0
    assert_one_line_error(run("parse", treebank, "-m", model, "--confidence"), "calibrate DEV -m MODEL --fit")
    assert_one_line_error(run("rank", treebank, "-m", model), "calibrate DEV -m MODEL --fit")
    assert_one_line_error(run("parse", treebank, "-m", model, "--decode", "min-risk"), "calibrate DEV -m MODEL --fit")
    assert run("suspicious", treebank).returncode == 2


def test_constraints_from_misc_and_from_a_file(trained, tmp_path):
    treebank, model, _ = trained
    sentence = next(s for s in crossarc.read(treebank) if len(s) > 5)
    head = next(h for h in (1, 2) if str(h) != sentence.head[2])
    wished = tmp_path / "wished.conllu"
    misc = ["_", "_", f"Note=1|Head={head}", *sentence.misc[3:]]
    crossarc.write([sentence.with_columns(misc=misc)], wished)
    (tree,) = read_output(run("parse", wished, "-m", model, "--constraints", "misc"), tmp_path)
    assert tree.head[2] == str(head)
    plain, wishes = tmp_path / "plain.conllu", tmp_path / "wishes.tsv"
    crossarc.write([sentence], plain)
    wishes.write_text(f"# mine\n{sentence.sent_id}\t3\tHead={head}\n{sentence.sent_id}\t4\tNotHead=1,2\n")
    (tree,) = read_output(run("parse", plain, "-m", model, "--constraints", wishes), tmp_path)
    assert tree.head[2] == str(head)
    assert tree.head[3] not in "12"


def test_heads_that_are_there_are_kept(trained, tmp_path):
    """Every other word's head is given, and every fourth word's label; the rest is found."""
    treebank, model, _ = trained
    given = [
        sentence.with_columns(
            head=[head if m % 2 else "_" for m, head in enumerate(sentence.head)],
            deprel=[label if m % 4 == 1 else "_" for m, label in enumerate(sentence.deprel)],
        )
        for sentence in crossarc.read(treebank)
    ]
    path = tmp_path / "half.conllu"
    crossarc.write(given, path)
    trees = read_output(run("parse", path, "-m", model, "--constraints", "heads"), tmp_path)
    for old, new in zip(given, trees, strict=True):
        assert all(a in ("_", b) for a, b in zip(old.head, new.head, strict=True))
        assert all(a in ("_", b) for a, b in zip(old.deprel, new.deprel, strict=True))
    assert all("_" not in tree.head + tree.deprel for tree in trees)
    free = read_output(run("parse", path, "-m", model), tmp_path)
    assert [tree.head for tree in free] != [tree.head for tree in trees]
    crossarc.write([given[0].with_columns(head=["2", "1", *given[0].head[2:]])], path)
    complaint = "the required arcs form a cycle"
    assert_one_line_error(run("parse", path, "-m", model, "--constraints", "heads"), given[0].sent_id, complaint)
    crossarc.write([given[0].with_columns(deprel=["mine"] * len(given[0]))], path)
    result = run("parse", path, "-m", model, "--constraints", "heads")
    assert_one_line_error(result, given[0].sent_id, "the model has no label 'mine'")


def read_output(result, folder) -> list[crossarc.Sentence]:
    assert result.returncode == 0, result.stderr.decode()
    path = folder / "output.conllu"
    path.write_bytes(result.stdout)
    return list(crossarc.read(path))


def test_constraints_that_make_no_sense_name_their_place(trained, tmp_path):
    treebank, model, _ = trained
    sentence = next(s for s in crossarc.read(treebank) if len(s) > 5)
    path = tmp_path / "x.conllu"
    for note, complaint in [
        ("Head=99", "99 cannot be the head of word 1"),
        ("Rel=nothing", "the model has no label 'nothing'"),
        ("Head=2,3", "only one"),
    ]:
        crossarc.write([sentence.with_columns(misc=[note, *sentence.misc[1:]])], path)
        result = run("parse", path, "-m", model, "--constraints", "misc")
        assert_one_line_error(result, f"{path}:", f"sentence {sentence.sent_id}", complaint)
    crossarc.write([sentence.with_columns(misc=["Head=2", "Head=1", *sentence.misc[2:]])], path)
    assert_one_line_error(
        run("parse", path, "-m", model, "--constraints", "misc"), sentence.sent_id, "the required arcs form a cycle"
    )
    wishes = tmp_path / "wishes.tsv"
    wishes.write_text("s1 3 Head=2\n")
    result = run("parse", treebank, "-m", model, "--constraints", wishes)
    assert_one_line_error(result, f"{wishes}:1", "SENT_ID<tab>WORD<tab>Head=3")


def test_long_sentences_are_left_as_they_are_with_a_note(trained):
    treebank, model, _ = trained
    longest = max(len(sentence) for sentence in crossarc.read(treebank))
    assert b"left as it is" not in run("parse", treebank, "-m", model, "--max-length", longest).stderr
    result = run("parse", treebank, "-m", model, "--max-length", longest - 1)
    assert result.returncode == 0
    assert f"{longest} words, more than --max-length {longest - 1}: left as it is" in result.stderr.decode()
    assert result.stdout.count(b"\n\n") == sum(1 for _ in crossarc.read(treebank))


@pytest.mark.parametrize("jobs", [1, 2])
def test_broken_sentences_can_be_left_out(trained, tmp_path, jobs):
    _, model, _ = trained
    path = tmp_path / "broken.conllu"
    path.write_text(GOOD + GOOD.replace("\t_\n", "\n", 1).replace("s1", "bad") + GOOD)
    assert_one_line_error(run("parse", path, "-m", model, "--jobs", jobs), f"{path}:6", "sentence bad", "9 columns")
    result = run("parse", path, "-m", model, "--on-error", "skip", "--jobs", jobs)
    assert result.returncode == 0
    assert result.stdout.count(b"\n\n") == 2
    assert b"1 broken sentence left out" in result.stderr


@pytest.mark.slow
def test_inspect_and_explain(trained):
    treebank, model, _ = trained
    output = run("inspect", model).stdout.decode()
    for text in ("spanning-tree", "dev scores", "hash bits", "MB", f", by Crossarc {crossarc.__version__}"):
        assert text in output
    assert re.search(r"^treebank +train\.conllu: 150 sentences, [\d,]+ words \(checksum \w+\)$", output, re.MULTILINE)
    assert re.search(r"^made +\d{4}-\d\d-\d\d, by", output, re.MULTILINE)
    for without_effect in ("restarts", "optimizer", "l2", "\nk "):
        assert without_effect not in output
    header = json.loads(run("inspect", model, "--json").stdout)
    assert header["components"]["parser"]["config"]["order"] == "1"
    output = run("inspect", model, "--explain", treebank).stdout.decode()
    assert "[arc] h.upos m.upos" in output or "[arc]" in output
    (arc,) = json.loads(run("inspect", model, "--explain", treebank, "--arc", "1,2", "--json").stdout)
    assert (arc["head"], arc["word"]) == (1, 2)
    assert run("inspect", model, "--explain", treebank, "--arc", "1,1").returncode == 2
    assert_one_line_error(run("inspect", treebank), "not a model file")


def test_training_options_that_do_not_fit(trained, tmp_path):
    treebank, _, _ = trained
    model = tmp_path / "x.crossarc"
    assert_one_line_error(
        run("train", treebank, "-m", model, "--order", 2, "--learner", "kbest-mira"), "kbest-mira needs order 1"
    )
    assert_one_line_error(run("train", treebank, "-m", model, "--resume"), "nothing to resume")
    assert_one_line_error(run("train", treebank, "-m", model, "--features", "nowhere"), "nowhere", "mcd2005")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["en", "en-fast"])
def test_rules_with_a_built_in_model(model, tmp_path):
    """Whose weights take one byte each."""
    (tmp_path / "rules").write_text("at most 2 children per head\n")
    result = run("parse", "-m", model, "--text", "A b.", "--rules", tmp_path / "rules")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(b"\troot\t") == 1


@pytest.mark.slow
def test_rules(trained, tmp_path):
    """An integer program parses with the scores of a spanning-tree model."""
    treebank, model, _ = trained
    some = list(crossarc.read(treebank))[:4]
    path, rules = tmp_path / "some.conllu", tmp_path / "rules.txt"
    crossarc.write(some, path)
    free = read_output(run("parse", path, "-m", model), tmp_path)
    label, sentence = free[0].deprel[0], some[0].sent_id
    rules.write_text(f"at most 2 children per head\nsoft 0.001: {sentence}: no arc {free[0].head[0]} -> 1 {label}\n")
    result = run("parse", path, "-m", model, "--rules", rules, "--exact", "--time-limit", "600")
    for tree in read_output(result, tmp_path):
        assert tree.metadata("crossarc_status").startswith("optimal")
        assert max(tree.head.count(head) for head in tree.head) <= 2
    rules.write_text(f"{sentence}: arc 1 -> 2\n{sentence}: arc 2 -> 1\n")
    result = run("parse", path, "-m", model, "--rules", rules, "--on-error", "skip")
    assert len(read_output(result, tmp_path)) == len(some) - 1
    said = result.stderr.decode()
    assert f"sentence {sentence}: no tree satisfies {rules}:1" in said
    assert f"{rules}:2" in said
    assert "has the sent_id" not in said
    rules.write_text(f"at most 2 children per NOUM\nnowhere: arc 1 -> 2\nsoft 0.001: {sentence}: no arc 1 -> 2\n")
    for written_as in ("conllu", "conllx", "jsonl", "tsv"):
        said = run("parse", path, "-m", model, "--rules", rules, "--format", written_as).stderr.decode()
        assert f"warning: {rules}:1: no word has the tag 'NOUM'" in said
        assert f"warning: {rules}:2: no sentence has the sent_id 'nowhere'" in said
        assert f"{rules}:3" not in said
    rules.write_text("at most one thing per head\n")
    assert_one_line_error(run("parse", path, "-m", model, "--rules", rules), f"{rules}:1", "not a rule")
    for tree in read_output(run("parse", path, "-m", model, "--exact"), tmp_path):  # its order is 1
        assert tree.metadata("crossarc_status").startswith("optimal")
    rules.write_text("at most 2 children per head\n")
    assert_one_line_error(run("parse", path, "-m", model, "--rules", rules, "-k", 2), "no k best trees")


@pytest.mark.slow
def test_the_incremental_parser(trained, tmp_path):
    treebank, spanning_tree, _ = trained
    model = tmp_path / "incremental.crossarc"
    options = ("--system", "covington", "--epochs", 2, "--hash-bits", 16)
    result = run("train", treebank, "--dev", treebank, "-m", model, *options)
    assert result.returncode == 0, result.stderr.decode()
    outputs = {degree: run("parse", treebank, "-m", model, "--max-degree", degree).stdout for degree in ("0", "none")}
    assert outputs["0"] != outputs["none"]
    for tree in read_output(run("parse", treebank, "-m", model, "--max-degree", 0), tmp_path):
        assert is_projective(tree.heads)
    assert "covington" in run("inspect", model).stdout.decode()
    assert_one_line_error(run("parse", treebank, "-m", model, "-k", 2), "-k")
    assert_one_line_error(
        run("parse", treebank, "-m", spanning_tree, "--max-degree", 1), "--max-degree", "spanning-tree"
    )
    assert b"[link]" in run("inspect", model, "--explain", treebank).stdout
    refused = run("train", treebank, "-m", model, *options, "--order", 1)
    assert refused.returncode == 2
    assert b"no such option" in refused.stderr
    refused = run("train", treebank, "-m", model, *options, "--classifier", "svm")
    assert refused.returncode == 2
    assert b"--epochs has no effect here: only with --classifier linear" in refused.stderr


@pytest.mark.slow
def test_the_generative_model(trained, tmp_path):
    treebank, spanning_tree, _ = trained
    model = tmp_path / "generative.crossarc"
    result = run("train", treebank, "--dev", treebank, "-m", model, "--system", "generative", "--no-stop")
    assert result.returncode == 0, result.stderr.decode()
    assert "dev: UAS" in result.stderr.decode()
    assert len(read_output(run("parse", treebank, "-m", model), tmp_path)) == 150
    alone = json.loads(run("lm", treebank, "-m", model, "--json").stdout)
    assert len(alone["sentences"]) == 150
    assert alone["log_p"] == pytest.approx(sum(sentence["log_p"] for sentence in alone["sentences"]))
    mixed = run("lm", treebank, "-m", model, "--ngram", treebank, "--order", 2, "--weight", 0.3)
    assert "log p(x | n)" in mixed.stdout.decode()
    assert "mixed: 0.300 of the model" in mixed.stdout.decode()
    perplexity = float(mixed.stdout.decode().split("perplexity ")[1].split()[0])
    assert 1 < perplexity < alone["perplexity"]
    fitted = json.loads(run("lm", treebank, "-m", model, "--ngram", treebank, "--dev", treebank, "--json").stdout)
    assert fitted["perplexity"] <= min(fitted["perplexity_of_parts"].values()) * (1 + 1e-9)
    assert fitted["perplexity_of_parts"]["model"] == pytest.approx(alone["perplexity"])
    assert b"--dev FILE" in run("lm", treebank, "-m", model, "--ngram", treebank).stderr
    assert b"only with --ngram" in run("lm", treebank, "-m", model, "--weight", 0.5).stderr
    assert_one_line_error(run("lm", treebank, "-m", spanning_tree), "models of --system spanning-tree have no")
    refused = run("train", treebank, "-m", model, "--system", "generative", "--order", 1)
    assert b"no such option" in refused.stderr


@pytest.mark.slow
def test_learning_without_trees(trained, tmp_path):
    treebank, _, _ = trained
    bare, model = tmp_path / "bare.conllu", tmp_path / "unsupervised.crossarc"
    sentences = [s.with_columns(head=["_"] * len(s), deprel=["_"] * len(s)) for s in crossarc.read(treebank)]
    crossarc.write(sentences, bare)
    options = ("--system", "generative", "--unsupervised", "--nonprojective", "--restarts", 1, "--epochs", 3)
    result = run("train", bare, "-m", model, *options)
    assert result.returncode == 0, result.stderr.decode()
    said = result.stderr.decode()
    assert "crossarc: em 1 3: " in said
    assert "crossarc: em 2 6: " in said
    assert "log-likelihood with prior -" in said
    assert all(tree.deprel[0] == "dep" for tree in read_output(run("parse", bare, "-m", model), tmp_path))
    assert_one_line_error(run("lm", bare, "-m", model), "unordered words")
    assert_one_line_error(run("lm", bare, "-m", model, "--ngram", bare, "--weight", 0.5), "unordered words")
    assert_one_line_error(run("train", bare, "-m", model, "--system", "generative"), "bare.conllu:", "HEAD")
