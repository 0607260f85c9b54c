"""Work on a treebank, in a real browser: accept and go on, search, validate, learn from what is accepted."""

from __future__ import annotations

import pytest

from browsing import (
    SENTENCES,
    arcs_of,
    download,
    head_of,
    open_file,
    wait_for_opinion,
    wait_until,
    wait_until_kept,
)
from crossarc.io.conllu import format_sentence
from trained import TRAIN

pytestmark = pytest.mark.slow


def position(page, text):
    wait_until(page, lambda: page.inner_text("#position") == text)


def count(page, text):
    wait_until(page, lambda: page.inner_text("#count") == text)


def test_states_notes_and_search(gold):
    n = len(SENTENCES)
    gold.focus('.word[data-word="1"]')
    gold.keyboard.press("a")
    position(gold, f"2 of {n}")
    gold.keyboard.press("a")
    position(gold, f"3 of {n}")
    gold.keyboard.press("u")
    position(gold, f"4 of {n}")
    gold.keyboard.press("w")
    gold.keyboard.type("ask Anna")
    gold.keyboard.press("Enter")
    wait_until(gold, lambda: "# note = ask Anna" in gold.input_value("#lines"))
    assert gold.inner_text("#done") == f"2 of {n} accepted"
    states = "".join(
        block.count("# state = accepted") * "a" + block.count("unsure") * "u" or "-" for block in blocks(gold)
    )
    assert states == "aau" + "-" * (n - 3)
    with gold.expect_download() as downloaded:
        gold.click("#download-accepted")
    accepted = downloaded.value.path().read_text()
    assert downloaded.value.suggested_filename == "gold-accepted.conllu"
    assert accepted.replace("# state = accepted\n", "") == "".join(map(format_sentence, SENTENCES[:2]))

    gold.select_option("#show", "is:accepted")
    count(gold, f"2 of {n} sentences")
    position(gold, "1 of 2")
    gold.select_option("#show", "is:open")
    count(gold, f"{n - 3} of {n} sentences")
    gold.keyboard.press("Escape")
    gold.focus('.word[data-word="1"]')
    gold.keyboard.press("a")  # goes on among the open ones
    count(gold, f"{n - 4} of {n} sentences")
    gold.select_option("#show", "")
    gold.fill("#search", "note:anna")
    count(gold, f"1 of {n} sentences")
    label = SENTENCES[0].deprel[0]
    gold.fill("#search", f"label:{label} id:{SENTENCES[0].sent_id}" if SENTENCES[0].sent_id else f"label:{label}")
    expected = sum(label in sentence.deprel for sentence in SENTENCES)
    count(gold, f"{1 if SENTENCES[0].sent_id else expected} of {n} sentences")
    gold.fill("#search", "is:disagrees")
    gold.fill("#search", "")
    count(gold, f"{n} sentences")
    gold.select_option("#show", "is:disagrees")
    wait_until(gold, lambda: " of " in gold.inner_text("#count"))
    gold.select_option("#show", "")
    wait_until_kept(gold)
    gold.reload()
    wait_until(gold, lambda: gold.inner_text("#done") == f"3 of {n} accepted")


def blocks(page):
    return download(page).decode().strip("\n").split("\n\n")


def test_keys_in_the_list_and_on_buttons(gold):
    n = len(SENTENCES)
    gold.click("#list li:nth-child(3) button")
    gold.keyboard.press("a")  # no word need be in focus
    position(gold, f"4 of {n}")
    gold.click("#before")
    assert "# state = accepted" in gold.input_value("#lines")
    gold.keyboard.press("s")  # no word is selected: nothing to split
    assert gold.locator("#question[open]").count() == 0
    gold.focus('.word[data-word="2"]')
    gold.keyboard.press("ArrowRight")
    gold.focus("#undo")
    gold.keyboard.press("l")
    assert gold.evaluate("document.activeElement.id") == "label"
    gold.keyboard.press("Escape")
    assert gold.evaluate("document.activeElement.dataset.word") == "3"


def test_the_next_sentence_of_a_search(gold):
    """If the open sentence is no longer in the list, those after it and before it are still found."""
    n = len(SENTENCES)
    gold.select_option("#show", "is:open")
    gold.click("#list li:nth-child(4) button")
    gold.click("#states [data-state=unsure]")
    position(gold, f"4 of {n - 1}")
    gold.click("#undo")  # the fourth is open again, and shown
    gold.fill("#search", "nothing has this")
    count(gold, f"0 of {n} sentences")
    assert gold.is_disabled("#after")
    assert gold.is_disabled("#before")
    gold.fill("#search", f'"{SENTENCES[4].text}"')
    count(gold, f"1 of {n} sentences")
    assert gold.is_disabled("#before")
    gold.click("#after")
    assert gold.inner_text("#sentence-text") == SENTENCES[4].text


