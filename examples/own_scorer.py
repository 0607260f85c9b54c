"""Your scorer, our inference: a log-linear model over pairs of tags and distances, in numpy.

The gradient of log p(tree) is what the tree has minus what the model expects, and the latter is ``trees.marginals``.
"""

import numpy as np

from crossarc import trees
from crossarc.core import Sentence
from crossarc.testing import random_treebank

treebank = list(random_treebank(400, seed=3, nonprojectivity=0.2))
train, test = treebank[:300], treebank[300:]
TAGS = {tag: i for i, tag in enumerate(sorted({tag for s in treebank for tag in s.upos} | {"ROOT"}))}
DISTANCES = 11  # -5 or less to 5 or more


def features(sentence: Sentence) -> np.ndarray:
    """[h, m]: which weight the arc from h to m has."""
    tags = np.array([TAGS["ROOT"], *(TAGS[tag] for tag in sentence.upos)])
    nodes = np.arange(len(tags))
    distance = np.clip(nodes[None] - nodes[:, None], -5, 5) + 5
    return (tags[:, None] * len(TAGS) + tags[None]) * DISTANCES + distance


def accuracy(weights: np.ndarray) -> float:
    found = [trees.best_tree(weights[features(s)], single_root=True).heads for s in test]
    right = sum(int((heads == s.heads)[1:].sum()) for heads, s in zip(found, test, strict=True))
    return right / sum(map(len, test))


weights = np.zeros(len(TAGS) ** 2 * DISTANCES)
for epoch in range(5):
    log_likelihood = 0.0
    for sentence in train:
        own, heads = features(sentence), sentence.heads
        scores = weights[own]
        words = np.arange(1, len(sentence) + 1)
        log_likelihood += scores[heads[1:], words].sum() - trees.log_partition(scores, single_root=True)
        np.add.at(weights, own[heads[1:], words], 0.5)
        np.add.at(weights, own, -0.5 * trees.marginals(scores, single_root=True))
    print(f"epoch {epoch + 1}: log p of a tree {log_likelihood / len(train):6.2f}, heads right {accuracy(weights):.1%}")
