"""The features that LINK saw at one pair of words."""

import numpy as np

from crossarc._jit import jit
from crossarc.features._hashing import sentence_attributes
from crossarc.parsers.covington._features import extract_features, new_link_features, score_actions_linearly
from crossarc.parsers.covington._graph import begin_word, is_done, new_graph, pass_over
from crossarc.parsers.covington._parse import RejectedArcs, attach_the_rest, link


@jit
def places_at_link(batch, model, constraints, options, i, j):
    """Where the weights of the features of (i, j) are, given the graph that the parser had when it came to that pair.

    It never comes to some pairs; then as if it came to them in the end. Templates whose atoms have one value come
    first, with one place each; then the others, and the second result is where the places of each of these end.
    """
    size = batch.starts[1]
    graph = new_graph(np.full(size, -1), constraints.allowed_arcs, options.single_root)
    extracted = new_link_features(sentence_attributes(batch, 0), model, constraints.allowed_labels.shape[1])
    rejected = RejectedArcs(np.full(size, -1), np.full(size, -np.inf), np.full(size, -np.inf))
    evidence = np.empty((0, 0), np.float32)
    for right in range(1, size):
        begin_word(graph)
        for left in range(right - 1, -1, -1):
            if is_done(graph, left, right, options.max_degree):
                break
            if left == i and right == j:
                extract_features(extracted, model.features, graph, i, j)
                score_actions_linearly(extracted, model)
                return extracted.places[: extracted.used[0]], extracted.ends[: len(model.features.link_sets.sets)]
            link(
                graph, extracted, model, constraints.allowed_labels, rejected, evidence, left, right, options.max_degree
            )
            pass_over(graph, left, right)
    attach_the_rest(graph, rejected, evidence, options.max_degree, options.rest_to_root)
    begin_word(graph)
    for between in range(j - 1, i, -1):
        pass_over(graph, between, j)
    extract_features(extracted, model.features, graph, i, j)
    score_actions_linearly(extracted, model)
    return extracted.places[: extracted.used[0]], extracted.ends[: len(model.features.link_sets.sets)]
