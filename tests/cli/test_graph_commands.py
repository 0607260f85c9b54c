"""Graphs on the command line: their scores, collapsed empty nodes, and SDP."""

from __future__ import annotations

import json

import pytest
from click import UsageError
from click.testing import CliRunner

import crossarc
from crossarc.cli import crossarc as commands
from crossarc.core import InputError

# Mary won gold and Peter bronze, with the verb that is left out
GAP = """# sent_id = gap
1\tMary\tMary\tPROPN\t_\t_\t2\tnsubj\t2:nsubj\t_
2\twon\twin\tVERB\t_\t_\t0\troot\t0:root\t_
3\tgold\tgold\tNOUN\t_\t_\t2\tobj\t2:obj\t_
4\tand\tand\tCCONJ\t_\t_\t5\tcc\t5.1:cc\t_
5\tPeter\tPeter\tPROPN\t_\t_\t2\tconj\t5.1:nsubj\t_
5.1\twon\twin\tVERB\t_\t_\t_\t_\t0:root|2:conj:and\t_
6\tbronze\tbronze\tNOUN\t_\t_\t5\torphan\t5.1:obj\t_

"""
SDP = "#SDP 2015\n#1\n1\tHe\the\tPRP\t-\t-\t_\tARG1\n2\tsaw\tsee\tVBD\t+\t+\tv:e\t_\n\n"


def run(*arguments: object) -> tuple[str, str]:
    """What a command prints; an error is raised."""
    result = CliRunner().invoke(commands, list(map(str, arguments)), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout, result.stderr


@pytest.fixture
def files(tmp_path):
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    gold.write_text(GAP)
    system.write_text(GAP.replace("5.1:obj", "2:obj").replace("2:obj\t_\n4", "2:obl\t_\n4"))
    return gold, system


def counts(*arguments: object) -> dict[str, tuple[int, int, int]]:
    scores = json.loads(run("evaluate", *arguments, "--graph", "--json")[0])
    return {name: tuple(scores[name][n] for n in ("correct", "gold", "system")) for name in ("elas", "eulas")}


def test_scores_of_graphs(files):
    assert counts(*files) == {"elas": (2, 3, 4), "eulas": (2, 3, 4)}
    collapsed = counts(*files, "--collapse-empty-nodes")
    assert collapsed == {"elas": (6, 9, 8), "eulas": (6, 9, 8)}  # each of three words has two paths to it
    shown, _ = run("evaluate", *files, "--graph")
    for name in ("ELAS", "EULAS", "labelled", "By enhancement", "empty nodes"):
        assert name in shown
    assert "ELAS" in run("evaluate", *files)[0]


def test_collapsing_is_for_graphs(files):
    with pytest.raises(UsageError, match="only with --graph"):
        run("evaluate", *files, "--collapse-empty-nodes")


def test_files_are_collapsed(files, tmp_path):
    gold, _ = files
    target = tmp_path / "collapsed.conllu"
    run("convert", gold, "-o", target, "--collapse-empty-nodes")
    (sentence,) = crossarc.read(target)
    assert sentence.deps[4] == "0:root>nsubj|2:conj:and>nsubj"
    assert not sentence.inserts


def test_sdp_is_converted_without_loss(tmp_path):
    source, between, target = (tmp_path / name for name in ("a.sdp", "b.conllu", "c.sdp"))
    source.write_text(SDP)
    assert run("convert", source, "-o", between)[1] == ""
    assert run("convert", between, "-o", target)[1] == ""
    assert target.read_text() == SDP
    assert run("convert", "--from", "sdp", "--to", "sdp", source)[0] == SDP
    assert run("validate", source)


def test_what_sdp_has_no_place_for_is_counted(files, tmp_path):
    _, said = run("convert", files[0], "-o", tmp_path / "a.sdp")
    lost = "1 empty nodes, 6 values of UPOS, 6 arcs of trees, 3 arcs of DEPS"
    assert f"SDP has no place for: {lost}" in said


def test_broken_sdp_is_named(tmp_path):
    path = tmp_path / "a.sdp"
    path.write_text(SDP.replace("2\tsaw", "3\tsaw"))
    with pytest.raises(InputError, match=r"a\.sdp:4: .*ID '3': 2 expected"):
        run("convert", path, "-o", tmp_path / "b.conllu")