def test_validation_as_one_types(visit, address, tmp_path):
    path = tmp_path / "many.conllu"
    path.write_text("".join(map(format_sentence, TRAIN[:40])))
    page = open_file(visit(address), path, 40)
    wait_for_opinion(page)
    label = arcs_of(page)[1].split(" of ")[0]
    page.focus('.word[data-word="2"]')
    page.keyboard.press("c")
    cell = '#columns input[data-row="2"][data-column="{}"]'
    page.fill(cell.format("deprel"), f"{label}x")
    doubt = f"DEPREL {label}x is in no other sentence; did you mean {label}?"
    assert page.inner_text("#cell-problem") == doubt
    assert page.get_attribute(cell.format("deprel"), "aria-invalid") == "true"
    page.keyboard.press("Enter")
    page.wait_for_selector('.word.doubtful[data-word="2"]')
    before = page.inner_text("#doubts-count")
    page.click("#doubts-count")
    page.locator("#doubts button", has_text=doubt).click()  # goes to the word
    assert page.evaluate("document.activeElement.dataset.word") == "2"
    page.fill(cell.format("deprel"), label)
    page.keyboard.press("Enter")
    wait_until(page, lambda: page.is_hidden("#as-doubts") or page.inner_text("#doubts-count") != before)
    assert page.inner_text("#cell-problem") == ""
    page.fill(cell.format("head"), "2")
    assert page.inner_text("#cell-problem") == "word 2 is its own head"
    page.fill(cell.format("head"), "99")
    assert "out of range" in page.inner_text("#cell-problem")
    before = page.input_value("#lines")
    page.keyboard.press("Enter")  # what would make the sentence unreadable is not taken
    page.wait_for_selector("#problem:not([hidden])")
    assert page.input_value("#lines") == before
    root = next(i for i, arc in enumerate(arcs_of(page), 1) if arc.endswith("the root"))
    child = next(i for i, head in enumerate(page_heads(page), 1) if head == root)
    page.fill(f'#columns input[data-row="{root}"][data-column="head"]', str(child))
    page.keyboard.press("Enter")
    wait_until(page, lambda: "form a cycle" in page.inner_text("#problems"))
    assert "wrong" in page.get_attribute(f'.word[data-word="{min(root, child)}"]', "class")
    page.select_option("#show", "is:error")
    count(page, "1 of 40 sentences")


def page_heads(page):
    return [int(line.split("\t")[6]) for line in page.input_value("#lines").split("\n") if line[0].isdigit()]


def test_learning_from_what_is_accepted(visit, address, tmp_path):
    """Annotate, learn, suggest: accepted trees stay, and the open rest is parsed by what was learnt from them."""
    blank = [s.with_columns(head=["_"] * len(s), deprel=["_"] * len(s)) for s in SENTENCES]
    learnt = [format_sentence(sentence) for sentence in TRAIN[:30]]
    path = tmp_path / "loop.conllu"
    path.write_text("# state = accepted\n".join(["", *learnt]) + "".join(map(format_sentence, blank)))
    page = open_file(visit(address), path, 30 + len(SENTENCES))
    assert page.inner_text("#done").startswith("30 of")
    page.click("#learn")
    page.wait_for_selector("#learning", state="visible")
    page.wait_for_selector("#learning", state="hidden", timeout=300_000)
    wait_until(page, lambda: page.input_value("#model").startswith("learnt-"))
    wait_until(page, lambda: page.locator("#list .corrected").count() > 0)
    content = download(page).decode()
    assert content.startswith("# state = accepted\n".join(["", *learnt]))
    heads = [
        [row.split("\t")[6] for row in block.split("\n") if row[0].isdigit()]
        for block in content.strip("\n").split("\n\n")[30:]
    ]
    gold = [list(sentence.head) for sentence in SENTENCES]
    right = sum(a == b for one, other in zip(heads, gold, strict=True) for a, b in zip(one, other, strict=True))
    assert right > 0.5 * sum(map(len, gold))
    page.select_option("#show", "is:parsed")
    count(page, f"{len(SENTENCES)} of {30 + len(SENTENCES)} sentences")
    assert head_of(page, 1) != "no head"
