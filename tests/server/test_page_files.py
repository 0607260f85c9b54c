"""Files on the page, in a real browser: the file's trees are what is shown and saved, and nothing is lost."""

from __future__ import annotations

import pytest

from browsing import (
    GOLD,
    PATIENT,
    SENTENCES,
    TEXT,
    arcs_in,
    arcs_of,
    download,
    drag,
    head_of,
    open_file,
    tree_of,
    wait_for_change,
    wait_for_opinion,
    wait_until,
    wait_until_kept,
)
from crossarc.io.conllu import format_sentence
from serving import serving

pytestmark = pytest.mark.slow

BROKEN = "# sent_id = broken\n1\tx\t_\t_\t_\t_\t_\t_\n\n"


def test_the_trees_of_a_file_are_shown_and_saved(gold):
    assert arcs_of(gold) == arcs_in(SENTENCES[0])
    assert download(gold) == GOLD.encode()
    wait_for_opinion(gold)
    assert arcs_of(gold) == arcs_in(SENTENCES[0])
    assert gold.is_hidden("#whose")
    assert all("%" in label for label in tree_of(gold))  # what the parser thinks of the file's arcs
    assert download(gold) == GOLD.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOLD.replace("\n", "\r\n").encode(),
        b"\n" + GOLD.encode().rstrip(b"\n"),
        BROKEN.encode() + GOLD.encode() + b"# only a comment\n\n\n" + TEXT.encode(),
    ],
    ids=["of Windows", "other blank lines", "with errors and without trees"],
)
def test_what_is_not_touched_is_saved_byte_for_byte(visit, address, tmp_path, content):
    path = tmp_path / "file.conllu"
    path.write_bytes(content)
    page = open_file(visit(address), path)
    assert download(page) == content


def test_sentences_with_errors_are_listed_and_can_be_mended(visit, address, tmp_path):
    path = tmp_path / "broken.conllu"
    path.write_text(BROKEN + GOLD)
    page = open_file(visit(address), path, len(SENTENCES) + 1)
    assert page.inner_text("#list li:first-child").endswith("1 error")
    assert page.inner_text("#problems") == "Line 2: 8 columns instead of 10"
    page.fill("#lines", "# sent_id = broken\n1\tx\t_\t_\t_\t_\t0\troot\t_\t_")
    page.locator("#lines").blur()
    wait_until(page, lambda: head_of(page, 1).startswith("root of the root"))
    assert download(page).decode() == BROKEN.replace("_\t_\n\n", "0\troot\t_\t_\n\n") + GOLD
    page.click("#undo")
    wait_until(page, lambda: page.inner_text("#problems") != "")
    assert download(page).decode() == BROKEN + GOLD


def test_files_that_are_not_what_they_should_be(visit, address, tmp_path):
    page = visit(address)
    path = tmp_path / "latin.conllu"
    path.write_bytes(b"1\t\xe4\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    page.set_input_files("#file", path)
    page.wait_for_selector("#problem:not([hidden])")
    assert "latin.conllu is not in UTF-8" in page.inner_text("#problem")
    path = tmp_path / "spaces.conllu"
    path.write_text(GOLD.replace("\t", "  "))
    open_file(page, path, len(SENTENCES))
    assert page.inner_text("#read-as") == "read as CoNLL-U with spaces instead of tabs"
    assert arcs_of(page) == arcs_in(SENTENCES[0])


def test_a_correction_changes_one_arc_of_a_tree_of_the_file(gold):
    before = arcs_of(gold)
    word = next(i for i, arc in enumerate(before, 1) if "of the root" not in arc)
    drag(gold, word, "#drawing .root-zone")
    wait_for_change(gold, tree_of(gold)[:0])
    wait_until(gold, lambda: arcs_of(gold)[word - 1] == "root of the root")
    assert [arc for i, arc in enumerate(arcs_of(gold), 1) if i != word] == [
        arc for i, arc in enumerate(before, 1) if i != word
    ]
    rows = format_sentence(SENTENCES[0]).split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith(f"{word}\t"))
    columns = rows[at].split("\t")
    # the arc of the graph that was the same goes along
    old = f"{columns[6]}:{columns[7]}"
    deps = sorted(
        {"0:root" if arc == old else arc for arc in columns[8].split("|")}, key=lambda arc: int(arc.split(":")[0])
    )
    rows[at] = "\t".join([*columns[:6], "0", "root", "|".join(deps), columns[9]])
    assert download(gold).decode() == GOLD.replace(format_sentence(SENTENCES[0]), "\n".join(rows), 1)


def test_a_label_that_no_model_knows(gold):
    gold.focus('.word[data-word="2"]')
    gold.keyboard.press("l")
    gold.keyboard.type("very new")
    gold.keyboard.press("Enter")
    wait_until(gold, lambda: head_of(gold, 2).startswith("very_new of "))
    assert gold.evaluate("document.activeElement.dataset.word") == "2"
    assert b"\tvery_new\t" in download(gold)
    gold.click("#reparse")  # around that arc, which stays
    wait_until(gold, lambda: gold.is_visible("#whose"))
    assert head_of(gold, 2).startswith("very_new of ")


def test_the_parsers_opinion_on_request(gold):
    wait_for_opinion(gold)
    for _ in SENTENCES:  # a sentence in which they disagree
        gold.check("#suggest")
        if gold.locator(".suggested").count():
            break
        gold.click("#after")
        wait_for_opinion(gold)
    before = arcs_of(gold)
    word = int(gold.locator(".suggested").first.get_attribute("data-suggested"))
    gold.focus(f'.word[data-word="{word}"]')
    gold.keyboard.press("t")
    wait_until(gold, lambda: arcs_of(gold) != before)
    assert [i for i, (a, b) in enumerate(zip(before, arcs_of(gold), strict=True), 1) if a != b] == [word]
    wait_for_opinion(gold)
    gold.click('#trees [aria-checked="false"]')
    gold.wait_for_selector("#whose")
    assert gold.locator('#trees [aria-checked="true"]').count() == 1


