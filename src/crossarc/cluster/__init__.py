"""More text than one machine: many files, parsed disk to disk by any number of processes and machines.

What is done is in the files of the output folder and nowhere else: a worker may die at any time, and so may all.
Parsers are trained by the same workers, which hold the shards of a treebank (``LocalWorkers``, ``RayWorkers``).
"""

from crossarc.cluster.corpus import parse_corpus
from crossarc.cluster.local_workers import LocalWorkers
from crossarc.cluster.ray_workers import RayWorkers
from crossarc.cluster.status import CorpusStatus, check_outputs, corpus_status

__all__ = ["CorpusStatus", "LocalWorkers", "RayWorkers", "check_outputs", "corpus_status", "parse_corpus"]
