from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from browsing import DESKTOP, GOLD, PATIENT, SENTENCES, TEXT, open_file, wait_until
from crossarc.pipeline import Pipeline, train_components
from serving import serving
from trained import DEV, TRAIN, trained


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first-order parser that knows probabilities."""
    path = tmp_path_factory.mktemp("server") / "random-order-1.crossarc"
    trained("order 1").save(path)
    return path


@pytest.fixture(scope="session")
def text_model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same parser, with all that it takes to read raw text."""
    path = tmp_path_factory.mktemp("server") / "random-text.crossarc"
    annotated = train_components(TRAIN, ["segmenter", "tagger", "lemmatizer"], dev=DEV)
    about = {"attribution": "The makers of random trees", "licence": "CC0"}
    Pipeline(trained("order 1"), **annotated.components, about=about).save(path)
    return path


try:
    import playwright.sync_api as playwright
except ImportError:
    playwright = None
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def address(model_file: Path) -> Iterator[str]:
    """Where the service is that the page belongs to."""
    with serving(model_file, options=PATIENT) as (address, _):
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright; tests are skipped where one of them is missing."""
    if playwright is None or CHROMIUM is None:
        pytest.skip("no Playwright or no chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """A function that opens the page in a browser of its own; in the end nothing may have gone wrong in it."""
    problems: list[str] = []
    contexts = []

    def open_page(address: str, ready: str = "#parse:enabled", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith((address, "blob:")) else problems.append(request.url),
        )
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(address)
        page.wait_for_selector(ready, state="attached")
        return page

    def expect(*words: str) -> None:
        """The browser notes in its console what the service has refused; only such things may be there."""
        assert problems
        assert all(any(word in problem for word in words) for problem in problems), problems
        problems.clear()

    open_page.expect = expect  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def opened(visit: Any, address: str) -> Any:
    """A function that opens the page with our sentences, parsed."""

    def open_page(**options: Any) -> Any:
        page = visit(address, **options)
        page.evaluate("document.getElementById('typing').open = true")
        page.fill("#text", TEXT)
        page.click("#parse")
        wait_until(page, lambda: page.locator("#list li").count() == len(SENTENCES))
        page.wait_for_selector("#whose")  # trees are there, and they are the parser's
        page.wait_for_selector("#trees button:nth-child(5)")
        return page

    open_page.expect = visit.expect  # type: ignore[attr-defined]
    return open_page


@pytest.fixture
def desktop(opened: Any) -> Any:
    return opened()


@pytest.fixture
def gold(visit: Any, address: str, tmp_path: Path) -> Any:
    """The page with a treebank that has trees."""
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    return open_file(visit(address), path, len(SENTENCES))
