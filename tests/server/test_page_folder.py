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
    wait_until,
    wait_until_kept,
)
from crossarc.io.conllu import format_sentence
from serving import serving
from trained import TEST

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


OTHERS = [sentence for sentence in TEST if 6 <= len(sentence) <= 14][len(SENTENCES) :][:2]
BLANK = [sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence)) for sentence in OTHERS]
FILE = GOLD + "".join(map(format_sentence, BLANK))  # gold, and two sentences that nobody has annotated


def count(page, text):
    wait_until(page, lambda: page.inner_text("#count") == text)


def kill(process):
    process.kill()
    process.wait()


def test_an_afternoon(visit, model_file, tmp_path):
    """The service is killed twice in between: nothing is lost, and the file on disk is what the page shows."""
    folder = tmp_path / "treebank"
    folder.mkdir()
    gold = folder / "gold.conllu"
    gold.write_text(FILE)
    n = len(SENTENCES) + len(BLANK)
    options = [*PATIENT, "--folder", str(folder)]
    with serving(model_file, options=options) as (address, process):
        page = visit(address)
        open_from_folder(page, "gold.conllu")
        assert arcs_of(page) == arcs_in(SENTENCES[0])
        assert download(page) == FILE.encode()  # nothing was touched
        page.click("#save")
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))
        assert gold.read_bytes() == FILE.encode()

        relabel(page, 2, "new:label")
        page.focus('.word[data-word="2"]')
        page.keyboard.press("a")  # accept, and go on
        wait_until(page, lambda: page.inner_text("#position") == f"2 of {n}")
        kill(process)
        split_a_word(page, 3)
        words = page.locator("#drawing .word").count()
        page.focus('.word[data-word="3"]')
        page.keyboard.press("x")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        wait_until(page, lambda: f"{words}:dep" in lines(page))
        second = lines(page)
        wait_until_kept(page)

    port = address.rstrip("/").rpartition(":")[2]  # what a browser keeps belongs to an address
    with serving(model_file, options=[*options, "--port", port]) as (_, process):
        page.reload()  # all is still there
        wait_until(page, lambda: page.inner_text("#done") == f"1 of {n} accepted")
        page.wait_for_selector("#parse:enabled", state="attached")
        page.select_option("#show", "is:changed")
        count(page, f"2 of {n} sentences")
        page.click("#after")
        assert lines(page) == second
        page.keyboard.press("a")  # also from a button
        count(page, f"2 of {n} sentences")
        wait_until(page, lambda: page.inner_text("#done") == f"2 of {n} accepted")
        page.fill("#search", "label:new:label")
        count(page, f"1 of {n} sentences")
        page.fill("#search", "")
        page.select_option("#show", "")
        count(page, f"{n} sentences")

        page.click("#learn")
        page.wait_for_selector("#learning", state="visible")
        page.wait_for_selector("#learning", state="hidden", timeout=300_000)
        wait_until(page, lambda: page.input_value("#model").startswith("learnt-"))
        page.select_option("#show", "is:parsed")  # what nobody had annotated; the rest is as it was
        count(page, f"{len(BLANK)} of {n} sentences")
        page.select_option("#show", "")

        other = tmp_path / "other.conllu"
        other.write_text(GOLD)
        page.set_input_files("#other-file", other)
        count(page, f"1 of {n} sentences")  # the first; the second has other words now
        assert f"{1 + len(BLANK)} of {n} sentences are not in other.conllu" in page.inner_text("#problem")
        assert page.inner_text("#agreement").startswith("1 sentence differs; same head: 100% of the words")
        page.focus('.word[data-word="2"]')
        page.keyboard.press("t")
        wait_until(page, lambda: arcs_of(page) == arcs_in(SENTENCES[0]))
        page.click("#undo")  # ours was right
        page.click("#stop-comparing")
        assert head_of(page, 2).startswith("new:label of ")

        page.focus("#drawing .word")
        page.keyboard.press("Control+s")
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))
        assert (folder / "gold.conllu~").read_bytes() == FILE.encode()
        saved = gold.read_bytes()
        assert saved == download(page)
        assert saved.decode().split("\n\n")[2 : len(SENTENCES)] == GOLD.split("\n\n")[2:-1]
        assert second in saved.decode().replace("# state = accepted\n", "")

        kill(process)
        relabel(page, 3, "offline")  # a tree of the file can be corrected without the service
        page.click("#save")
        wait_until(page, lambda: "does not answer" in page.inner_text("#problem"))
        assert gold.read_bytes() == saved
        wait_until_kept(page)

    with serving(model_file, options=[*options, "--port", port]) as (_, process):
        page.reload()
        page.wait_for_selector("#parse:enabled", state="attached")
        wait_until(page, lambda: head_of(page, 3).startswith("offline of "))
        page.click("#save")
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))
        assert gold.read_bytes() == download(page)
        assert (folder / "gold.conllu~").read_bytes() == saved
        while page.is_enabled("#undo"):
            page.click("#undo")
        assert download(page) == FILE.encode()
        wait_until_kept(page)
        page.close()
    visit.expect("ERR_")


def split_a_word(page, word):
    words = page.locator("#drawing .word").count()
    page.focus(f'.word[data-word="{word}"]')
    page.keyboard.press("s")
    page.wait_for_selector("#question[open]")
    page.fill("#answer", "left right")
    page.press("#answer", "Enter")
    wait_until(page, lambda: page.locator("#drawing .word").count() == words + 1)


def test_a_file_that_somebody_else_changes(visit, model_file, tmp_path):
    gold = tmp_path / "gold.conllu"
    gold.write_text(GOLD)
    with serving(model_file, options=[*PATIENT, "--folder", str(tmp_path)]) as (address, _):
        page = visit(address)
        open_from_folder(page, "gold.conllu")
        relabel(page, 2, "new:label")
        page.click("#save")
        wait_until(page, lambda: page.inner_text("#saved").startswith("saved"))
        saved = gold.read_text()
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
        assert (tmp_path / "gold.conllu~").read_text() == saved + GOLD
        page.wait_for_selector("#conflict", state="hidden")
        gold.write_text(GOLD)  # it is noticed without a save, too
        page.wait_for_selector("#conflict:not([hidden])")
        page.click("#open-again")
        wait_until(page, lambda: arcs_of(page) == arcs_in(SENTENCES[0]))
        page.close()
    visit.expect("409")


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
