"""The page for everybody, in a real browser: axe-core finds nothing serious, whatever is open."""

from __future__ import annotations

import pytest

from browsing import GOLD, PHONE, open_file, wait_for_opinion, wait_until
from crossarc.io.conllu import format_sentence
from trained import TRAIN

axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow

LONG = "".join(f"{i}\tword{i}\t_\tX\t_\t_\t{i // 2}\tx\t_\t_\n" for i in range(1, 61)) + "\n"
BROKEN = "# sent_id = broken\n1\tx\t_\t_\t_\t_\t_\t_\n\n"
DESKTOP_AND_PHONE = [
    {"color_scheme": "light"},
    {"color_scheme": "dark"},
    {"color_scheme": "light", "viewport": PHONE, "has_touch": True, "is_mobile": True},
    {"color_scheme": "dark", "viewport": PHONE, "has_touch": True, "is_mobile": True},
]


def assert_accessible(page, state):
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(state, one["id"], [node["html"][:120] for node in one["nodes"]]) for one in grave] == []


@pytest.mark.parametrize("options", DESKTOP_AND_PHONE, ids=["light", "dark", "phone light", "phone dark"])
def test_nothing_serious(visit, address, tmp_path, options):
    page = visit(address, **options)
    assert_accessible(page, "nothing open")
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD + LONG + BROKEN + "".join(map(format_sentence, TRAIN[:40])))
    open_file(page, path)
    wait_for_opinion(page)
    page.check("#suggest")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.focus('.word[data-word="2"]')
    page.keyboard.press("r")
    wait_until(page, lambda: page.locator("#corrections li").count() == 1)
    page.keyboard.press("n")
    page.wait_for_selector('[data-node="2.1"]')
    assert_accessible(page, "a sentence with constraints, its table and an empty node")
    page.focus('.word[data-word="2"]')
    page.keyboard.press("Enter")
    assert_accessible(page, "the menu of an arc")
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    assert_accessible(page, "a head is asked for")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.wait_for_selector("#question[open]")
    assert_accessible(page, "a question")
    page.keyboard.press("Escape")
    page.fill("#search", "word60")
    page.keyboard.press("Enter")
    page.wait_for_selector('.word[data-word="60"]')
    assert_accessible(page, "one word on each line")
    page.fill("#search", "id:broken")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problems li")
    page.focus("#list button")
    page.keyboard.press("a")
    page.wait_for_selector("#problem:not([hidden])")
    assert_accessible(page, "a sentence with errors, and a message")
