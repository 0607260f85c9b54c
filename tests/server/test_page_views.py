"""Sentences of any length and script, on any screen, and beside another file: the page in a real browser."""

from __future__ import annotations

import pytest

from browsing import GOLD, PHONE, SENTENCES, arcs_of, head_of, middle, open_file, tree_of, wait_for_opinion, wait_until

pytestmark = pytest.mark.slow

HEBREW = ["הילד", "קרא", "את", "הספר", "."]
RTL = "".join(f"{i}\t{form}\t_\t_\t_\t_\t{0 if i == 2 else 2}\tx\t_\t_\n" for i, form in enumerate(HEBREW, 1)) + "\n"
LONG = "".join(f"{i}\tword{i}\t_\tX\t_\t_\t{i // 2}\tx\t_\t_\n" for i in range(1, 151)) + "\n"


def test_long_sentences_have_one_word_a_line(visit, address, tmp_path):
    path = tmp_path / "long.conllu"
    path.write_text(LONG)
    page = open_file(visit(address), path, 1)
    wait_for_opinion(page)
    places = [middle(page, f'.word[data-word="{word}"]') for word in (1, 2, 150)]
    assert places[0][1] < places[1][1] < places[2][1]
    assert page.evaluate("(d => d.scrollWidth <= d.clientWidth)(document.getElementById('drawing'))")
    page.focus('.word[data-word="3"]')
    page.keyboard.press("h")
    page.keyboard.press("ArrowDown")  # the next line
    page.keyboard.press("Enter")
    wait_until(page, lambda: head_of(page, 3).startswith("x of word4"))
    page.keyboard.press("ArrowLeft")  # to where its arc comes from
    assert page.evaluate("document.activeElement.dataset.word") == "4"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.word") == "3"
    drag_far(page, 3, 60)
    wait_until(page, lambda: head_of(page, 3).startswith("x of word60"))
    wait_for_opinion(page)
    page.keyboard.press("g")
    least = int(page.evaluate("document.activeElement.dataset.word"))
    shares = [int(label.split(", ")[1].split("%")[0].replace("<1", "0")) for label in tree_of(page)]
    assert shares[least - 1] == min(shares)

    page.select_option("#view", "row")
    wait_until(page, lambda: len({round(middle(page, f'.word[data-word="{word}"]')[1]) for word in (1, 150)}) == 1)
    wide = page.evaluate("document.querySelector('#drawing svg').getBoundingClientRect().width")
    page.click('[data-zoom="fit"]')
    wait_until(
        page, lambda: page.evaluate("document.querySelector('#drawing svg').getBoundingClientRect().width") < wide
    )
    page.click('[data-zoom="in"]')


def drag_far(page, word, target):
    """The drawing scrolls under a word that is dragged to its lower edge."""
    page.evaluate("document.getElementById('drawing').scrollTo(0, 0)")
    page.mouse.move(*middle(page, f'.word[data-word="{word}"]'))
    page.mouse.down()
    box = page.locator("#drawing").bounding_box()
    edge = min(box["y"] + box["height"], page.viewport_size["height"]) - 15
    to = f'.word[data-word="{target}"]'
    page.mouse.move(box["x"] + box["width"] / 2, edge, steps=5)
    wait_until(page, lambda: middle(page, to)[1] < edge - 40)
    page.mouse.move(*middle(page, to))
    page.mouse.up()


def test_right_to_left(visit, address, tmp_path):
    path = tmp_path / "rtl.conllu"
    path.write_text(RTL)
    page = open_file(visit(address), path, 1)
    wait_for_opinion(page)
    xs = [middle(page, f'.word[data-word="{word}"]')[0] for word in range(1, len(HEBREW) + 1)]
    assert xs == sorted(xs, reverse=True)
    page.focus('.word[data-word="1"]')
    page.keyboard.press("ArrowLeft")  # what is to the left
    assert page.evaluate("document.activeElement.dataset.word") == "2"

    page.select_option("#view", "column")
    page.wait_for_selector("#drawing .form.end")
    word, label = (page.locator(f"#drawing {selector}").first.bounding_box() for selector in (".word .form", ".label"))
    assert label["x"] + label["width"] < word["x"]  # arcs are to the right of words, labels to the left
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.word") == "3"
    page.keyboard.press("ArrowRight")  # along the arc
    assert page.evaluate("document.activeElement.dataset.word") == "2"
    page.keyboard.press("Enter")
    title = page.locator("#menu .title")
    assert title.get_attribute("dir") == "ltr"
    assert title.inner_text().startswith(f"\u2068{HEBREW[1]}\u2069 ← the root: x")


