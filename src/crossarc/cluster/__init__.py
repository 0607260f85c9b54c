"""More text than one machine: many files, parsed disk to disk by any number of processes and machines.

What is done is in the files of the output folder and nowhere else: a worker may die at any time, and so may all.
"""

from crossarc.cluster.corpus import parse_corpus
from crossarc.cluster.status import CorpusStatus, check_outputs, corpus_status

__all__ = ["CorpusStatus", "check_outputs", "corpus_status", "parse_corpus"]
