"""A sentence in notebooks, and as the objects of other libraries.

Core knows numpy and the standard library only. What needs more is in ``drawing`` and ``integrations``, a module for
each library, which is imported when somebody asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crossarc.core.errors import InputError

if TYPE_CHECKING:
    from conllu import TokenList
    from networkx import DiGraph
    from nltk.parse import DependencyGraph

    from crossarc.core.sentence import Sentence

__all__ = ["Conversions"]


class Conversions:
    """What ``Sentence`` inherits: ``to_...`` and ``Sentence.from_...``."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        """The drawing that a notebook shows; a sentence with nothing to draw is shown as text."""
        if set(self.head) <= {"_"}:  # type: ignore[attr-defined]
            return None
        try:
            drawing: str = import_module("crossarc.drawing").to_svg(self)
        except InputError:  # heads that are no words: a notebook is no place for a stack trace
            return None
        return drawing

    def to_networkx(self) -> DiGraph[int]:
        """A graph of networkx: nodes 0 (the root) to n, an edge from each head (``integrations/networkx.py``)."""
        return _integration("networkx").graph_of(self)

    @staticmethod
    def from_networkx(graph: DiGraph[int]) -> Sentence:
        """The sentence of a graph like that."""
        return _integration("networkx").sentence_of(graph)  # type: ignore[no-any-return]

    def to_nltk(self) -> DependencyGraph:
        """A ``DependencyGraph`` of NLTK (``integrations/nltk.py``)."""
        return _integration("nltk").graph_of(self)

    @staticmethod
    def from_nltk(graph: DependencyGraph) -> Sentence:
        """The sentence of a ``DependencyGraph``."""
        return _integration("nltk").sentence_of(graph)  # type: ignore[no-any-return]

    def to_tokenlist(self) -> TokenList:
        """A ``TokenList`` of the package conllu, with all there is (``integrations/conllu.py``)."""
        return _integration("conllu").tokens_of(self)

    @staticmethod
    def from_tokenlist(tokens: TokenList) -> Sentence:
        """The sentence of a ``TokenList``."""
        return _integration("conllu").sentence_of(tokens)  # type: ignore[no-any-return]

    def to_displacy(self) -> dict[str, Any]:
        """What spaCy's ``displacy.render(..., manual=True)`` draws (``integrations/displacy.py``)."""
        return _integration("displacy").drawing_of(self)  # type: ignore[no-any-return]

    @staticmethod
    def from_displacy(drawing: dict[str, Any]) -> Sentence:
        """The sentence of such a drawing."""
        return _integration("displacy").sentence_of(drawing)  # type: ignore[no-any-return]


def _integration(name: str) -> Any:
    return import_module(f"crossarc.integrations.{name}")
