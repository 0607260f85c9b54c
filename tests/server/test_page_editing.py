"""Everything in a file can be edited on the page, in a real browser; all of it by keyboard."""

from __future__ import annotations

import pytest

from browsing import GOLD, SENTENCES, arcs_of, download, head_of, open_file, wait_until

pytestmark = pytest.mark.slow

ROWS = [
    "# sent_id = one",
    "# text = zum Haus gehen wir",
    "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_",
    "1\tzu\tzu\tADP\tAPPR\t_\t3\tcase\t3:case\t_",
    "2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t3:det\t_",
    "3\tHaus\tHaus\tNOUN\tNN\tCase=Dat|Number=Sing\t4\tobl\t4:obl\t_",
    "4\tgehen\tgehen\tVERB\tVV\t_\t0\troot\t0:root\t_",
    "5\twir\twir\tPRON\tPP\t_\t4\tnsubj\t4:nsubj\t_",
]


@pytest.fixture
def page(visit, address, tmp_path):
    path = tmp_path / "small.conllu"
    path.write_text("\n".join(ROWS) + "\n\n" + GOLD)
    return open_file(visit(address), path, len(SENTENCES) + 1)


def lines(page):
    """The open sentence as it would be saved."""
    return page.input_value("#lines").split("\n")


def cell(page, row, column, value):
    page.fill(f'#columns input[data-row="{row}"][data-column="{column}"]', value)


def test_every_column_in_the_table(page):
    page.focus('.word[data-word="3"]')
    page.keyboard.press("c")
    assert page.evaluate("document.activeElement.dataset.column") == "form"
    values = ["HAUS", "haus", "PROPN", "NE", "Gender=Neut", "5", "very:new", "4:obl|5:x", "Gloss=house"]
    columns = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
    for column, value in zip(columns, values, strict=True):
        assert page.evaluate("document.activeElement.dataset.column") == column
        page.keyboard.press("Control+a")
        page.keyboard.type(value)
        page.keyboard.press("Tab")
    assert lines(page)[5] == "\t".join(["3", *values])
    assert lines(page)[1] == "# text = zum HAUS gehen wir"  # it was the spelling of the tokens
    assert head_of(page, 3).startswith("very:new of wir")
    cell(page, "1-2", "form", "Zum")
    page.keyboard.press("Enter")  # goes to the next row
    wait_until(page, lambda: page.evaluate("document.activeElement.dataset.row") == "1")
    assert page.evaluate("document.activeElement.dataset.column") == "form"
    assert lines(page)[2].startswith("1-2\tZum\t")
    for _ in range(10):
        page.click("#undo")
    assert page.is_disabled("#undo")
    assert lines(page) == ROWS


def test_cells_with_the_mouse(page):
    """A click into a cell, however short what it says, and one can write; the row is that of the selected word."""
    assert page.is_disabled('[data-edit="deleteWord"]')
    page.click("#table summary")
    for column, value in {"lemma": "zu", "xpos": "APPR", "deps": "3:case"}.items():
        field = f'#columns input[data-row="1"][data-column="{column}"]'
        page.click(field)
        page.keyboard.type("x")
        assert sorted(page.input_value(field)) == sorted(f"{value}x")
        page.keyboard.press("Escape")
    assert page.inner_text("#structure-of") == "Word: zu"
    assert page.is_enabled('[data-edit="deleteWord"]')
    assert lines(page) == ROWS


def test_features_misc_and_heads_as_pairs_and_comments(page):
    page.focus('.word[data-word="3"]')
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.fill("#feats-pair-2-0", "Gender")
    page.fill("#feats-pair-2-1", "Neut")
    page.keyboard.press("Tab")
    wait_until(page, lambda: page.locator("#feats-pairs li").count() == 4)
    page.click('[aria-label="Delete Number=Sing"]')
    assert lines(page)[5].split("\t")[5] == "Case=Dat|Gender=Neut"
    page.fill("#misc-pair-0-0", "SpaceAfter")
    page.fill("#misc-pair-0-1", "No")
    page.keyboard.press("Tab")
    wait_until(page, lambda: lines(page)[5].endswith("\tSpaceAfter=No"))

    page.focus('.word[data-word="3"]')
    page.keyboard.press("x")  # an extra head
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    wait_until(page, lambda: page.locator(".graph").count() == 1)
    assert lines(page)[5].split("\t")[8] == "4:obl|5:dep"
    page.fill("#deps-pair-1-1", "nsubj:xsubj")
    page.keyboard.press("Tab")
    wait_until(page, lambda: lines(page)[5].split("\t")[8] == "4:obl|5:nsubj:xsubj")

    page.click("text=Comments and sent_id")
    page.fill("#comments", "# sent_id = other\na note")
    page.locator("#comments").blur()
    wait_until(page, lambda: page.inner_text("#sentence-id") == "other")
    assert lines(page)[:2] == ["# sent_id = other", "# a note"]


