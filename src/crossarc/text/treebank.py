"""The text behind a treebank: tokens with the white space after them, paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from crossarc.core import Sentence

__all__ = ["Token", "paragraphs_of", "tokens_of"]


class Token(NamedTuple):
    """A token as it is in the text: one word or several."""

    form: str
    words: tuple[str, ...]
    space: bool  # whether white space follows


def tokens_of(sentence: Sentence) -> list[Token]:
    """The tokens of a sentence."""
    multiword = {insert.span[0]: insert for insert in sentence.inserts if not insert.is_empty_node}
    tokens = []
    word = 1
    while word <= len(sentence):
        if word in multiword:
            row, span = multiword[word].row, multiword[word].span
            tokens.append(Token(row.form, sentence.form[span[0] - 1 : span[-1]], "SpaceAfter=No" not in row.misc))
            word = span[-1] + 1
        else:
            form = sentence.form[word - 1]
            tokens.append(Token(form, (form,), "SpaceAfter=No" not in sentence.misc[word - 1]))
            word += 1
    return tokens


def paragraphs_of(sentences: Iterable[Sentence]) -> list[list[list[Token]]]:
    """Paragraphs of sentences of tokens. A treebank that never says where there is no space gets the usual spaces."""
    paragraphs: list[list[list[Token]]] = []
    for sentence in sentences:
        if not paragraphs or any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments):
            paragraphs.append([])
        paragraphs[-1].append(tokens_of(sentence))
    if all(token.space for paragraph in paragraphs for tokens in paragraph for token in tokens):
        return [[_usual_spaces(tokens) for tokens in paragraph] for paragraph in paragraphs]
    return paragraphs


def _usual_spaces(tokens: Sequence[Token]) -> list[Token]:
    """No space before what closes, and after what opens."""
    following = [*tokens[1:], Token("", (), True)]
    return [
        token._replace(space=not (token.form in _OPENING or after.form[:1] in _CLOSING and after.form))
        for token, after in zip(tokens, following, strict=True)
    ]


_OPENING = frozenset("([{¿¡«“„")
_CLOSING = frozenset(".,;:!?)]}»”…")
