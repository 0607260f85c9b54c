"""Training in shards: the model is the same to the last bit, whoever holds them and whoever dies."""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster_programs import ENVIRONMENT, command_of, run_program
from cluster_training import CONFIGS, TREEBANK, Faulty, FaultyQuestion, train_parser
from commands import assert_one_line_error, run
from crossarc import write
from crossarc.cluster import LocalWorkers
from crossarc.core import CrossarcError
from crossarc.learning.shards import InProcess
from crossarc.parsers import SpanningTreeConfig, TrainingListener, UnsupportedOption, load, train

# ---- workers, with functions that are quickly done -------------------------------------------------------------------


@pytest.mark.parametrize("workers", [InProcess(), LocalWorkers(2)])
def test_answers_are_in_the_order_of_the_shards(workers):
    shards = [[i, i + 1] for i in range(5)]
    with workers.hold(shards) as map_shards:
        assert list(map_shards(sum)) == [1, 3, 5, 7, 9]
        assert list(map_shards(len)) == [2] * 5


@pytest.mark.slow
def test_there_may_be_more_workers_than_shards():
    with LocalWorkers(3).hold([[1], [2, 3]]) as map_shards:
        assert list(map_shards(sum)) == [1, 5]


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(tmp_path):
    workers = Faulty(LocalWorkers(2), {"2": "worker"}, tmp_path)
    with workers.hold([[i] for i in range(5)]) as map_shards:
        assert list(map_shards(sum)) == list(map_shards(sum)) == list(map_shards(sum)) == [0, 1, 2, 3, 4]
    assert (tmp_path / "2").exists()


@pytest.mark.slow
def test_a_shard_that_kills_its_workers_is_one_error(tmp_path):
    workers = Faulty(LocalWorkers(2), {"1": "poison"}, tmp_path)
    with (
        workers.hold([[1], [2]]) as map_shards,
        pytest.raises(CrossarcError, match="lost 3 workers on one shard, the last: exit code -9"),
    ):
        list(map_shards(sum))


@pytest.mark.slow
def test_errors_in_workers_are_errors_here(tmp_path):
    defect = FaultyQuestion(sum, "error", tmp_path / "mark")
    with (
        LocalWorkers(2).hold([[1], [2]]) as map_shards,
        pytest.raises(CrossarcError, match="a worker failed: ZeroDivisionError: a defect"),
    ):
        list(map_shards(defect))


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_workers_without_shards_are_refused(tmp_path):
    with pytest.raises(UnsupportedOption, match="workers share shards"):
        train(TREEBANK, SpanningTreeConfig(), workers=LocalWorkers(2))
    with pytest.raises(CrossarcError, match="by MIRA and the perceptron only"):
        SpanningTreeConfig(shards=2, order="1", learner="crf")
    with pytest.raises(CrossarcError, match="shards is 121: there are only 120 sentences"):
        train(TREEBANK, SpanningTreeConfig(shards=121))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--ray", "auto"], "--ray shares shards"),
        (["--ray", "auto", "--system", "generative"], "--ray shares shards"),
        (["--ray", "auto", "--system", "covington"], "--ray shares shards"),
        (["--jobs", 2, "--system", "generative"], "not with --system generative: --jobs"),
        (["--shards", 2, "--learner", "crf"], "mixed by MIRA and the perceptron only"),
        (["--shards", 2, "--system", "covington"], "no such option: --shards"),
        (["--shards", 500], "shards is 500: there are only 120 sentences"),
    ],
)
def test_options_that_go_with_shards_only(tmp_path, options, error):
    write(TREEBANK, tmp_path / "x.conllu")
    result = run("train", tmp_path / "x.conllu", "-m", tmp_path / "m", *options)
    assert result.returncode == 2
    assert error in result.stderr.decode()
    assert not (tmp_path / "m").exists()


def test_without_ray_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    write(TREEBANK, tmp_path / "x.conllu")
    command = ["train", tmp_path / "x.conllu", "-m", tmp_path / "m", "--shards", 2, "--ray", "auto"]
    assert_one_line_error(run(*command), "pip install '.[cluster]'")


# ---- models ----------------------------------------------------------------------------------------------------------


def checksums(folder: Path, configs=CONFIGS, **told: object) -> dict[str, str]:
    """Of the model files of some configurations."""
    folder.mkdir()
    result = run_program("cluster_training.py", {"configs": list(configs), "folder": str(folder), **told})
    assert result.returncode == 0, result.stderr
    found = (line.split() for line in result.stdout.splitlines() if line.startswith("model: "))  # Ray prints, too
    return {name: checksum for _, name, checksum in found}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, str]:
    """The models of one process."""
    return checksums(tmp_path_factory.mktemp("expected") / "models")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_models_do_not_depend_on_the_number_of_processes(tmp_path, expected, jobs):
    assert checksums(tmp_path / "models", jobs=jobs) == expected


