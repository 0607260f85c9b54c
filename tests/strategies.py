"""What hypothesis draws: score arrays of every awkward kind."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def score_arrays(draw, max_words: int = 5, max_labels: int = 0, min_words: int = 0, spread: float | None = None):
    """Scores of shape (n+1, n+1), or (n+1, n+1, L) if max_labels > 0: continuous, tied or masked, tiny to huge."""
    n = draw(st.integers(min_words, max_words))
    shape = (n + 1, n + 1) + ((draw(st.integers(1, max_labels)),) if max_labels else ())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "integers", "constant"]))
    if kind == "normal":
        scores = rng.normal(size=shape) * (spread or draw(st.sampled_from([1e-3, 1.0, 10.0, 300.0])))
    elif kind == "integers":
        scores = rng.integers(-2, 3, size=shape).astype(float)
    else:
        scores = np.full(shape, draw(st.sampled_from([0.0, -700.0, 700.0])) if spread is None else 0.0)
    masked = draw(st.sampled_from([0.0, 0.0, 0.2, 0.6]))
    scores[rng.random(shape) < masked] = -np.inf
    return scores
