"""Mutated treebanks and texts, plain and compressed, through the readers: one clear error, or nothing lost.

    python tests/fuzz/readers.py                      # until it is interrupted
    python tests/fuzz/readers.py --count 20000 --seed 7

The input that breaks a promise is written to a file, and its seed is named.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import io
import lzma
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path

from memory import most_memory

from crossarc.core import InputError, InputWarning, Sentence
from crossarc.evaluation.graphs import tree_as_graph
from crossarc.io import FORMATTERS, Format, format_of, read
from crossarc.io.conllx import lost_in_conllx
from crossarc.io.parquet import write_parquet
from crossarc.io.streams import open_input
from crossarc.io.text import read_text
from crossarc.io.validate import problems_by_sentence

__all__ = ["check", "inputs", "run"]

HANDMADE = Path(__file__).parents[1] / "data" / "handmade.conllu"
LONGEST_MESSAGE = 500  # characters, beside names of files and sentences
HANG = 60  # seconds after which all that runs is shown, and the process ends

_PIECES = [
    *(
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"\r\r\n",
        b"\t",
        b"\t\t",
        b" ",
        b"_",
        b"#",
        b"# sent_id = x\n",
        b"|",
        b"=",
        b"%",
    ),
    *(b"0", b"1", b"-1", b"1-2", b"0.1", b"1.1", b"9" * 5000, b"9" * 12, b"1-" + b"9" * 4400, b"1." + b"1" * 4400),
    *(b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\x00", b"\x0b", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80"),
    *(
        b"PHead=1",
        b"PDeprel=a|b",
        b"PDeprel=",
        b"|",
        b"%",
        b"%7C",
        b"%25",
        b"a b",
        b"<script>",
        b"\x1b[31m",
        b"2:nsubj|1:x",
    ),
]


def inputs(seed: int) -> Iterator[tuple[str, bytes]]:
    """Names of files, which say their format, and what is in them."""
    rng = random.Random(seed)
    treebank = HANDMADE.read_bytes()
    sentences = list(read(io.BytesIO(treebank), format="conllu"))
    sources = {
        "x.conllu": treebank,
        "x.conllx": "".join(map(FORMATTERS["conllx"], sentences)).encode(),
        "x.sdp": "".join(map(FORMATTERS["sdp"], map(tree_as_graph, sentences))).encode(),
        "x.txt": treebank,
    }
    compressions = [(".gz", gzip.compress), (".xz", lzma.compress)]
    kinds = list(sources)
    if find_spec("pyarrow"):
        kinds.append("x.parquet")
        compressions.append((".zst", _as_zstd))
    while True:
        kind = rng.choice(kinds)
        if kind == "x.parquet":
            yield kind, _damaged(_as_parquet(rng.sample(sentences, rng.randint(1, 4))), rng)
            continue
        content = mutated(_excerpt(sources[kind], rng), rng)
        if rng.random() < 0.2:
            suffix, compress = rng.choice(compressions)
            kind, content = kind + suffix, _damaged(compress(content), rng)
        yield kind, content


def _as_zstd(content: bytes) -> bytes:
    import pyarrow

    return bytes(pyarrow.compress(content, codec="zstd", asbytes=True))


def _as_parquet(sentences: list[Sentence]) -> bytes:
    stream = io.BytesIO()
    write_parquet(sentences, stream)
    return stream.getvalue()


def _excerpt(treebank: bytes, rng: random.Random) -> bytes:
    """Some sentences."""
    blocks = treebank.split(b"\n\n")
    first = rng.randrange(len(blocks))
    return b"\n\n".join(blocks[first : first + rng.randint(1, 4)]) + b"\n\n"


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Bytes, values of columns and lines changed, doubled, moved, left out."""
    changed = bytearray(content)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 8])):
        change: Callable[[bytearray, random.Random], None] = rng.choice(
            [_change_value, _change_value, _insert, _flip, _cut, _double]
        )
        if changed:
            change(changed, rng)
    return bytes(changed)


def _change_value(content: bytearray, rng: random.Random) -> None:
    """A column gets another value, one of another place or one that is seldom met."""
    values = list(re.finditer(rb"[^\t\n]+", content))
    if values:
        chosen = rng.choice(values)
        content[chosen.start() : chosen.end()] = rng.choice([*_PIECES, rng.choice(values)[0]])


def _insert(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content))
    content[at:at] = rng.choice(_PIECES)


def _flip(content: bytearray, rng: random.Random) -> None:
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _cut(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content))
    del content[at : at + rng.choice([1, 3, 30, len(content)])]


def _double(content: bytearray, rng: random.Random) -> None:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    content[:] = b"\n".join(lines)


