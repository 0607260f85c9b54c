"""The text behind a treebank: tokens with the white space after them, paragraphs.

MISC tells the white space as UDPipe writes it: nothing is one space, ``SpaceAfter=No`` none, ``SpacesAfter=\\s\\n`` a
space and a line break; ``SpacesBefore`` is that before the first token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crossarc.core import Sentence

__all__ = ["Token", "paragraphs_of", "raw_text", "spaces_in_misc", "text_of", "tokens_of"]


class Token(NamedTuple):
    """A token as it is in the text: one word or several."""

    form: str
    words: tuple[str, ...]
    misc: str

    @property
    def space(self) -> bool:
        """Whether white space follows."""
        return "SpaceAfter=No" not in self.misc.split("|")


def tokens_of(sentence: Sentence) -> list[Token]:
    """The tokens of a sentence."""
    multiword = {insert.span[0]: insert for insert in sentence.inserts if not insert.is_empty_node}
    tokens = []
    word = 1
    while word <= len(sentence):
        if word in multiword:
            row, span = multiword[word].row, multiword[word].span
            tokens.append(Token(row.form, sentence.form[span[0] - 1 : span[-1]], row.misc))
            word = span[-1] + 1
        else:
            form = sentence.form[word - 1]
            tokens.append(Token(form, (form,), sentence.misc[word - 1]))
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


def raw_text(sentences: Iterable[Sentence]) -> str:
    """The text of a treebank, with blank lines between paragraphs."""
    paragraphs = (
        "".join(token.form + " " * token.space for sentence in paragraph for token in sentence).strip()
        for paragraph in paragraphs_of(sentences)
    )
    return "\n\n".join(paragraphs) + "\n"


def _usual_spaces(tokens: Sequence[Token]) -> list[Token]:
    """No space before what closes, and after what opens."""
    following = [*(token.form[:1] for token in tokens[1:]), ""]
    return [
        token._replace(misc="SpaceAfter=No") if token.form in _OPENING or after in _CLOSING else token
        for token, after in zip(tokens, following, strict=True)
    ]


_OPENING = frozenset("([{¿¡«“„")
_CLOSING = frozenset(".,;:!?)]}»”…")

_ESCAPES = {" ": "s", "\t": "t", "\r": "r", "\n": "n"}
_NAMED = {letter: space for space, letter in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(?:u([0-9A-F]{4})|(.))")


def spaces_in_misc(after: str, before: str = "") -> str:
    """MISC of a token between this white space."""
    parts = [f"SpacesBefore={_escape(before)}"] if before else []
    if not after:
        parts.append("SpaceAfter=No")
    elif after != " ":
        parts.append(f"SpacesAfter={_escape(after)}")
    return "|".join(parts) or "_"


def _escape(spaces: str) -> str:
    return "".join(f"\\{_ESCAPES[c]}" if c in _ESCAPES else f"\\u{ord(c):04X}" for c in spaces)


def text_of(sentences: Iterable[Sentence]) -> str:
    """The text of sentences, character for character if their MISC tells."""
    return "".join(
        _spaces(token.misc, "SpacesBefore", "") + token.form + _spaces(token.misc, "SpacesAfter", " " * token.space)
        for sentence in sentences
        for token in tokens_of(sentence)
    )


def _spaces(misc: str, key: str, otherwise: str) -> str:
    for item in misc.split("|"):
        if item.startswith(f"{key}="):
            return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else _NAMED.get(m[2], m[2]), item[len(key) + 1 :])
    return otherwise
