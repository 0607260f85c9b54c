"""What is known of a tree beside its arcs, written into the sentence: MISC and comments."""

from __future__ import annotations

import math
from dataclasses import replace

from crossarc.core import Sentence
from crossarc.parsers.base import Confidence, Parsed

__all__ = ["with_confidence", "with_notes"]


def with_notes(parsed: Parsed) -> list[Sentence]:
    """The tree, or each of the k best, with whatever was asked for: rank, score, probabilities, status."""
    if not parsed.trees:
        return [_with_notes(parsed, ())]
    return [_with_notes(tree, _rank(rank, tree)) for rank, tree in enumerate(parsed.trees, 1)]


def _with_notes(parsed: Parsed, comments: tuple[str, ...]) -> Sentence:
    sentence = parsed.sentence
    if parsed.status is not None:
        comments = (*comments, f"# crossarc_status = {parsed.status}")
    if comments:
        sentence = replace(sentence, comments=(*sentence.comments, *comments))
    return sentence if parsed.confidence is None else with_confidence(sentence, parsed.confidence)


def _rank(rank: int, tree: Parsed) -> tuple[str, ...]:
    comments = (f"# crossarc_rank = {rank}", f"# crossarc_score = {tree.score:.4f}")
    return comments if tree.probability is None else (*comments, f"# crossarc_prob = {tree.probability:.6f}")


def with_confidence(sentence: Sentence, confidence: Confidence) -> Sentence:
    """The tree with probabilities in MISC (``ArcProb=0.9712|RelProb=0.9503``) and, if there are some, comments."""
    misc = [
        _noted(old, f"ArcProb={_rounded(arc)}", f"RelProb={_rounded(label)}")
        for old, arc, label in zip(sentence.misc, confidence.arcs[1:], confidence.labels[1:], strict=True)
    ]
    values = {
        "logprob": confidence.log_probability,
        "labelled_logprob": confidence.labelled_log_probability,
        "entropy": confidence.entropy,
        "margin": confidence.margin,
    }
    comments = {f"# crossarc_{name} ": value for name, value in values.items() if value is not None}
    kept = (comment for comment in sentence.comments if not comment.startswith(tuple(comments)))
    new = (f"{name}= {value:.4f}" for name, value in comments.items())
    return replace(sentence.with_columns(misc=misc), comments=(*kept, *new))


def _rounded(probability: float) -> str:
    """Rounded down, as drawings and the page do it: only what is certain is 1.0000."""
    return f"{math.floor(probability * 1e4 + 1e-9) / 1e4:.4f}"


def _noted(misc: str, *notes: str) -> str:
    names = {note.partition("=")[0] for note in notes}
    kept = [item for item in misc.split("|") if item.partition("=")[0] not in names] if misc != "_" else []
    return "|".join([*kept, *notes])
