"""What tests of the page share: what they see on it, and how they wait."""

from __future__ import annotations

import re

from crossarc.io.conllu import format_sentence
from trained import TEST

SENTENCES = [sentence for sentence in TEST if 6 <= len(sentence) <= 14][:8]
GOLD = "".join(map(format_sentence, SENTENCES))
TEXT = "".join(
    format_sentence(sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence)))
    for sentence in SENTENCES
)
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
PATIENT = (
    "--jobs",
    "1",
    "--time-limit",
    "600",
)  # a second worker may take minutes to start on a busy machine


def head_of(page, word):
    """What a screen reader hears of a word, after its name: label and head."""
    return page.get_attribute(f'.word[data-word="{word}"]', "aria-label").split(": ", 1)[1]


def tree_of(page):
    labels = page.evaluate("[...document.querySelectorAll('.word')].map((word) => word.getAttribute('aria-label'))")
    return [label.split(": ", 1)[1] for label in labels]


def arcs_of(page):
    """The tree without probabilities and marks: label and head of each word."""
    return [label.split(", ")[0].split("; ")[0] for label in tree_of(page)]


def arcs_in(sentence):
    """The same of a sentence with a tree."""
    forms = sentence.form

    def name(word):
        return (
            "the root"
            if not word
            else f"{forms[word - 1]} ({word})"
            if forms.count(forms[word - 1]) > 1
            else forms[word - 1]
        )

    return [f"{label} of {name(int(head))}" for head, label in zip(sentence.head, sentence.deprel, strict=True)]


def wait_until(page, holds):
    """Wait in our own way: the page allows nobody to evaluate strings in it."""
    for _ in range(2400):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it does not happen")


def wait_for_change(page, before):
    """Wait until the tree is another one, and the one that was asked for."""
    wait_until(page, lambda: tree_of(page) != before and page.get_attribute("#drawing", "aria-busy") == "false")


def wait_for_opinion(page):
    """Wait until the parser has said what it thinks of the sentence that is open."""
    wait_until(page, lambda: page.locator("#trees button").count() > 0)


def wait_until_kept(page):
    """Wait until the browser has written what was changed."""
    wait_until(page, lambda: page.get_attribute("body", "data-kept") == "yes")


def open_file(page, path, sentences=None):
    """Open a file; wait until its name, and that many sentences, are there."""
    page.set_input_files("#file", path)
    wait_until(page, lambda: page.inner_text("#name") == path.name)
    if sentences is not None:
        wait_until(page, lambda: re.match(rf"{sentences:,} sentence", page.inner_text("#count")))
    return page


def download(page):
    """The whole file as the page writes it."""
    with page.expect_download() as downloaded:
        page.click("#download-conllu")
    return downloaded.value.path().read_bytes()


def middle(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, word, target):
    page.locator("#drawing").scroll_into_view_if_needed()
    page.mouse.move(*middle(page, f'.word[data-word="{word}"]'))
    page.mouse.down()
    page.mouse.move(*middle(page, target), steps=5)
    page.mouse.up()
