"""Files, folders and patterns cut into shards: everything is read once, and nothing is torn apart."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import crossarc
from crossarc.cluster.inputs import File, find_files
from crossarc.cluster.ranges import lines_before, open_piece
from crossarc.cluster.shards import Piece, make_shards
from crossarc.core import InputError
from crossarc.io.blocks import read_blocks
from crossarc.testing import random_treebank


def content_of(piece: Piece) -> bytes:
    with open_piece(piece) as stream:
        return b"".join(iter(lambda: stream.read1(1000), b""))


def pieces_of(path: Path, kind: str, size: int) -> list[Piece]:
    file = File(str(path), path.name, kind, path.stat().st_size)
    return [piece for shard in make_shards([file], size) for piece in shard.pieces]


SEPARATORS = {"conllu": ["\n\n", "\r\n\r\n"], "text": ["\n\n", "\n \t\n\n", "\n"], "lines": ["\n"], "jsonl": ["\n"]}
unit = st.text(st.sampled_from("ab é𝒳"), min_size=1, max_size=12).filter(str.strip)


@pytest.mark.parametrize("kind", SEPARATORS)
@given(data=st.data())
def test_ranges_are_the_whole_file(tmp_path_factory, kind, data):
    units = data.draw(st.lists(unit, min_size=1, max_size=12))
    text = "".join(u + data.draw(st.sampled_from(SEPARATORS[kind])) for u in units)
    path = tmp_path_factory.getbasetemp() / f"ranges.{kind}"
    path.write_text(text, encoding="utf-8", newline="")
    pieces = pieces_of(path, kind, data.draw(st.integers(1, 30)))
    contents = [content_of(piece) for piece in pieces]
    assert b"".join(contents) == text.encode()
    for piece, content in zip(pieces, contents, strict=True):
        content.decode()  # no character is torn apart
        assert lines_before(piece) == b"".join(contents[: pieces.index(piece)]).count(b"\n")
    if kind != "text":
        assert all(content.endswith(b"\n") for content in contents[:-1] if content)


@pytest.mark.parametrize("size", [500, 3000, 20_000])
def test_sentences_are_read_once_and_whole(tmp_path, size):
    path = tmp_path / "x.conllu"
    crossarc.write(random_treebank(100, seed=2), path)
    blocks = []
    for piece in pieces_of(path, "conllu", size):
        with open_piece(piece) as stream:
            try:
                blocks += [block.content for block in read_blocks(stream, "x")]
            except InputError:  # an empty range
                assert content_of(piece) == b""
    with path.open("rb") as stream:
        assert blocks == [block.content for block in read_blocks(stream, "x")]


def test_treebanks_are_cut_where_documents_begin(tmp_path):
    path = tmp_path / "x.conllu"
    trees = [tree.to_conllu() for tree in random_treebank(60, seed=2)]
    path.write_text("".join("# text = x\n# newdoc id = d\n" * (i % 10 == 0) + tree for i, tree in enumerate(trees)))
    contents = [content for piece in pieces_of(path, "conllu", 4000) if (content := content_of(piece))]
    with_documents = [content for content in contents if b"newdoc" in content]
    assert len(with_documents) > 2
    assert all(content.split(b"\n")[1] == b"# newdoc id = d" for content in with_documents)


def test_text_without_blank_lines_is_cut_after_lines_or_words(tmp_path, monkeypatch):
    monkeypatch.setattr("crossarc.cluster.ranges._WINDOW", 50)
    path = tmp_path / "x.txt"
    for text, end in [("many words " * 100, b" "), ("a line of words\n" * 50, b"\n"), ("é" * 500, "é".encode())]:
        path.write_text(text, encoding="utf-8")
        contents = [content_of(piece) for piece in pieces_of(path, "text", 101)]
        assert b"".join(contents) == text.encode()
        assert all(content.endswith(end) for content in contents)


def test_small_files_are_put_together_in_their_order():
    rng = random.Random(1)
    files = [File(f"/{i}", f"{i}", "text", rng.randrange(60)) for i in range(100)]
    shards = list(make_shards(files, 100))
    assert [piece.name for shard in shards for piece in shard.pieces] == [file.name for file in files]
    assert [shard.number for shard in shards] == list(range(len(shards)))
    assert all(shard.size <= 100 for shard in shards)
    assert all(one.size + other.size > 40 for one, other in pairwise(shards))


def test_compressed_files_stay_whole():
    (shard,) = make_shards([File("/a.gz", "a.gz", "text", 1000)], 10)
    assert shard.pieces == (Piece("/a.gz", "a.gz", "text"),)


def test_parquet_files_are_cut_by_row_groups(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": ["word " * 50] * 100}), path, row_group_size=10, compression=None)
    pieces = pieces_of(path, "parquet", path.stat().st_size // 3)
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 3), (3, 6), (6, None)]


def test_files_folders_and_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b/x.txt", "b/c/y.jsonl.gz", "b/notes.md", "out/part-000000.conllu", "z.parquet", "a.conll", "none"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = find_files(["z.parquet", "b", "*.conll", "none"])
    assert [(file.name, file.kind) for file in found] == [
        ("z.parquet", "parquet"),
        ("b/c/y.jsonl.gz", "jsonl"),
        ("b/x.txt", "text"),
        ("a.conll", "conllx"),
        ("none", "conllu"),
    ]
    assert [file.name for file in find_files(["b/**/*.md"], "lines")] == ["b/notes.md"]
    assert [file.name for file in find_files(["."], without=tmp_path / "out")] == [
        "a.conll",
        "b/c/y.jsonl.gz",
        "b/x.txt",
        "z.parquet",
    ]
    for wrong in ("nothing.txt", "*.nothing"):
        with pytest.raises(InputError, match="no such file or folder"):
            find_files([wrong])
