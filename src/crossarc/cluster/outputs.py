"""Trees of a shard to its output file, CoNLL-U or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

from crossarc.cluster.folder import new_file
from crossarc.core import Sentence
from crossarc.io.conllu import format_sentence
from crossarc.io.parquet import write_parquet
from crossarc.io.streams import compressed

__all__ = ["FORMATS", "OutputFormat", "write_errors", "write_trees"]

OutputFormat = Literal["conllu", "conllu.gz", "conllu.xz", "conllu.zst", "parquet"]  # how names of output files end
FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)


def write_trees(
    trees: Iterable[Sentence], target: Path, temporary: Path, *, probabilities: bool, document: str | None
) -> None:
    """Write trees as they come, in flat memory; see ``new_file``."""
    with new_file(target, temporary) as raw:
        if target.suffix == ".parquet":
            write_parquet(trees, raw, probabilities=probabilities, document=document)
            return
        with compressed(raw, target.name) as stream:
            for tree in trees:
                stream.write(format_sentence(tree).encode())


def write_errors(errors: list[dict[str, Any]], target: Path, temporary: Path) -> None:
    """Write the side file of a shard, if there is something to say."""
    if not errors:
        target.unlink(missing_ok=True)  # of an earlier input
        return
    with new_file(target, temporary) as stream:
        stream.writelines(json.dumps(error, ensure_ascii=False).encode() + b"\n" for error in errors)