@pytest.mark.slow
def test_models_do_not_depend_on_who_dies(tmp_path, expected):
    found = {}
    for name in CONFIGS:
        marks = tmp_path / f"{name}.marks"
        marks.mkdir()
        found |= checksums(tmp_path / name, [name], jobs=2, faults={"2": "worker", "3": "worker"}, marks=str(marks))
        assert sorted(path.name for path in marks.iterdir()) == ["2", "3"]
    assert found == expected


@pytest.mark.slow
def test_models_on_a_ray_cluster(tmp_path, expected, nodes):
    """With three actors; then one dies, and a node, for whose core there is no other; then with one actor."""
    marks = tmp_path / "marks"
    marks.mkdir()
    assert checksums(tmp_path / "three", ray=nodes) == expected
    told = {"ray": nodes, "patience": 20, "faults": {"2": "worker", "3": "node"}, "marks": str(marks)}
    assert checksums(tmp_path / "faults", ["lbfgs"], **told) == {"lbfgs": expected["lbfgs"]}
    assert sorted(path.name for path in marks.iterdir()) == ["2", "3"]
    assert checksums(tmp_path / "one", ray=nodes, jobs=1) == expected


@pytest.mark.slow
def test_workers_end_with_their_driver(tmp_path):
    config = {"configs": ["em"], "folder": str(tmp_path), "jobs": 2, "faults": {"2": "sleep"}, "marks": str(tmp_path)}
    with subprocess.Popen(command_of("cluster_training.py", config), env=ENVIRONMENT) as driver:
        children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children")
        if not children.exists():
            driver.kill()
            pytest.skip("no list of child processes on this system")
        wait_for(lambda: (tmp_path / "2").exists())
        pids = [int(pid) for pid in children.read_text().split()]
        driver.kill()
    assert len(pids) >= 2
    wait_for(lambda: not any(is_running(pid) for pid in pids))


def wait_for(condition) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("waited for a minute")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Interrupted(TrainingListener):
    """Interrupts in the middle of the third epoch of a stage."""

    def __init__(self, stage: str) -> None:
        self.stage = stage

    def begin_epoch(self, stage, epoch, words):
        if (stage, epoch) == (self.stage, 3):
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stage"), [("mira", "heads"), ("em", "em")])
def test_training_goes_on_with_another_number_of_workers(tmp_path, name, stage):
    checkpoint, whole = tmp_path / "x.training", train_parser(name, None)
    train_parser(name, LocalWorkers(2), listener=Interrupted(stage), checkpoint=checkpoint)
    resumed = train_parser(name, LocalWorkers(3), checkpoint=checkpoint, resume=True)
    for parser, path in ((whole, tmp_path / "whole"), (resumed, tmp_path / "resumed")):
        parser.save(path)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


@pytest.mark.slow
def test_the_number_of_shards_is_in_the_model(tmp_path):
    write(TREEBANK, tmp_path / "x.conllu")
    options = ["--shards", 3, "--jobs", 2, "--order", 1, "--epochs", 2, "--hash-bits", 14]
    result = run("train", tmp_path / "x.conllu", "-m", tmp_path / "m", *options)
    assert result.returncode == 0, result.stderr
    assert load(tmp_path / "m").config.shards == 3


@pytest.mark.slow
def test_mixed_weights_parse_nearly_as_well_as_those_of_one_machine():
    config = SpanningTreeConfig(order="1", epochs=5, hash_bits=16)
    test, las = TREEBANK[80:], {}
    for shards in (1, 4):
        parser = train(TREEBANK[:80], replace(config, shards=shards), dev=test)
        las[shards] = parser.dev.las
    assert las[4] > las[1] - 0.03


@pytest.mark.slow
def test_an_interrupt_ends_the_workers(tmp_path):
    write(TREEBANK, tmp_path / "x.conllu")
    model = tmp_path / "m"
    command = [
        "train",
        tmp_path / "x.conllu",
        "-m",
        model,
        "--system",
        "generative",
        "--unsupervised",
        "--restarts",
        1000,
    ]
    program = [*command_of("cluster_training.py", None)[:1], "-m", "crossarc", *map(str, command), "--jobs", "2"]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        next(line for line in lines if " 2: loss" in line)
        process.send_signal(signal.SIGINT)
        rest = "".join(lines)  # ends when nobody has the pipe any more
    assert process.returncode == 130, rest
    assert "interrupted: the model is that of epoch" in rest
    assert load(model).system == "generative"
