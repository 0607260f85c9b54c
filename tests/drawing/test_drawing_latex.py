"""LaTeX: escapes, structure, and TeX itself where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from crossarc import Sentence
from crossarc.drawing import to_latex
from crossarc.drawing.latex import escaped

ODD = Sentence.of(["[x", "R&D_50%", "--", "~^\\{}$#", "\"``''", "*", "<|>"], upos=["_", *["X"] * 6]).with_tree(
    [-1, 2, 0, 2, 5, 4, -1, 7], ["_", "a_b", "root", "x:y", "#1", "%", "_", "self"]
)


def test_escapes():
    assert escaped("a_b{c}$#%") == r"a\_b\{c\}\$\#\%"
    assert escaped("\\~^") == r"\textbackslash{}\textasciitilde{}\textasciicircum{}"
    assert escaped("R&D") == r"R\symbol{38}D"  # \& would begin the next word
    assert escaped("---") == "-{}-{}-"
    assert escaped("?`''") == "?{}`{}'{}'"
    assert escaped("a\tb") == "a?b"


def test_words_and_arcs(handmade_sentence):
    text = to_latex(handmade_sentence)
    forms, tags = (line.strip() for line in text.splitlines()[3:5])
    assert re.sub(r"\[[0-9.]+em\]", "", forms) == " \\& ".join(handmade_sentence.form) + r" \\"
    assert tags.count(r"\&") == 8
    assert len(re.findall(r"\\depedge\[.*\]\{[0-9]\}\{[0-9]\}\{.+\}", text)) == 8
    assert re.search(r"\\depedge\[.*red.*\]\{2\}\{7\}\{nmod\\hspace", text)
    assert re.search(r"\\deproot\[edge height=[0-9.]+ex\]\{4\}\{root\}", text)


def test_braces_are_balanced_and_options_stay_text():
    text = to_latex(ODD)
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert "    {[}x" not in text
    assert "    {[x} " in text
    assert r"\& {*}" in re.sub(r"\[[0-9.]+em\]", "", text)
    assert r"\wordref{1}{7}" in text


def test_comparison_and_probabilities(handmade_sentence):
    heads = handmade_sentence.heads
    heads[7] = 4
    text = to_latex(handmade_sentence, compare=handmade_sentence.with_tree(heads))
    assert re.search(r"dashed.*\{2\}\{7\}\{.*\$-\$ nmod", text)
    assert re.search(r"very thick.*\{4\}\{7\}\{\+ nmod", text)
    sure = handmade_sentence.with_columns(misc=["ArcProb=0.5"] * 9)
    assert to_latex(sure).count("opacity=0.57") == 9


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no TeX here")
def test_tex_takes_it(handmade_sentence, tmp_path):
    heads = handmade_sentence.heads
    heads[7] = 4
    trees = [handmade_sentence, ODD]
    document = to_latex(trees, compare=[handmade_sentence.with_tree(heads), ODD], standalone=True)
    (tmp_path / "a.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert result.returncode == 0, result.stdout.decode(errors="replace")[-2000:]


def test_from_right_to_left():
    sentence = Sentence.of(["הילד", "קרא"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    latex = to_latex(sentence)
    assert latex.index("קרא") < latex.index("הילד")
    assert re.search(r"depedge.*\{1\}\{2\}\{nsubj\}", latex)
