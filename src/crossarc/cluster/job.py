"""What is to be done with a corpus, written down in its output folder so that all who work on it do the same."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from crossarc._version import __version__
from crossarc.cluster.folder import Folder, checksum, new_file
from crossarc.cluster.inputs import File, Kind, find_files
from crossarc.cluster.journal import Journal
from crossarc.cluster.outputs import OutputFormat
from crossarc.cluster.reading import Fields
from crossarc.cluster.shards import Piece, Shard, make_shards
from crossarc.core import CrossarcError
from crossarc.io import FORMATS
from crossarc.models.installed import file_of
from crossarc.parsers.base import ParseOptions
from crossarc.pipeline import load

__all__ = ["CorpusJob", "input_checksum", "prepare", "read_shards"]


@dataclass(frozen=True)
class CorpusJob:
    """How the sentences of a corpus become trees."""

    options: ParseOptions = field(default_factory=ParseOptions)
    retag: bool = False  # whether given tags and lemmas are replaced
    read_as: Kind | None = None  # what the files are; by default what their names say
    fields: Fields = field(default_factory=Fields)
    format: OutputFormat = "conllu"
    shard_size: float = 20  # millions of bytes of input

    def described(self, model: Path) -> dict[str, Any]:
        """All that the output depends on, as the manifest has it."""
        options = {own.name: _plain(getattr(self.options, own.name)) for own in fields(self.options)}
        own = {"retag": self.retag, "read_as": self.read_as, "format": self.format, "shard_size": self.shard_size}
        of_fields = {"id_field": self.fields.id, "text_field": self.fields.text}
        return {"model": checksum(model), "crossarc": __version__, **options, **own, **of_fields}


def _plain(value: Any) -> Any:
    """A value, or what is the same for the same constraints and rules."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return hashlib.sha256(pickle.dumps(value)).hexdigest()


def prepare(folder: Folder, job: CorpusJob, inputs: Iterable[str | os.PathLike[str]], model: str | Path) -> str:
    """Write job, shards and model to the folder, or check that they are what it was made for: the job's checksum.

    Several processes may do this at once: they write the same.
    """
    file = file_of(model)
    if not file.is_file():
        load(model)  # says what is wrong
    described = job.described(file)
    files = find_files(inputs, job.read_as, without=folder.path)
    if folder.job.exists():
        _check(folder, described, files)
    else:
        _check_model(job, files, model)
        _write(folder, described, job, files, file)
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _check_model(job: CorpusJob, files: Sequence[File], model: str | Path) -> None:
    """Refuse what the model cannot do before anything is written."""
    pipeline = load(model)
    pipeline.check(job.options, retag=job.retag)
    if any(file.kind not in FORMATS for file in files):
        pipeline.segment("")


def _write(folder: Folder, described: dict[str, Any], job: CorpusJob, files: Iterable[File], model: Path) -> None:
    if folder.path.is_dir() and any(folder.path.glob("part-*")):
        raise CrossarcError(f"{folder.path}: has part-* files, but no manifest: take another folder")
    folder.make()
    own = Journal(folder).worker
    with new_file(folder.model, folder.unfinished / f"{own}.model") as copy, model.open("rb") as original:
        shutil.copyfileobj(original, copy)
    with new_file(folder.shards, folder.unfinished / f"{own}.shards") as stream:
        for shard in make_shards(files, max(int(job.shard_size * 1e6), 1)):
            stream.write(json.dumps(shard).encode() + b"\n")
    with new_file(folder.job, folder.unfinished / f"{own}.job") as stream:  # the last, for it says that all is there
        stream.write(json.dumps(described, indent=2).encode())


def _check(folder: Folder, described: dict[str, Any], files: Sequence[File]) -> None:
    before: dict[str, Any] = json.loads(folder.job.read_bytes())
    for name, value in described.items():
        if before.get(name) != value:
            told = f"{name} = {before.get(name)}, not {value}"
            reason = "with another model" if name == "model" else f"with {told}"
            raise CrossarcError(f"{folder.path}: begun {reason}: take another folder, or what it was begun with")
    paths = {piece.path for shard in read_shards(folder) for piece in shard.pieces}
    changed = paths.symmetric_difference(file.path for file in files)
    if changed:
        one = min(changed)
        what = "was not there when it was begun" if one not in paths else "is not there any more"
        raise CrossarcError(f"{folder.path}: the input has changed: {one} {what} ({len(changed)} such files)")


def read_shards(folder: Folder) -> list[Shard]:
    """The shards of a corpus."""
    if not folder.job.exists():
        raise CrossarcError(f"{folder.path}: no corpus has been parsed to this folder")
    with folder.shards.open(encoding="utf-8") as lines:
        return [
            Shard(number, size, tuple(Piece(*piece) for piece in pieces))
            for number, size, pieces in map(json.loads, lines)
        ]


def input_checksum(shard: Shard) -> str:
    """The checksum of what a shard is read from: ranges of files, their sizes and times."""
    return hashlib.sha256(json.dumps([(*piece, *_stamp(piece.path)) for piece in shard.pieces]).encode()).hexdigest()


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
