"""The afternoon of a linguist, in a real browser, with a folder of treebanks and a service that dies in between."""

from __future__ import annotations

import pytest

from browsing import (
    GOLD,
    PATIENT,
    SENTENCES,
    arcs_in,
    arcs_of,
    download,
    head_of,
    wait_for_opinion,
    wait_until,
    wait_until_kept,
)
from serving import serving

pytestmark = pytest.mark.slow


def open_from_folder(page, name):
    page.wait_for_selector("#folder-files")
    page.select_option("#folder-files", name)
    wait_until(page, lambda: page.inner_text("#name") == name)


def lines(page):
    return page.input_value("#lines")


def relabel(page, word, label):
    page.focus(f'.word[data-word="{word}"]')
    page.keyboard.press("l")
    page.keyboard.type(label)
    page.keyboard.press("Enter")
    wait_until(page, lambda: head_of(page, word).startswith(f"{label} of "))


def test_an_afternoon(visit, model_file, tmp_path):
    folder = tmp_path / "treebank"
    folder.mkdir()
    gold = folder / "gold.conllu"
    gold.write_text(GOLD)
    n = len(SENTENCES)
    with serving(model_file, options=[*PATIENT, "--folder", str(folder)]) as (address, process):
        page = visit(address)
        open_from_folder(page, "gold.conllu")
        assert arcs_of(page) == arcs_in(SENTENCES[0])
        assert download(page) == GOLD.encode()  # nothing was touched
        page.click("#save")
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))
        assert gold.read_text() == GOLD

        relabel(page, 2, "new:label")
        page.focus('.word[data-word="2"]')
        page.keyboard.press("a")  # accept, and go on
        wait_until(page, lambda: page.inner_text("#position") == f"2 of {n}")
        words = page.locator("#drawing .word").count()
        page.focus('.word[data-word="3"]')
        page.keyboard.press("s")
        page.wait_for_selector("#question[open]")
        page.fill("#answer", "left right")
        page.press("#answer", "Enter")
        wait_until(page, lambda: page.locator("#drawing .word").count() == words + 1)
        page.focus('.word[data-word="3"]')
        page.keyboard.press("x")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        wait_until(page, lambda: f"{words + 1}:dep" in lines(page))
        second = lines(page)
        wait_until_kept(page)
        page.reload()  # all is still there
        wait_until(page, lambda: page.inner_text("#done") == f"1 of {n} accepted")
        page.select_option("#show", "is:changed")
        wait_until(page, lambda: page.inner_text("#count") == f"2 of {n} sentences")
        page.click("#after")
        assert lines(page) == second
        page.select_option("#show", "")

        page.focus("#drawing .word")
        page.keyboard.press("Control+s")
        wait_until(page, lambda: gold.read_text() != GOLD)
        assert (folder / "gold.conllu~").read_text() == GOLD
        saved = gold.read_text()
        assert "\tnew:label\t" in saved
        assert second in saved
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))

        open_from_folder(page, "gold.conllu")  # what was saved is known, with its history
        wait_until(page, lambda: page.inner_text("#saved") == "")
        assert page.is_enabled("#undo")
        relabel(page, 1, "another")
        gold.write_text(saved + GOLD)  # somebody else
        page.click("#save")
        page.wait_for_selector("#conflict:not([hidden])")
        assert "changed on disk" in page.inner_text("#problem")
        assert gold.read_text() == saved + GOLD
        page.click("#save-over")
        wait_until(page, lambda: gold.read_text() != saved + GOLD)
        assert "\tanother\t" in gold.read_text()
        assert (folder / "gold.conllu~").read_text() == saved + GOLD
        page.wait_for_selector("#conflict", state="hidden")
        gold.write_text(GOLD)  # it is noticed without a save, too
        page.wait_for_selector("#conflict:not([hidden])")
        page.click("#open-again")
        wait_until(page, lambda: arcs_of(page) == arcs_in(SENTENCES[0]))

        wait_for_opinion(page)
        process.kill()
        process.wait()
        relabel(page, 3, "offline")  # a tree of the file can be corrected without the service
        page.click("#save")
        wait_until(page, lambda: "does not answer" in page.inner_text("#problem"))
        assert b"\toffline\t" in download(page)
        wait_until_kept(page)
        page.close()
    visit.expect("ERR_", "409")


def test_a_folder_behind_a_token(visit, model_file, tmp_path):
    (tmp_path / "a.conllu").write_text(GOLD)
    with serving(model_file, options=[*PATIENT, "--folder", str(tmp_path), "--token", "a-word"]) as (address, _):
        page = visit(address, ready="#problem:not(:empty)")
        assert "token" in page.inner_text("#problem")
        page.goto(f"{address}?token=a-word")
        open_from_folder(page, "a.conllu")
        assert arcs_of(page) == arcs_in(SENTENCES[0])
        assert "token" not in page.url
        page.close()
    visit.expect("401")