def _damaged(compressed: bytes, rng: random.Random) -> bytes:
    changed = bytearray(compressed)
    for _ in range(rng.choice([0, 1, 1, 3])):
        change: Callable[[bytearray, random.Random], None] = rng.choice([_flip, _cut])
        if changed:
            change(changed, rng)
    return bytes(changed)


def check(name: str, content: bytes, folder: Path) -> str:
    """Read the content as a file of that name; what came of it. Raises ``AssertionError`` if a promise is broken."""
    path = folder / name
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            if ".txt" in path.suffixes:
                return _check_text(path)
            if path.suffix == ".parquet":
                return _check_table(path)
            return _check_treebank(path, format_of(name))
    except InputError as error:
        _check_error(error, path)
        return "refused"


def _check_error(error: InputError, path: Path) -> None:
    """It names the file, in one line that a person can read."""
    assert error.place.path == str(path), error
    assert "\n" not in error.message, error
    assert len(error.message) < LONGEST_MESSAGE, error


def _check_text(path: Path) -> str:
    """All of a text is handed on."""
    content = path.read_bytes() if path.suffix == ".txt" else None
    with open_input(path) as stream:
        pieces = [block.content for block in read_text(stream, str(path))]
    assert content is None or "".join(pieces) == content.decode().removeprefix("\ufeff")
    return "read"


def _check_table(path: Path) -> str:
    """What is read can be written as CoNLL-U, and read as the same."""
    sentences = list(read(path))
    again = _reread("".join(map(FORMATTERS["conllu"], sentences)), "conllu") if sentences else []
    assert again == [sentence.columns for sentence in sentences], "not the same as CoNLL-U"
    return "read"


def _check_treebank(path: Path, format: Format) -> str:
    """What is read can be written, and read as the same; ``validate`` finds a problem where the reader does."""
    left_out: list[InputError] = []
    sentences = list(read(path, format=format, on_error=left_out.append))
    found = sum(bool(problems) for _, problems in problems_by_sentence(path))
    assert found >= len(left_out), "validate finds less than the reader"
    text = "".join(map(FORMATTERS[format], sentences))
    if not sentences:
        raise left_out[0]
    again = _reread(text, format)
    assert again == [sentence.columns for sentence in sentences], "not the same when it is read again"
    _check_ways_between(sentences, text, format)
    if left_out:
        raise left_out[0]
    if path.suffix in (".conllu", ".conllx"):
        assert text == _as_written(path.read_bytes()), "written otherwise than it was read"
    return "read"


def _check_ways_between(sentences: list[Sentence], text: str, format: Format) -> None:
    """CoNLL-X and SDP to CoNLL-U and back lose nothing; the other way loses what is counted."""
    if format == "conllu":
        as_conllx = "".join(map(FORMATTERS["conllx"], sentences))
        for columns, sentence in zip(_reread(as_conllx, "conllx"), sentences, strict=True):
            if not any(lost_in_conllx(sentence).values()):
                assert columns == sentence.columns, "lost without being counted"
        return
    as_conllu = "".join(map(FORMATTERS["conllu"], sentences))
    back = list(read(io.BytesIO(as_conllu.encode()), format="conllu"))
    assert "".join(map(FORMATTERS[format], back)) == text, "lost on the way through CoNLL-U"


def _reread(text: str, format: Format) -> list[tuple[tuple[str, ...], ...]]:
    return [sentence.columns for sentence in read(io.BytesIO(text.encode()), format=format)]


def _as_written(content: bytes) -> str:
    """The file with what its reader warns of mended: line ends, blank lines, a byte order mark."""
    text = re.sub("\r+\n", "\n", content.decode().removeprefix("\ufeff"))
    return re.sub("\n{3,}", "\n\n", text).strip("\n") + "\n\n"


def run(seed: int, number: int | None) -> Counter[str]:
    """Check so many inputs, or all there are: how many were read, and how many refused."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for i, (name, content) in enumerate(islice(inputs(seed), number)):
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                outcomes[check(name, content, Path(folder))] += 1
            except Exception:
                kept = Path(tempfile.gettempdir()) / f"crossarc-{seed}-{i}-{name}"
                kept.write_bytes(content)
                print(f"input {i} of seed {seed}: {kept}", file=sys.stderr)
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="inputs to try; without end if it is not given")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seeds = count(options.seed) if options.count is None else [options.seed]
    for seed in seeds:
        outcomes = run(seed, options.count or 10_000)
        megabytes = most_memory() // 1_000_000
        print(f"seed {seed}: {outcomes['read']} read, {outcomes['refused']} refused, {megabytes} MB at most")


if __name__ == "__main__":
    main()
