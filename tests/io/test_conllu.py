"""CoNLL-U in is CoNLL-U out, byte for byte, and what is broken is said in one line."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crossarc
from crossarc.core import InputError, InputWarning
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.conllu import format_sentence, parse_block

HANDMADE = Path(__file__).parents[1] / "data" / "handmade.conllu"


def rows(*words: str) -> str:
    """Lines from words written as `1 form head`; the other columns are `_`."""
    lines = []
    for word in words:
        id_, form, head = word.split(" ")
        lines.append("\t".join([id_, form, "_", "_", "_", "_", head, "_", "_", "_"]))
    return "\n".join(lines) + "\n\n"


HARD = {
    "multiword tokens": rows("1-2 au _", "1 à 3", "2 le 3", "3 lac 0"),
    "empty node before the first word": rows("0.1 elle _", "1 dort 0"),
    "ten empty nodes": rows("1 a 0", *(f"1.{i} e _" for i in range(1, 11)), "2 b 1"),
    "empty node inside a multiword token": rows("1-2 del _", "1 de 2", "1.1 x _", "2 el 0"),
    "empty node, then a multiword token": rows("1 a 0", "1.1 x _", "2-3 bc _", "2 b 1", "3 c 1"),
    "no heads yet": rows("1 a _", "2 b _"),
    "MISC with doubled keys": "1\ta\t_\t_\t_\t_\t0\t_\t_\tGloss=x|Gloss=y|a=b=c|Empty=|=x|flag\n\n",
    "spaces in FORM": "1\tvingt et un\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n",
    "FORM is an underscore": "1\t_\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n",
    "FORM starts with a hash": "1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_\n\n",
    "comments of any shape": "#\n#no space\n# = \n#\ttab\n# newdoc id = x\n# newpar\n# text = a = b\n" + rows("1 a 0"),
    "separators of Unicode": "".join(rows(f"1 a{c}b 0") for c in "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r"),
    "combining and astral characters": rows("1 e\u0301𝒳\u200d 0"),
    "a cycle": rows("1 a 2", "2 b 1"),
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_cases_survive(text, tmp_path):
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_bytes(text.encode())
    crossarc.write(crossarc.read(source), target)
    assert target.read_bytes() == text.encode()


def test_handmade_treebank_survives(tmp_path):
    target = tmp_path / "out.conllu"
    crossarc.write(crossarc.read(HANDMADE, trees=True), target)
    assert target.read_bytes() == HANDMADE.read_bytes()


def test_real_treebanks_survive(treebank_files, tmp_path):
    target = tmp_path / "out.conllu"
    for path in treebank_files:
        crossarc.write(crossarc.read(path, trees=True), target)
        assert target.read_bytes() == path.read_bytes(), path


field = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1)


@given(
    st.lists(st.tuples(*[field] * 8), min_size=1, max_size=5),
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), max_size=3),
)
def test_any_columns_survive(columns, comments):
    n = len(columns)
    lines = [f"#{comment}" for comment in comments]
    for word, (form, lemma, upos, xpos, feats, deprel, deps, misc) in enumerate(columns, 1):
        lines.append("\t".join([str(word), form, lemma, upos, xpos, feats, str(word % n), deprel, deps, misc]))
    text = "\n".join(lines)
    assert format_sentence(parse_block(Block(text.encode(), "x", 1))) == text + "\n\n"


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from([2, 2, 2, 3, 4, 5])), min_size=1, max_size=20),
    st.integers(0, 6),
)
def test_pieces_of_any_size_are_put_together(piece, sentences, final_breaks):
    """However the stream is delivered and however many blank lines there are, the blocks and their lines are right."""

    class Slow(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(piece)

    content, expected = "", []
    for lines, breaks in sentences:
        expected.append((lines, content.count("\n") + 1))
        content += "\n".join(["1\tline"] * lines) + "\n" * breaks
    content = content.rstrip("\n") + "\n" * final_breaks
    problems: list[InputError] = []
    blocks = list(read_blocks(Slow(content.encode()), "x", report=problems.append))
    assert [(block.content.count(b"\n") + 1, block.line) for block in blocks] == expected
    messages = {problem.message for problem in problems}
    assert ("no blank line after the last sentence" in messages) == (final_breaks < 2)
    superfluous = any(breaks > 2 for _, breaks in sentences[:-1]) or final_breaks > 2
    assert ("superfluous blank line (left out)" in messages) == superfluous


@pytest.mark.parametrize("ending", ["\n", ""])
def test_missing_final_blank_line_is_reported_and_completed(ending, tmp_path):
    path = tmp_path / "x.conllu"
    text = rows("1 a 0")
    path.write_text(text + text.rstrip("\n") + ending)
    with pytest.warns(InputWarning, match=r"x\.conllu:3: no blank line after the last sentence"):
        sentences = list(crossarc.read(path))
    crossarc.write(sentences, path)
    assert path.read_text() == text + text


@pytest.mark.filterwarnings("ignore::crossarc.core.InputWarning")
@pytest.mark.parametrize("blank", ["\n", "\n\n", "\n\n\n\n\n"])
def test_superfluous_blank_lines_are_reported(blank, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows("1 a 0") + blank + rows("1 b 0"))
    with pytest.warns(InputWarning, match=r"x\.conllu:3: superfluous blank line"):
        sentences = list(crossarc.read(path))
    assert [s.form for s in sentences] == [("a",), ("b",)]
    assert sentences[1].line == 3 + len(blank)


NO_ID = "is not a word (3), a multiword token (3-4) or an empty node (3.1)"
BROKEN = {
    "9 columns instead of 10": (2, "# sent_id = s\n1\ta\t_\t_\t_\t_\t0\t_\t_\n\n"),
    "1 column instead of 10 (columns must be separated by tabs)": (1, "1 a _ _ _ _ 0 _ _ _\n\n"),
    "column LEMMA is empty": (1, "1\ta\t\t_\t_\t_\t0\t_\t_\t_\n\n"),
    "column MISC is empty": (1, "1\ta\t_\t_\t_\t_\t0\t_\t_\t\n\n"),
    "column FORM is empty": (2, "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n2\t\t_\t_\t_\t_\t0\t_\t_\t_\n\n"),
    "ID 2 is missing: 3 follows 1": (2, rows("1 a 0", "3 b 1")),
    "ID 1 is missing: 2 follows 0": (1, rows("2 a 0")),
    "ID 1 is doubled or out of order: 2 expected": (2, rows("1 a 0", "1 b 1")),
    f"ID 'x' {NO_ID}": (1, rows("x a 0")),
    f"ID '01' {NO_ID}": (1, rows("01 a 0")),
    "empty node 1.2: 1.1 expected": (2, rows("1 a 0", "1.2 x _")),
    "empty node 1.1 stands after word 0": (1, rows("1.1 x _", "1 a 0")),
    "multiword token 2-3 must stand before word 2": (1, rows("2-3 x _", "1 a 0", "2 b 1", "3 c 1")),
    "multiword token 2-3 overlaps the one before it": (3, rows("1-2 x _", "1 a 0", "2-3 y _", "2 b 1", "3 c 1")),
    "multiword token 2-1 ends before it starts": (2, rows("1 a 0", "2-1 x _", "2 b 1")),
    "a multiword token ends at word 3, but the sentence has 1 words": (2, rows("1-3 x _", "1 a 0")),
    "a sentence without words": (1, "# sent_id = s\n\n"),
    "a comment after the first word": (2, "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n# x\n\n"),
    "HEAD 3 of word 1 is out of range: the sentence has 2 words": (1, rows("1 a 3", "2 b 0")),
    f"HEAD '{'9' * 40}'... of word 2 is out of range: the sentence has 2 words": (
        2,
        rows("1 a 0", f"2 b {'9' * 5000}"),
    ),
    f"ID '{'9' * 40}'... {NO_ID}": (2, rows("1 a 0", f"{'9' * 5000} b 0")),
    f"ID '1-{'9' * 38}'... {NO_ID}": (1, rows(f"1-{'9' * 5000} b _", "1 a 0")),
    f"ID '0.{'9' * 38}'... {NO_ID}": (1, rows(f"0.{'9' * 5000} b _", "1 a 0")),
    "HEAD '-1' of word 2 is not a number": (2, rows("1 a 0", "2 b -1")),
    "HEAD '1.1' of word 2 is not a number": (2, rows("1 a 0", "2 b 1.1")),
    "a byte order mark within the file": (1, "\ufeff" + rows("1 a 0")),
    "this looks like raw text, not like a treebank": (1, "The cat sat.\nIt slept.\n\n"),
}


@pytest.mark.filterwarnings("ignore::crossarc.core.InputWarning")
@pytest.mark.parametrize("message", BROKEN)
def test_broken_sentences_are_named(message, tmp_path):
    line, text = BROKEN[message]
    path = tmp_path / "x.conllu"
    path.write_bytes((rows("1 a 0") + text).encode())
    with pytest.raises(InputError) as caught:
        list(crossarc.read(path))
    assert caught.value.message == message
    assert (caught.value.place.path, caught.value.place.line) == (str(path), line + 2)


TREES = {
    "the heads form a cycle: 2 → 3 → 2": (2, rows("1 a 0", "2 b 3", "3 c 2")),
    "word 10 is its own head": (10, rows(*(f"{i} w {i - 1}" for i in range(1, 10)), "10 w 10")),
    "word 2 has no HEAD": (2, rows("1 a 0", "2 b _")),
}


@pytest.mark.parametrize("message", TREES)
def test_what_is_not_a_tree_is_named_where_trees_are_asked_for(message, tmp_path):
    line, text = TREES[message]
    path = tmp_path / "x.conllu"
    path.write_text("# sent_id = s1\n" + text)
    assert len(list(crossarc.read(path))) == 1
    with pytest.raises(InputError, match=f"x.conllu:{line + 1}: sentence s1: {message}"):
        list(crossarc.read(path, trees=True))


def test_invalid_utf8_is_named(tmp_path):
    path = tmp_path / "x.conllu"
    good = rows("1 a 0").encode()
    path.write_bytes(good + b"# sent_id = s2\n" + good.replace(b"a", b"a\xff") + good)
    with pytest.raises(InputError, match=r"x\.conllu:4: sentence s2: byte 0xff is not valid UTF-8"):
        list(crossarc.read(path))
    errors = []
    assert len(list(crossarc.read(path, on_error=errors.append))) == 2
    assert len(errors) == 1


def test_skip_warns_and_goes_on(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows("1 a 0") + rows("1 a 7") + rows("1 b 0"))
    with pytest.warns(InputWarning, match="out of range"):
        assert [s.form for s in crossarc.read(path, on_error="skip")] == [("a",), ("b",)]


@pytest.mark.filterwarnings("ignore::crossarc.core.InputWarning")
@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n"])
def test_a_file_without_sentences_is_an_error(content, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no sentences"):
        list(crossarc.read(path))


def test_missing_files_and_directories_are_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such file"):
        list(crossarc.read(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="is a directory"):
        list(crossarc.read(tmp_path))


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_compressed_files(suffix, opener, tmp_path):
    path = tmp_path / f"x.conllu{suffix}"
    text = rows("1 a 0") * 3000
    with opener(path, "wt") as stream:
        stream.write(text)
    copy = tmp_path / f"y.conllu{suffix}"
    crossarc.write(crossarc.read(path), copy)
    with opener(copy, "rt") as stream:
        assert stream.read() == text
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:40] + b"\xff\xff\xff\xff" + whole[44:], b"not compressed"):
        copy.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged or truncated"):
            list(crossarc.read(copy))


def test_standard_streams(monkeypatch):
    text = rows("1 a 0")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    crossarc.write(crossarc.read("-"), "-")
    assert out.getvalue() == text.encode()


def test_writing_over_the_file_that_is_read(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows("1 a 0") * 20_000)
    crossarc.write((s.with_tree(s.heads, ["_", "root"]) for s in crossarc.read(path)), path)
    assert path.read_text().count("root") == 20_000


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows("1 a 0") + rows("1 a 7"))
    before = path.read_text()
    with pytest.raises(InputError):
        crossarc.write(crossarc.read(path), path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_memory_stays_flat(tmp_path):
    """Reading and writing five times as much needs no more memory."""
    import tracemalloc

    def peak(sentences: int) -> int:
        path = tmp_path / "x.conllu"
        path.write_text(rows("1 a 0", "2 b 1") * sentences)
        tracemalloc.start()
        crossarc.write(crossarc.read(path), tmp_path / "y.conllu")
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return top

    assert peak(150_000) < 1.5 * peak(30_000) < 4_000_000


@pytest.mark.parametrize("opened", [lambda: HANDMADE.open("rb"), lambda: HANDMADE.open(encoding="utf-8")])
def test_open_files_are_read_and_left_open(opened):
    with opened() as file:
        assert list(crossarc.read(file)) == list(crossarc.read(HANDMADE))
        assert not file.closed
    first = next(crossarc.read(io.BytesIO(HANDMADE.read_bytes())))
    assert first.path == "<memory>"


def test_text_is_read_from_a_string():
    text = HANDMADE.read_text(encoding="utf-8")
    found = list(crossarc.read_string(text))
    assert [sentence.columns for sentence in found] == [sentence.columns for sentence in crossarc.read(HANDMADE)]
    assert "".join(sentence.to_conllu() for sentence in found) == text
    (alone,) = crossarc.read_string("\n" + found[0].to_conllu().strip("\n"))
    assert alone.form == found[0].form
    with pytest.raises(InputError, match="<memory>:1: 2 columns"):
        list(crossarc.read_string("1\ta"))
    with pytest.raises(InputError, match="not the name of a file: use read_string"):
        list(crossarc.read(text))


def test_one_sentence_is_written_as_well(tmp_path):
    sentence = next(crossarc.read(HANDMADE))
    crossarc.write(sentence, tmp_path / "one.conllu")
    assert (tmp_path / "one.conllu").read_text(encoding="utf-8") == sentence.to_conllu()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 18])
def test_line_ends_of_windows_and_byte_order_marks(newline, mark, size, tmp_path, monkeypatch):
    text = rows("1 a 0") + rows("1 b 2", "2 c 0")
    plain, other = tmp_path / "plain.conllu", tmp_path / "other.conllu"
    plain.write_bytes(text.encode())
    other.write_bytes((mark + text.replace("\n", newline)).encode())
    monkeypatch.setattr("crossarc.io.blocks._CHUNK", size)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = list(crossarc.read(other))
    notes = [f"{other}:1: the file starts with a byte order mark (left out)"] * bool(mark)
    notes += [f"{other}:1: lines end with CR LF (read as LF)"] * (newline != "\n")
    assert [str(warning.message) for warning in said] == notes
    assert [s.columns for s in found] == [s.columns for s in crossarc.read(plain)]
    crossarc.write(found, tmp_path / "again.conllu")
    assert (tmp_path / "again.conllu").read_bytes() == text.encode()
    crossarc.write(found, tmp_path / "again.conllu", newline=newline)
    assert (tmp_path / "again.conllu").read_bytes() == text.replace("\n", newline).encode()


def test_mixed_line_ends_name_the_first(tmp_path):
    path = tmp_path / "mixed.conllu"
    path.write_bytes(rows("1 a 0").encode() + rows("1 b 0").replace("\n", "\r\n").encode())
    with pytest.warns(crossarc.InputWarning, match=r"mixed\.conllu:3: lines end with CR LF"):
        assert [s.form for s in crossarc.read(path)] == [("a",), ("b",)]


@pytest.mark.parametrize("text", ["The cat sat.\n", "2026 was cold.\n1 degree.\n", "# A heading\nThen text.\n"])
def test_raw_text_is_told_from_treebanks(text, tmp_path):
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(InputError, match=r"notes:1: this looks like raw text, not like a treebank"):
        list(crossarc.read(path))
