"""SDP: graphs with words that have no head, and several tops; nothing is lost on the way through CoNLL-U."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crossarc
from crossarc.core import InputError, Sentence
from crossarc.io.sdp import HEADER, format_sentence, lost_in_sdp
from crossarc.io.validate import problems_by_sentence

# Made up; "to" has no head, "sleep" no arguments, and there are two tops
DREAMS = (
    "#20001001\n"
    "1\tThe\tthe\tDT\t-\t+\tq:i-h-h\t_\t_\t_\n"
    "2\tboy\tboy\tNN\t-\t-\tn:x\tBV\tARG1\t_\n"
    "3\twants\twant\tVBZ\t+\t+\tv:e-i-h\t_\t_\t_\n"
    "4\tto\tto\tTO\t-\t-\t_\t_\t_\t_\n"
    "5\tsleep\tsleep\tVB\t+\t+\t_\t_\tARG2\t_\n\n"
)
NOTHING = "#20001002\n1\tHm\thm\tUH\t-\t-\t_\n\n"  # no top, no predicate
FILE = HEADER + DREAMS + NOTHING
WITHOUT_FRAMES = "#22000001\n1\tHe\the\tPRP\t-\t-\tARG1\n2\tsaw\tsee\tVBD\t+\t+\t_\n\n"  # the form of 2014


def test_graph_is_in_deps(tmp_path):
    path = tmp_path / "dm.sdp"
    path.write_text(FILE)
    dreams, nothing = crossarc.read(path)
    assert dreams.deps == ("_", "1:BV|3:ARG1", "0:root", "_", "0:root|3:ARG2")
    assert dreams.misc == ("Frame=q:i-h-h", "Frame=n:x", "Frame=v:e-i-h", "_", "Pred=Yes")
    assert (dreams.xpos[1], dreams.lemma[2], dreams.head[0], dreams.upos[0]) == ("NN", "want", "_", "_")
    assert [s.sent_id for s in (dreams, nothing)] == ["20001001", "20001002"]
    assert [s.place(1).line for s in (dreams, nothing)] == [3, 10]
    assert nothing.deps == ("_",)


@pytest.mark.parametrize("between", ["b.conllu", "b.conllu.gz", "b.sdp"])
def test_sdp_survives(between, tmp_path):
    source, target = tmp_path / "a.sdp", tmp_path / "c.sdp.gz"
    source.write_text(FILE)
    crossarc.write(crossarc.read(source), tmp_path / between)
    crossarc.write(crossarc.read(tmp_path / between), target)
    assert "".join(map(format_sentence, crossarc.read(target))) == DREAMS + NOTHING
    crossarc.write(crossarc.read(target), source)
    assert source.read_text() == FILE
    assert not any(lost_in_sdp(sentence) + lost_in_sdp(sentence) for sentence in crossarc.read(tmp_path / between))


def test_form_of_2014_is_read():
    (sentence,) = crossarc.read_string(WITHOUT_FRAMES, format="sdp")
    assert sentence.deps == ("2:ARG1", "0:root")
    assert list(crossarc.read_string(format_sentence(sentence), format="sdp")) == [sentence]


labels = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="|_"), min_size=1)


@st.composite
def graphs(draw) -> Sentence:
    """Three words with any labels, tops, predicates and frames."""
    heads = st.dictionaries(st.integers(0, 3), labels, max_size=4)
    deps = [
        "|".join(f"{h}:{label if h else 'root'}" for h, label in sorted(draw(heads).items())) or "_" for _ in range(3)
    ]
    frames = [draw(labels | st.just("a|b%7C")) for _ in range(3)]
    (read,) = crossarc.read_string(format_sentence(Sentence.of(["x", "y", "z"], deps=deps)), format="sdp")
    assert read.deps == tuple(deps)
    misc = [f"Frame={frame.replace('%', '%25').replace('|', '%7C')}" for frame in frames]
    return read.with_columns(misc=misc)


@given(graphs())
def test_all_graphs_survive(sentence):
    text = format_sentence(sentence)
    (back,) = crossarc.read_string(text, format="sdp")
    assert back.deps == sentence.deps
    (through,) = crossarc.read_string(back.to_conllu())
    assert format_sentence(through) == text


def test_what_sdp_cannot_hold_is_counted(handmade):
    for sentence in crossarc.read(handmade):
        lost = lost_in_sdp(sentence)
        assert lost["arcs of trees"] == len(sentence)
        assert lost["multiword tokens"] + lost["empty nodes"] == len(sentence.inserts)
        (back,) = crossarc.read_string(format_sentence(sentence), format="sdp")
        kept = sum(deps.count("|") + 1 for deps in back.deps if deps != "_")
        arcs = sum(deps.count("|") + 1 for deps in sentence.deps if deps != "_")
        assert arcs - kept == lost["arcs of DEPS"]


BROKEN = {
    (FILE.replace("3\twants", "7\twants"), 5): "ID '7': 3 expected",
    (FILE.replace("\tDT\t-", "\tDT\t?"), 3): r"top is '\?', not \+ or -",
    (FILE.replace("TO\t-\t-", "TO\t-\tx"), 6): r"predicate is 'x', not \+ or -",
    (FILE.replace("\tBV\tARG1\t_", "\tBV\tARG1"), 4): "9 columns instead of 6, a frame perhaps, and one for each of 3",
    (FILE.replace("ARG2", "A|B"), 7): r"label 'A\|B': a bar would part arcs in DEPS",
    (FILE.replace("\tboy\tNN", "\t\tNN"), 4): "column 3 is empty",
    (FILE.replace("4\tto", "# hm\n4\tto"), 6): "a comment after the first word",
    (HEADER + "#1\n\n" + DREAMS, 2): "a sentence without words",
    ("Just text.\n", 1): "1 column instead of",
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.items())
def test_errors_name_file_and_line(broken, message, tmp_path):
    text, line = broken
    path = tmp_path / "x.sdp"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        list(crossarc.read(path))
    assert (error.value.place.path, error.value.place.line) == (str(path), line)
    found = [problem for _, problems in problems_by_sentence(path) for problem in problems]
    assert str(error.value.message) in [problem.message for problem in found]


def test_error_names_the_sentence(tmp_path):
    path = tmp_path / "x.sdp"
    path.write_text(FILE.replace("UH\t-", "UH\t?"))
    with pytest.raises(InputError, match="20001002"):
        list(crossarc.read(path))
    assert len(list(crossarc.read(path, on_error=lambda error: None))) == 1


def test_valid_file_has_no_problems(tmp_path):
    path = tmp_path / "x.sdp"
    path.write_text(FILE)
    assert not any(problems for _, problems in problems_by_sentence(path))
