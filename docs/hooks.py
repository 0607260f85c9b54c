"""For mkdocs: what lies outside of docs/ has no page on the site, so that links to it become the names of files."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page, before it is rendered."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def named(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        return match[0] if path.startswith("docs/") else f"{match[1]} (`{path}`)"

    return _LINK.sub(named, markdown)
