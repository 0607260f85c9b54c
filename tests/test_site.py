"""The documentation as a site: it is built without a warning, nothing leads nowhere, and the reference is complete."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
pytest.importorskip("mkdocstrings")

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("img", "script") and found.get("src"):
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") == "stylesheet":
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True)
    assert built.returncode == 0, built.stderr.decode()
    return {path: Page(path) for path in folder.rglob("*.html") if path.name != "404.html"}


def test_no_link_leads_nowhere(site):
    assert len(site) > 30
    for path, page in site.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path}: {link}"
            if parts.fragment and target in site:
                assert unquote(parts.fragment) in site[target].ids, f"{path}: {link}"


def test_nothing_is_loaded_from_other_hosts(site):
    for page in site.values():
        assert not [source for source in page.loaded if urlsplit(source).netloc]


@pytest.mark.parametrize("package", ["crossarc.trees", "crossarc.core"])
def test_the_reference_has_everything_public(site, package):
    ids = set().union(*(page.ids for page in site.values()))
    module = importlib.import_module(package)
    for name in module.__all__:
        own = getattr(module, name)
        home = getattr(own, "__module__", None)
        if callable(own) and home and home.startswith("crossarc"):
            assert f"{home}.{name}" in ids, name


def test_doctests_are_code(site):
    for path in site:
        assert "```" not in path.read_text(encoding="utf-8"), path


def test_every_document_has_a_page():
    named = set(re.findall(r"^ +- ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert named == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
