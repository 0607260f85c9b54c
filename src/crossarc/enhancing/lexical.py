"""Labels with words in them: ``obl:with`` is learnt as ``obl:{case}``, and the word is put back when it is used.

A label is parts with colons between them (and ``>``, where an empty node was collapsed). Each part but the first that
is what a *source* says is replaced by the name of the source: the first of those below that says it.

==============================  =====================================================================================
``{case}``, ``{mark}``          the word's adpositions, its subordinating conjunctions: lemmas, with those of fixed
                                expressions (``because_of``)
``{cc}``                        the coordinating conjunctions of a conjunct, or of the next one that has some
``{advmod}``                    its first adverb (``advcl:when``)
``{case.form}`` ...             forms in the place of lemmas (``according_to``)
``{case.first}``, ``{case.last}`` ...  only the first, or the last, of several
``{Case}``                      its morphological case (``obl:v:loc``)
``{1.case}`` ...                the same of the next word on the way to the head, for what conjuncts share
``{rel.case}`` ...              the same of the relative pronoun, for the antecedent of a relative clause
==============================  =====================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from crossarc.enhancing.tree_view import TreeView

__all__ = ["delexicalized", "lexicalized", "sources_of", "words_of"]

_PART = re.compile(r"[^:>|]+")
_SOURCE = re.compile(r":\{([^{}]*)\}")
_UNFIT = re.compile(r"[\s:>|{}]")  # of labels: it would not be read as one part

Sources = dict[str, str]  # what each source says


def words_of(tree: TreeView, word: int) -> Sources:
    """What the sources of one word say: those that say something."""
    kinds = {
        "case": tree.with_relation(word, "case"),
        "mark": tree.with_relation(word, "mark"),
        "cc": tree.conjunctions(word),
        "advmod": tree.with_relation(word, "advmod")[:1],
    }
    found: Sources = {}
    for kind, words in kinds.items():
        if words:
            found |= {f"{kind}{name}": text for name, text in _variants(tree, words)}
    if case := tree.morphology[word].get("Case"):
        found["Case"] = case.lower()
    return {name: text for name, text in found.items() if not _UNFIT.search(text)}


def _variants(tree: TreeView, words: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The ways to say some function words, the usual one first."""
    yield "", tree.expression(words, tree.lemmas)
    yield ".form", tree.expression(words, tree.forms)
    if len(words) > 1:
        yield ".first", tree.expression(words[:1], tree.lemmas)
        yield ".last", tree.expression(words[-1:], tree.lemmas)


def sources_of(own: Sources, others: Mapping[str, Sources]) -> Sources:
    """The sources of an arc: those of the modifier, then those of other words by their names."""
    return own | {f"{name}.{source}": text for name, words in others.items() for source, text in words.items()}


def delexicalized(label: str, sources: Sources) -> str:
    """The label with the names of sources in the place of what they say.

    >>> delexicalized("obl:in:loc", {"case": "in", "Case": "loc"}), delexicalized("nsubj:pass", {})
    ('obl:{case}:{Case}', 'nsubj:pass')
    """
    names = {text: source for source, text in reversed(sources.items())}

    def replaced(part: re.Match[str]) -> str:
        is_subtype = label[part.start() - 1 : part.start()] == ":"
        return f"{{{names[part[0]]}}}" if is_subtype and part[0] in names else part[0]

    return _PART.sub(replaced, label)


def lexicalized(template: str, sources: Sources) -> str:
    """The label that a template stands for; without the parts that no source says.

    >>> lexicalized("obl:{case}", {"case": "with"}), lexicalized("obl:{case}", {})
    ('obl:with', 'obl')
    """
    return _SOURCE.sub(lambda name: f":{sources[name[1]]}" if name[1] in sources else "", template)
