"""The language of feature sets: what can be written, and which mistakes are named."""

from __future__ import annotations

from importlib import resources

import pytest

from crossarc.core import InputError
from crossarc.features.language import Schema, Section, load_set, parse_set
from crossarc.features.templates import load_templates, parse_templates
from crossarc.parsers.covington.features import load_features
from crossarc.text.boundaries import SCHEMA as SEGMENTER
from crossarc.text.boundaries import compile_sections
from crossarc.text.tagger import SCHEMA as TAGGER
from crossarc.text.tagger import compile_passes

SCHEMA = Schema(
    "spanning_tree",
    {
        "arc": Section(("h", "m"), has_distance=True),
        "link": Section(("i", "lj"), own_attributes=("label",), others=("distance",), max_atoms=3),
        "word": Section(attributes=("lower", "s3")),
    },
    required=(),
    switches=("pairs",),
)


def templates(text: str, section: str = "arc") -> list[str]:
    return [template.text for template in parse_set(SCHEMA, text).templates[section]]


def test_atoms_have_a_word_an_offset_and_an_attribute():
    (template,) = parse_set(SCHEMA, "[link]\ni-1.upos  lj.label distance # tag, label").templates["link"]
    assert template.text == "i-1.upos lj.label distance"
    assert [atom[1:] for atom in template.atoms] == [("i", -1, "upos"), ("lj", 0, "label"), ("", 0, "distance")]


def test_the_only_word_goes_without_a_name():
    (template,) = parse_set(SCHEMA, "[word]\nlower-1 s3+2 s3").templates["word"]
    assert [atom[1:] for atom in template.atoms] == [("", -1, "lower"), ("", 2, "s3"), ("", 0, "s3")]


def test_brackets_stand_for_each_atom_in_turn():
    assert templates("[arc]\nh.upos (m.upos m.form)") == ["h.upos m.upos", "h.upos m.form"]
    assert templates("[arc]\n(h.upos m.upos) (h.upos m.upos)") == ["h.upos", "h.upos m.upos", "m.upos"]


def test_a_conjunction_counts_once():
    assert templates("[arc]\nh.upos m.upos\nm.upos h.upos\nh.upos m.upos") == ["h.upos m.upos"]


def test_templates_with_distance_come_first():
    found = parse_set(SCHEMA, "[arc without distance]\nh.upos\n[arc]\nm.upos\n[pairs]")
    assert [(t.text, t.with_distance) for t in found.templates["arc"]] == [("m.upos", True), ("h.upos", False)]
    assert found.switches == {"pairs"}


def test_a_set_includes_others_and_its_text_needs_no_file(tmp_path):
    (tmp_path / "a.txt").write_text("include b.txt\ninclude mcd2005\n[arc]\nh.suffix\n")
    (tmp_path / "b.txt").write_text("[arc]\nm.suffix")
    found = load_templates(str(tmp_path / "a.txt"))
    lines = [template.text for template in found.features.templates["arc"]]
    theirs = [template.text for template in load_templates("mcd2005").features.templates["arc"]]
    assert lines == ["m.suffix", *theirs, "h.suffix"]
    assert parse_templates(found.text).features == found.features


def test_sets_written_on_windows_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("\ufeff[arc]\r\nm.suffix\r\n", encoding="utf-8", newline="")
    assert [template.text for template in load_templates(str(tmp_path / "a.txt")).features.templates["arc"]] == [
        "m.suffix"
    ]


def test_mistakes_in_an_included_file_are_named_there(tmp_path):
    (tmp_path / "a.txt").write_text("# ours\ninclude b.txt")
    (tmp_path / "b.txt").write_text("[arc]\n\nh.colour")
    with pytest.raises(InputError, match=r"b.txt:3: 'h.colour': a word has the attributes"):
        load_templates(str(tmp_path / "a.txt"))
    (tmp_path / "b.txt").write_text("include a.txt")
    with pytest.raises(InputError, match=r"b.txt:1: a.txt includes itself"):
        load_templates(str(tmp_path / "a.txt"))
    (tmp_path / "b.txt").write_bytes(b"[arc]\nh.upos \xff")
    with pytest.raises(InputError, match=r"b.txt: not valid UTF-8"):
        load_templates(str(tmp_path / "a.txt"))
    (tmp_path / "b.txt").write_text("[arc]\ninclude a\0b")
    with pytest.raises(InputError, match=r"b.txt:2: a\0b: no such file"):
        load_templates(str(tmp_path / "a.txt"))
    (tmp_path / "b.txt").write_text("[arc]\ninclude nowhere")
    with pytest.raises(
        InputError, match=r"b.txt:2: nowhere: no such file, nor a feature set of ours \(default, guide, mcd2005"
    ):
        load_templates(str(tmp_path / "a.txt"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h.upos", r"t.txt:1: a template before the first section, such as \[arc\]"),
        ("[pairs]\nh.upos", r"t.txt:2: a template before the first section"),
        ("[arc]\nh.upos\n[tree]", r"t.txt:3: unknown section \[tree\]; there are arc, link, word, pairs"),
        ("[arc]\nh.colour", "t.txt:2: 'h.colour': a word has the attributes"),
        ("[arc]\ns.upos", r"t.txt:2: 's.upos': \[arc\] has the words h, m"),
        ("[arc]\nh+3.upos", r"t.txt:2: 'h\+3.upos' is not an atom such as h.form, h-1.form"),
        ("[arc]\nupos", "t.txt:2: 'upos' is not an atom"),
        ("[arc]\nh.upos+1", r"t.txt:2: 'h.upos\+1' is not an atom"),
        ("[word]\nh.lower", "t.txt:2: 'h.lower' is not an atom such as lower, lower-1"),
        ("[link]\ni-1.label", "t.txt:2: 'i-1.label': a neighbour has no label"),
        ("[link]\ni.upos lj.upos i.form lj.form", "t.txt:2: a conjunction of more than 3 atoms"),
        ("[arc]\nh.upos (m.upos", "t.txt:2: brackets that do not match"),
        ("[arc]\nh.upos ()", "t.txt:2: brackets with nothing in them"),
        ("[arc]\n" + "(h.upos h.form h.lemma h.xpos h.feats) " * 6, "t.txt:2: a line of more than 10000 templates"),
        ("[arc]\ninclude default", "t.txt:2: only a file can include another"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(InputError, match=message):
        parse_set(SCHEMA, text, "t.txt")


def test_every_set_of_ours_compiles():
    folders = {path.name: path for path in (resources.files("crossarc.features") / "sets").iterdir()}
    names = {
        name: sorted(path.name.removesuffix(".txt") for path in folder.iterdir()) for name, folder in folders.items()
    }
    assert names["spanning_tree"] == ["default", "guide", "mcd2005", "mp2006", "pruner"]
    for name in names["spanning_tree"]:
        assert len(load_templates(name).compiled.arc.seeds)
    assert len(load_features("default").compiled.links) > 300
    first, second = compile_passes(load_set(TAGGER, "default"))
    assert len(second.seeds) > len(first.seeds) > 40
    assert all(len(compiled.seeds) > 20 for compiled in compile_sections(load_set(SEGMENTER, "default")))


def test_seeds_stay_what_they_are():
    """Weights of models depend on them."""
    default = load_templates("default").compiled
    assert default.arc.seeds[:2].tolist() == [12539379154604990764, 15249850725463323790]
    assert load_features("default").compiled.seeds[:2].tolist() == [8763636793969821733, 2101463302112643527]
    first, _ = compile_passes(load_set(TAGGER, "default"))
    assert first.seeds[:2].tolist() == [43825052349213149, 9159477380335546648]
