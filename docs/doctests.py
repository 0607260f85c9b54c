"""For mkdocstrings: doctests are code wherever they stand in a docstring, not only in a section of examples."""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)  # up to the next blank line


class Doctests(griffe.Extension):
    """Puts fences around those outside of such a section."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class and function."""
        if obj.docstring and ">>>" in obj.docstring.value:
            before, heading, examples = obj.docstring.value.partition("Examples\n---")
            obj.docstring.value = _DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", before) + heading + examples
