"""A sentence as the numbers that the feature kernels add up."""

from __future__ import annotations

import numpy as np

from crossarc.core import Sentence
from crossarc.scoring._indices import Encoded, hash_slots, mix_all
from crossarc.scoring.attributes import attributes_of
from crossarc.scoring.templates import PARTS, TemplateSet

__all__ = ["encode"]


def encode(sentence: Sentence, templates: TemplateSet) -> Encoded:
    """Everything that features need to know of a sentence; made once, used by every part."""
    attributes = attributes_of(sentence)
    n_nodes = len(sentence) + 2  # node 0, the words, and "no such word"
    slots = {}
    for part, names in PARTS.items():
        compiled = templates.parts[part]
        out = np.zeros((len(names), n_nodes, len(compiled.lines)), dtype=np.uint64)
        hash_slots(attributes.words, compiled.atoms, compiled.bounds, compiled.seeds, out)
        slots[part] = out
    heads, modifiers = mix_all(attributes.features)
    counts = attributes.counts if templates.pairs else np.zeros_like(attributes.counts)
    # tags are numbered in the order in which they come; a kernel keeps a set of them in 64 bits
    numbers: dict[str, int] = {}
    tags = np.array([0, *(min(numbers.setdefault(tag, len(numbers)), 63) for tag in sentence.upos)], dtype=np.uint64)
    return Encoded(
        slots["arc"], slots["between"], tags, slots["sibling"], slots["grandparent"], slots["label"], heads, modifiers, counts
    )
