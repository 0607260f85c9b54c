"""For mkdocstrings: doctests are code wherever they stand in a docstring, not only in a section of examples."""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)  # up to the next blank line
_SECTION = re.compile(r"^-{3,}$", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around them, or, after other sections, a heading above them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class and function."""
        if obj.docstring and ">>>" in obj.docstring.value:
            before, heading, examples = obj.docstring.value.partition("Examples\n---")
            obj.docstring.value = _as_code(before) + heading + examples


def _as_code(text: str) -> str:
    if _SECTION.search(text):
        return _DOCTEST.sub(r"Examples\n--------\n\g<0>", text, count=1)
    return _DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", text)
