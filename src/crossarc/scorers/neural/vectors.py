"""Vectors of pieces of words without their context, for networks that are trained from scratch otherwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.scorers.neural.transformer import Pretrained

__all__ = ["piece_vectors"]


def piece_vectors(pretrained: Pretrained, size: int) -> NDArray[np.float32]:
    """``[i, :]``: the embedding that an encoder has of piece i, in its ``size`` principal components."""
    embeddings = pretrained.weights["embeddings.word_embeddings.weight"][: len(pretrained.pieces.pieces)]
    centred = embeddings.astype(np.float64) - embeddings.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)  # the largest come last
    found = np.zeros((len(centred), size), np.float32)
    kept = directions[:, ::-1][:, :size]
    found[:, : kept.shape[1]] = centred @ kept
    return found