def test_sentences_without_trees_are_parsed_on_request(visit, address, tmp_path):
    path = tmp_path / "some.conllu"
    path.write_text(GOLD + TEXT)
    page = open_file(visit(address), path, 2 * len(SENTENCES))
    assert page.inner_text("#missing-count") == f"{len(SENTENCES)} sentences have no tree."
    page.click("#parse-missing")
    wait_until(page, lambda: page.is_hidden("#missing"))
    content = download(page).decode()
    assert content.startswith(GOLD)
    assert "\t_\t_\t_\t_\n" not in content[len(GOLD) :].replace("\t_\t_\t_\t_\t_\t_", "")
    page.click("#undo")
    assert download(page).decode() == GOLD + TEXT


def test_everything_survives_a_reload(gold, tmp_path):
    page = gold
    page.click("#after")
    page.focus('.word[data-word="1"]')
    page.keyboard.press("l")
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    wait_until(page, lambda: head_of(page, 1).startswith("one of "))
    page.focus('.word[data-word="2"]')
    page.keyboard.press("l")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    wait_until(page, lambda: head_of(page, 2).startswith("two of "))
    page.click("#undo")
    wait_until(page, lambda: not head_of(page, 2).startswith("two of "))
    content = download(page)
    assert b"\tone\t" in content
    wait_until_kept(page)

    page.reload()
    wait_until(page, lambda: page.inner_text("#name") == "gold.conllu")
    assert download(page) == content
    page.click("#redo")
    wait_until(page, lambda: head_of(page, 2).startswith("two of "))
    assert page.inner_text("#position") == f"2 of {len(SENTENCES)}"
    wait_until_kept(page)

    other = tmp_path / "other.conllu"
    other.write_text(TEXT)
    open_file(page, other)
    open_file(page, tmp_path / "gold.conllu")  # the same file again: what was changed is there
    assert b"\ttwo\t" in download(page)
    page.click("#undo")
    page.click("#undo")
    assert page.is_disabled("#undo")
    assert download(page) == GOLD.encode()


def test_nothing_is_lost_when_the_service_dies(visit, model_file):
    with serving(model_file, options=PATIENT) as (address, process):
        page = visit(address)
        page.evaluate("document.getElementById('typing').open = true")
        page.fill("#text", TEXT)
        page.click("#parse")
        page.wait_for_selector("#whose")
        process.kill()
        process.wait()
        word = next(i for i, arc in enumerate(arcs_of(page), 1) if "of the root" not in arc)
        drag(page, word, "#drawing .root-zone")
        wait_until(page, lambda: arcs_of(page)[word - 1] == "root of the root")
        assert "does not answer" in page.inner_text("#problem")
        assert len(download(page).decode().strip().split("\n\n")) == len(SENTENCES)
        page.close()
    visit.expect("ERR_")


def test_text_in_every_column_is_text(visit, address, tmp_path):
    evil = "<img/src=x/onerror=alert(1)>"
    row = [evil, evil, evil, evil, f"A={evil}", "0", evil, f"0:{evil}", f"B={evil}"]
    path = tmp_path / "evil.conllu"
    path.write_text(f"# sent_id = {evil}\n# text = {evil}\n" + "\t".join(["1", *row]) + "\n\n")
    page = open_file(visit(address), path, 1)
    wait_for_opinion(page)
    assert page.inner_text("#sentence-text") == evil
    page.focus('.word[data-word="1"]')
    page.keyboard.press("Enter")
    assert page.locator("main img, #menu img").count() == 0
    page.keyboard.press("Escape")
    assert download(page) == path.read_bytes()


def test_a_long_file_opens_and_scrolls(visit, address, tmp_path):
    path = tmp_path / "long.conllu"
    path.write_text(GOLD * (5000 // len(SENTENCES)))
    page = open_file(visit(address), path, 5000)
    assert page.locator("#list li").count() < 40
    page.evaluate("(list => { list.scrollTop = list.scrollHeight; })(document.getElementById('list'))")
    wait_until(page, lambda: page.locator("#list li button").last.inner_text().startswith("5,000"))
    page.locator("#list li button").last.click()
    wait_until(page, lambda: page.inner_text("#position") == "5,000 of 5,000")
    assert page.locator("#list li").count() < 40
    assert download(page) == path.read_bytes()


def test_two_windows_do_not_write_into_each_others_log(gold, address):
    other = gold.context.new_page()
    other.goto(address)
    wait_until(other, lambda: "open in another window" in other.inner_text("#problem"))
    for page, label in ((gold, "mine"), (other, "yours")):
        page.focus('.word[data-word="1"]')
        page.keyboard.press("l")
        page.keyboard.type(label)
        page.keyboard.press("Enter")
        wait_until(page, lambda page=page, label=label: head_of(page, 1).startswith(f"{label} of "))
        wait_until_kept(page)
    other.close()
    kept = [option.get_attribute("value") for option in gold.locator("#kept option").all()]
    gold.reload()
    wait_until(gold, lambda: gold.locator("#kept option").count() == len(kept) + 1)
    labels = set()
    for option in gold.locator("#kept option").all():
        gold.select_option("#kept", option.get_attribute("value"))
        wait_until(gold, lambda: head_of(gold, 1).startswith(("mine of ", "yours of ")))
        wait_until(gold, lambda seen=frozenset(labels): head_of(gold, 1).split(" of ")[0] not in seen)
        labels.add(head_of(gold, 1).split(" of ")[0])
    assert labels == {"mine", "yours"}
