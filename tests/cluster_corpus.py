"""A corpus to parse, and what comes of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import crossarc
from crossarc.cluster import parse_corpus
from crossarc.testing import random_treebank
from trained import trained


def checksums(output: Path) -> list[tuple[str, str]]:
    """The sorted sha256 of all outputs."""
    return sorted((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in output.glob("part-*"))


class Corpus:
    """Files to parse, a model, and what comes of them in one process without faults."""

    shard_size = 0.04

    def __init__(self, folder: Path) -> None:
        self.folder, self.model = folder, folder / "my.crossarc"
        trained("order 1").save(self.model)
        self.inputs = [folder / "large.conllu", folder / "small.conllu.gz", folder / "other.conllu"]
        trees = list(random_treebank(1100, seed=11))
        for path, some in zip(self.inputs, (trees[:900], trees[900:1000], trees[1000:]), strict=True):
            crossarc.write(some, path)
        self.status = parse_corpus(self.inputs, folder / "whole", self.model, shard_size=self.shard_size)
        self.expected = checksums(folder / "whole")
