"""crossarc draw"""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import crossarc
from crossarc.cli.draw import command
from crossarc.core import CrossarcError

GOOD = "# sent_id = s1\n1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def draw(*arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)))
    if isinstance(result.exception, CrossarcError):
        raise result.exception
    return result


def test_sentences_by_number_and_by_name(handmade):
    output = draw(handmade, "-s", "3-4", "-s", "de-05").output
    assert [line for line in output.splitlines() if line[:3] in ("en-", "de-")] == ["en-03", "en-04", "de-05"]
    assert draw(handmade).output.count("root") >= len(list(crossarc.read(handmade)))
    for wanted, message in (("no-such-id", "there is no sentence no-such-id"), ("900", "no sentence 900, only 66")):
        with pytest.raises(CrossarcError, match=message):
            draw(handmade, "-s", wanted)
    assert draw(handmade, "-s", "3-1").exit_code == 2


def test_nothing_is_read_after_the_last_sentence(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(GOOD + "broken\n\n")
    assert "a" in draw(file, "-s", "1").output
    assert "a" in draw(file, "-s", "s1").output
    with pytest.raises(CrossarcError, match=r"a\.conllu:5"):
        draw(file)
    assert draw(file, "--on-error", "skip").exit_code == 0


def test_formats_by_name_and_by_option(handmade, tmp_path):
    assert draw(handmade, "-s", "1-2", "-o", tmp_path / "a.svg").output == ""
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert [g.get("data-sent-id") for g in root.iter() if g.get("class") == "sentence"] == ["en-01", "en-02"]
    draw(handmade, "-s", "1", "-o", tmp_path / "a.tex", "--standalone")
    assert (tmp_path / "a.tex").read_text().startswith("% For pdflatex")
    draw(handmade, "-s", "1", "-o", tmp_path / "a.txt", "--width", "20")
    assert "╰▶" in (tmp_path / "a.txt").read_text()
    assert draw(handmade, "-s", "1", "--format", "svg").output.startswith("<svg")
    assert draw(handmade, "-s", "1", "--format", "latex", "-o", tmp_path / "noname").exit_code == 0
    assert "--format" in draw(handmade, "-o", tmp_path / "a.png").output
    assert not (tmp_path / "a.png").exists()
    assert draw(handmade, "--format", "svg", "--width", "3").exit_code == 2
    assert draw(handmade, "--standalone").exit_code == 2


def test_a_whole_treebank_is_too_much_for_one_svg(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(GOOD * 201)
    with pytest.raises(CrossarcError, match="more than 200"):
        draw(file, "-o", tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()


def test_comparison(tmp_path):
    gold, system, other = (tmp_path / name for name in ("gold.conllu", "system.conllu", "other.conllu"))
    gold.write_text(GOOD)
    system.write_text(GOOD.replace("\t2\tx", "\t0\ty"))
    other.write_text(GOOD.replace("\ta\t", "\tz\t"))
    output = draw(gold, "--compare", system).output
    assert "− x" in output
    assert "+ y" in output
    assert "− only in gold.conllu; + only in system.conllu" in output
    with pytest.raises(CrossarcError, match=r"other.conllu:1: sentence s1: the words are not those of .*gold.conllu:1"):
        draw(gold, "--compare", other)
    assert draw("-", "--compare", "-").exit_code == 2


def test_errors_are_one_line_and_pipes_are_plain(handmade, tmp_path):
    arguments = [sys.executable, "-m", "crossarc", "draw"]
    missing = subprocess.run([*arguments, tmp_path / "none"], capture_output=True, check=False)
    assert missing.returncode == 2
    assert missing.stderr.decode().count("\n") == 1
    piped = subprocess.run([*arguments, handmade, "-s", "1"], capture_output=True, check=True)
    assert "\033" not in piped.stdout.decode()
    heavy = "import sys, crossarc.cli.draw; assert not {'numba', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", heavy], check=True)
