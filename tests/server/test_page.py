"""The page in a real browser: the parser's trees, and what a person says of them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from browsing import (
    DESKTOP,
    PHONE,
    SENTENCES,
    TEXT,
    arcs_of,
    download,
    drag,
    head_of,
    middle,
    open_file,
    tree_of,
    wait_for_change,
    wait_until,
)

pytestmark = pytest.mark.slow


def name(word):
    form = SENTENCES[0].form[word - 1]
    return f"{form} ({word})" if SENTENCES[0].form.count(form) > 1 else form


def other_head(page, word):
    """A word that is not the head of this one, nor below it by its first arc."""
    return next(
        head
        for head in range(len(SENTENCES[0]), 0, -1)
        if head != word
        and f"of {name(head)}" not in head_of(page, word)
        and f"of {name(word)}," not in head_of(page, head)
    )


def test_dragging_a_word_to_its_head_parses_the_rest_around_it(desktop):
    first = tree_of(desktop)
    head = other_head(desktop, 1)
    drag(desktop, 1, f'.word[data-word="{head}"]')
    wait_for_change(desktop, first)
    corrected = tree_of(desktop)
    assert f"of {name(head)}" in corrected[0]
    assert corrected[0].endswith("required")
    assert desktop.locator(".arc.kept").count() == 1
    assert desktop.locator("#corrections li").count() == 1
    assert desktop.locator('#list [aria-current="true"]').inner_text().endswith("edited")
    assert desktop.is_visible("#whose")  # it is still the parser's tree

    desktop.click("#undo")
    wait_for_change(desktop, corrected)
    assert tree_of(desktop) == first
    desktop.click("#redo")
    wait_for_change(desktop, first)
    assert tree_of(desktop) == corrected


def test_dragging_to_the_root(desktop):
    first = tree_of(desktop)
    word = next(i for i, label in enumerate(first, 1) if "of the root" not in label)
    drag(desktop, word, "#drawing .root-zone")
    wait_for_change(desktop, first)
    assert "of the root" in head_of(desktop, word)


def test_the_menu_of_an_arc(desktop):
    first = tree_of(desktop)
    desktop.locator('.label[data-arc="2"]').click()
    assert desktop.locator("#menu").is_visible()
    assert desktop.evaluate("document.activeElement.textContent") == "Keep"
    desktop.click("#menu >> text=Forbid")
    wait_for_change(desktop, first)
    assert desktop.locator("#menu").is_hidden()
    assert first[1].split(",")[0].split(" of ")[1] != head_of(desktop, 2).split(",")[0].split(" of ")[1]
    assert desktop.locator(".forbidden").count() == 1

    forbidden = tree_of(desktop)
    desktop.click("#corrections button")
    wait_for_change(desktop, forbidden)
    assert tree_of(desktop) == first

    desktop.locator('.arc[data-arc="2"] .grip').click(force=True, position={"x": 2, "y": 2})
    labels = [label.get_attribute("value") for label in desktop.locator("#menu option").all()]
    other = next(label for label in labels if not first[1].startswith(label))
    desktop.fill("#menu input", other)
    desktop.keyboard.press("Enter")
    wait_for_change(desktop, first)
    assert head_of(desktop, 2).startswith(f"{other} of ")


def test_everything_by_keyboard(desktop):
    first = tree_of(desktop)
    desktop.focus('.word[data-word="1"]')
    desktop.keyboard.press("ArrowRight")
    assert desktop.evaluate("document.activeElement.dataset.word") == "2"
    desktop.keyboard.press("r")
    wait_for_change(desktop, first)
    assert head_of(desktop, 2).endswith("required")
    assert desktop.evaluate("document.activeElement.dataset.word") == "2"

    kept = tree_of(desktop)
    desktop.keyboard.press("f")
    wait_for_change(desktop, kept)
    assert desktop.locator(".forbidden").count() == 1
    forbidden = tree_of(desktop)
    desktop.keyboard.press("Control+z")
    wait_for_change(desktop, forbidden)
    desktop.keyboard.press("Control+z")
    wait_for_change(desktop, kept)
    assert tree_of(desktop) == first
    desktop.keyboard.press("Control+Shift+z")
    wait_for_change(desktop, first)
    assert tree_of(desktop) == kept
    desktop.keyboard.press("Delete")
    wait_for_change(desktop, kept)
    assert tree_of(desktop) == first

    desktop.keyboard.press("h")
    assert "head of" in desktop.inner_text("#hint")
    desktop.keyboard.press("0")
    wait_for_change(desktop, first)
    assert "of the root" in head_of(desktop, 2)
    desktop.keyboard.press("l")
    assert desktop.evaluate("document.activeElement.tagName") == "INPUT"
    desktop.keyboard.type("not meant")
    labelled = tree_of(desktop)
    desktop.keyboard.press("Escape")
    assert desktop.evaluate("document.activeElement.dataset.word") == "2"
    assert tree_of(desktop) == labelled
    desktop.keyboard.press("Enter")
    assert desktop.locator("#menu").is_visible()
    desktop.keyboard.press("Escape")
    desktop.keyboard.press("PageDown")
    assert desktop.inner_text("#position") == f"2 of {len(SENTENCES)}"


def test_what_allows_no_tree_is_taken_back(opened):
    desktop = opened()
    head = other_head(desktop, 1)
    first = tree_of(desktop)
    drag(desktop, 1, f'.word[data-word="{head}"]')
    wait_for_change(desktop, first)
    corrected = tree_of(desktop)
    drag(desktop, head, '.word[data-word="1"]')
    desktop.wait_for_selector("#problem:not([hidden])")
    assert "cycle" in desktop.inner_text("#problem")
    assert tree_of(desktop) == corrected
    opened.expect("400")


def test_the_k_best_trees_and_the_downloads(desktop):
    first = tree_of(desktop)
    shares = [float(re.search(r"([\d.]+)%", text)[1]) for text in desktop.locator("#trees .share").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert desktop.inner_text('#trees [aria-checked="true"] .different') == "as shown"
    different = desktop.inner_text("#trees button:nth-child(3) .different")
    desktop.click("#trees button:nth-child(3)")
    wait_for_change(desktop, first)
    third = arcs_of(desktop)
    changed = [word for word, (a, b) in enumerate(zip(arcs_of_labels(first), third, strict=True), 1) if a != b]
    assert len(different.split(" and ")[0].split(", ")) == min(3, len(changed))
    assert all(name(word) in different for word in changed[:3])
    blocks = download(desktop).decode().strip().split("\n\n")
    assert len(blocks) == len(SENTENCES)
    rows = [line.split("\t") for line in blocks[0].split("\n") if not line.startswith("#")]
    heads = ["the root" if row[6] == "0" else name(int(row[6])) for row in rows]
    assert [f"{row[7]} of {head}" for row, head in zip(rows, heads, strict=True)] == third
    with desktop.expect_download() as downloaded:
        desktop.click("#download-svg")
    drawing = downloaded.value.path().read_text()
    ElementTree.fromstring(drawing)
    assert "<style" in drawing
    assert "--p5" in drawing
    assert "tabindex" not in drawing
    for form in SENTENCES[0].form:
        assert f">{form}<" in drawing


def arcs_of_labels(labels):
    return [label.split(", ")[0] for label in labels]


def test_a_choice_stays_a_choice(desktop):
    """The second-best tree, and then a correction of another word: both are kept."""
    first = tree_of(desktop)
    desktop.click("#trees button:nth-child(2)")
    wait_for_change(desktop, first)
    second = tree_of(desktop)
    arcs = arcs_of_labels(second)
    chosen = [word for word, (a, b) in enumerate(zip(arcs_of_labels(first), arcs, strict=True), 1) if a != b]
    other = next(word for word in range(1, len(second) + 1) if word not in chosen)
    desktop.focus(f'.word[data-word="{other}"]')
    desktop.keyboard.press("f")
    wait_for_change(desktop, second)
    third = arcs_of(desktop)
    assert third[other - 1].split(" of ")[1] != arcs[other - 1].split(" of ")[1]
    assert [third[word - 1] for word in chosen] == [arcs[word - 1] for word in chosen]


def test_corrections_survive_in_misc(desktop, tmp_path):
    first = tree_of(desktop)
    head = other_head(desktop, 1)
    drag(desktop, 1, f'.word[data-word="{head}"]')
    wait_for_change(desktop, first)
    dragged = tree_of(desktop)
    desktop.focus('.word[data-word="3"]')
    desktop.keyboard.press("f")
    wait_for_change(desktop, dragged)
    corrected = arcs_of(desktop)

    assert b"Head=" not in download(desktop)
    desktop.check("#note")
    noted = tmp_path / "noted.conllu"
    noted.write_bytes(download(desktop))
    assert f"Head={head}" in noted.read_text().split("\n\n")[0]
    assert "NotHead=" in noted.read_text().split("\n\n")[0]

    open_file(desktop, noted)
    assert desktop.locator("#corrections li").count() == 2
    assert arcs_of(desktop) == corrected
    assert download(desktop) == noted.read_bytes()
    desktop.uncheck("#note")
    assert download(desktop) == noted.read_bytes()
    desktop.locator("#corrections button").first.click()
    wait_until(desktop, lambda: desktop.locator("#corrections li").count() == 1)
    assert download(desktop).count(b"Head=") == 1  # what the file notes is kept up to date


def test_forbidden_labels_in_misc(desktop, tmp_path):
    label = head_of(desktop, 1).split(" of ")[0]
    rows = TEXT.split("\n")
    number = next(i for i, row in enumerate(rows) if row.startswith("1\t"))
    rows[number] = rows[number].removesuffix("\t_") + f"\tNotRel={label}"
    noted = tmp_path / "noted.conllu"
    noted.write_text("\n".join(rows))
    open_file(desktop, noted)
    assert desktop.locator("#corrections li").count() == 1
    desktop.click("#parse-missing")
    wait_until(desktop, lambda: head_of(desktop, 1) != "no head")
    assert not head_of(desktop, 1).startswith(f"{label} of ")
    assert f"NotRel={label}".encode() in download(desktop)
    corrected = tree_of(desktop)
    desktop.click("#corrections button")
    wait_for_change(desktop, corrected)
    assert head_of(desktop, 1).startswith(f"{label} of ")


def test_least_certain_first(desktop):
    desktop.wait_for_selector("#list li")

    def unsure():
        return [float(re.search(r"\d\.\d\d", item)[0]) for item in desktop.locator("#list li").all_inner_texts()]

    in_order = unsure()
    desktop.select_option("#order", "uncertainty")
    wait_until(desktop, lambda: unsure() == sorted(in_order, reverse=True))
    assert desktop.locator('#list li:first-child [aria-current="true"]').count() == 1


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_labels_overlap(opened, viewport):
    page = opened(viewport=viewport)
    for _ in SENTENCES:
        boxes = page.evaluate(
            "[...document.querySelectorAll('.label .plate')].map((p) => p.getBoundingClientRect().toJSON())"
        )
        assert len(boxes) > 5
        for a, b in combinations(boxes, 2):
            apart = (
                a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
            )
            assert apart
        page.evaluate("document.getElementById('after').click()")


def test_on_a_phone(opened):
    page = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("(d => d.scrollWidth > d.clientWidth)(document.getElementById('drawing'))")
    first = tree_of(page)
    head = other_head(page, 1)
    page.locator('.word[data-word="1"]').tap()
    box = page.locator("#menu").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.locator("#menu >> text=Choose a word").tap()
    page.locator(f'.word[data-word="{head}"]').tap()
    wait_for_change(page, first)
    assert f"of {name(head)}" in head_of(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def touch(page, start, end):
    """A finger moves over the glass, slowly enough to be seen on its way."""
    session = page.context.new_cdp_session(page)
    (x, y), (to_x, to_y) = start, end
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for share in (0.1, 0.3, 0.6, 0.9, 1):
        point = {"x": x + share * (to_x - x), "y": y + share * (to_y - y)}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        page.wait_for_timeout(30)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_drags_words_and_scrolls_the_rest(opened):
    page = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    page.locator("#drawing").scroll_into_view_if_needed()
    first = tree_of(page)
    visible = [
        word
        for word in range(2, len(SENTENCES[0]) + 1)
        if 60 < middle(page, f'.word[data-word="{word}"]')[0] < PHONE["width"] - 60
    ]
    head = next(
        word for word in visible if f"of {name(word)}" not in first[0] and f"of {name(1)}," not in first[word - 1]
    )
    touch(page, middle(page, '.word[data-word="1"]'), middle(page, f'.word[data-word="{head}"]'))
    wait_for_change(page, first)
    assert f"of {name(head)}" in head_of(page, 1)
    assert head_of(page, 1).endswith("required")
    assert page.locator("#menu").is_hidden()

    scroll = "document.getElementById('drawing').scrollLeft"
    assert page.evaluate(scroll) == 0
    corrected = tree_of(page)
    box = page.locator("#drawing").bounding_box()
    touch(page, (box["x"] + 300, box["y"] + 8), (box["x"] + 100, box["y"] + 8))
    wait_until(page, lambda: page.evaluate(scroll) > 50)
    assert tree_of(page) == corrected


def test_the_drawing_scrolls_under_a_word_that_is_dragged_to_its_edge(opened):
    page = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    page.locator("#drawing").scroll_into_view_if_needed()
    last = len(SENTENCES[0])
    first = tree_of(page)
    session = page.context.new_cdp_session(page)
    x, y = middle(page, '.word[data-word="1"]')
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for place in (x + 40, PHONE["width"] - 30):
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": place, "y": y}]})
    at_its_end = "(d => d.scrollLeft + d.clientWidth >= d.scrollWidth - 1)(document.getElementById('drawing'))"
    wait_until(page, lambda: page.evaluate(at_its_end))  # nothing moves any more
    x, y = middle(page, f'.word[data-word="{last}"]')
    session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait_for_change(page, first)
    assert f"of {name(last)}" in head_of(page, 1)


def test_light_and_dark(opened):
    grounds = set()
    for scheme in ("light", "dark"):
        page = opened(viewport=DESKTOP, color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.querySelector('.ground')).fill"))
    assert len(grounds) == 2