def answer(page, text, check=False):
    page.wait_for_selector("#question[open]")
    page.fill("#answer", text)
    if check:
        page.check("#answer-check")
    page.press("#answer", "Enter")


def test_words_tokens_and_sentences_by_keyboard(page):
    def focus(word):
        page.focus(f'.word[data-word="{word}"]')

    def words(n):
        wait_until(page, lambda: page.locator("#drawing .word").count() == n)

    focus(5)
    page.keyboard.press("s")
    answer(page, "wi r")
    words(6)
    assert [line.split("\t")[6:8] for line in lines(page)[7:]] == [["4", "nsubj"], ["5", "dep"]]
    assert page.evaluate("document.activeElement.dataset.word") == "5"
    page.keyboard.press("j")
    words(5)
    assert lines(page) == ROWS

    page.keyboard.press("i")
    answer(page, "heute")
    words(6)
    assert lines(page)[1] == "# text = zum Haus gehen wir heute"
    page.keyboard.press("Shift+Delete")
    words(5)
    assert lines(page) == ROWS
    focus(1)
    page.keyboard.press("i")
    answer(page, "nun", check=True)  # before it
    words(6)
    assert lines(page)[1:3] == ["# text = nun zum Haus gehen wir", "1\tnun\t_\t_\t_\t_\t2\tdep\t_\t_"]
    page.keyboard.press("Shift+Delete")
    words(5)
    assert lines(page) == ROWS

    focus(1)
    page.keyboard.press("m")  # takes the token apart
    wait_until(page, lambda: page.locator(".bracket").count() == 0)
    page.keyboard.press("m")
    answer(page, "zum")
    wait_until(page, lambda: page.locator(".bracket").count() == 1)
    assert lines(page) == ROWS

    focus(3)
    page.keyboard.press("m")
    page.wait_for_selector("#question[open]")
    page.fill("#answer-count", "3")
    assert page.input_value("#answer") == "Hausgehenwir"
    page.press("#answer", "Enter")
    wait_until(page, lambda: lines(page)[5] == "3-5\tHausgehenwir\t_\t_\t_\t_\t_\t_\t_\t_")
    page.click("#undo")
    focus(1)
    page.keyboard.press("Shift+N")
    page.wait_for_selector('[data-node="0.1"]')
    assert lines(page)[2].startswith("0.1\t_\t")
    page.click("#undo")
    assert lines(page) == ROWS

    focus(3)
    page.keyboard.press("n")
    page.wait_for_selector('[data-node="3.1"]')
    assert lines(page)[6].startswith("3.1\t_\t")
    page.click('[data-node="3.1"]')
    cell(page, "3.1", "deps", "4:x")
    page.keyboard.press("Enter")
    wait_until(page, lambda: page.locator(".graph").count() == 1)

    focus(4)
    page.keyboard.press("Shift+S")
    wait_until(page, lambda: page.inner_text("#count") == f"{len(SENTENCES) + 2} sentences")
    assert lines(page)[:2] == ["# sent_id = one", "# text = zum Haus"]
    assert page.evaluate("document.activeElement.dataset.word") == "3"  # the keyboard stays in the tree
    second = download(page).decode().split("\n\n")[1].split("\n")
    assert second[:2] == ["# sent_id = one-2", "# text = gehen wir"]
    focus(1)
    page.keyboard.press("Shift+J")
    words(5)
    assert arcs_of(page)[3] == "parataxis of Haus"
    while page.is_enabled("#undo"):
        page.click("#undo")
    assert lines(page) == ROWS
    assert download(page).decode() == "\n".join(ROWS) + "\n\n" + GOLD

    focus(5)
    page.keyboard.press("j")  # what cannot be done is said
    page.wait_for_selector("#problem:not([hidden])")
    assert "no word after" in page.inner_text("#problem")