def test_two_files_side_by_side(gold, tmp_path):
    """Adjudication: what another annotator has otherwise is shown, and can be taken."""
    rows = GOLD.split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("2\t"))
    columns = rows[at].split("\t")
    rows[at] = "\t".join([*columns[:7], "theirs", *columns[8:]])
    other = tmp_path / "other.conllu"
    other.write_text("\n".join(rows))
    wait_for_opinion(gold)
    gold.set_input_files("#other-file", other)
    wait_until(gold, lambda: gold.inner_text("#count") == f"1 of {len(SENTENCES)} sentences")
    assert gold.locator(".suggested").count() == 1
    words = sum(map(len, SENTENCES))
    expected = f"1 sentence differs; same head: 100% of the words, same head and label: {100 * (words - 1) // words}%"
    assert gold.inner_text("#agreement") == expected
    assert "other.conllu" in gold.inner_text("#suggest-text")
    gold.focus('.word[data-word="2"]')
    gold.keyboard.press("t")
    wait_until(gold, lambda: arcs_of(gold)[1].startswith("theirs of "))
    wait_until(gold, lambda: gold.inner_text("#count") == f"0 of {len(SENTENCES)} sentences")
    gold.click("#stop-comparing")
    wait_until(gold, lambda: gold.inner_text("#count") == f"{len(SENTENCES)} sentences")


def test_on_a_phone_the_tree_comes_first_and_the_menu_leaves_the_word_in_sight(opened):
    page = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    tops = [page.locator(selector).bounding_box()["y"] for selector in ("#drawing", ".tools", "#sentences", "#input")]
    assert tops == sorted(tops)
    page.locator('.word[data-word="2"]').tap()
    page.wait_for_selector("#menu:not([hidden])")
    menu, word = (page.locator(selector).bounding_box() for selector in ("#menu", '.word[data-word="2"]'))
    assert word["y"] + word["height"] <= menu["y"]
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.word") == "2"

    page.locator('.word[data-word="2"]').tap()
    page.locator("#menu >> text=Choose a word").tap()
    assert "Tap it" in page.inner_text("#hint")
    page.locator("#cancel-asking").tap()
    assert page.is_hidden("#cancel-asking")
    page.locator("#list button").last.tap()
    page.locator("#structure >> text=Join with next sentence").tap()
    page.wait_for_selector("#problem:not([hidden])")  # what cannot be done is said where one looks
    box = page.locator("#problem").bounding_box()
    assert 0 <= box["y"] <= PHONE["height"] - box["height"]
    page.locator("#dismiss").tap()
    assert page.is_hidden("#notice")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(opened, scheme):
    """Contrast AA: 4.5 between a text and what is behind it."""
    page = opened(color_scheme=scheme)
    low = page.evaluate(
        """() => {
          const rgb = (colour) => colour.match(/[0-9.]+/g).map(Number);
          const light = ([r, g, b]) => [r, g, b]
            .map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const behind = (node) => {
            for (let at = node; at; at = at.parentElement) {
              const colour = rgb(getComputedStyle(at).backgroundColor);
              if (colour.length === 3 || colour[3] === 1) return colour;
            }
            return [255, 255, 255];
          };
          const found = [];
          for (const node of document.querySelectorAll("main *, header *")) {
            const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
            if (!own || !node.checkVisibility() || node.closest("svg") || node.matches(":disabled")) continue;
            const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.5) found.push(node.outerHTML.slice(0, 80));
          }
          return found;
        }"""
    )
    assert low == []
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input:not([type=file]), select, textarea")]
          .filter((node) => node.checkVisibility())
          .filter((node) => !(node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.length))
          .map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
