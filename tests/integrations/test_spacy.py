"""Crossarc in a pipeline of spaCy: a real one, with its own tokenizer, matchers and drawings."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import crossarc
from crossarc.core import CrossarcError, Insert, Row, Sentence
from crossarc.parsers import Parsed
from crossarc.pipeline import Pipeline
from trained import TEST, trained

spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install '.[spacy]'")

from spacy import displacy  # noqa: E402
from spacy.matcher import DependencyMatcher, Matcher  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

from crossarc.integrations import spacy as integration  # noqa: E402
from crossarc.integrations._spacy_docs import annotate, places_of_tokens, retokenize  # noqa: E402
from crossarc.text.offsets import pieces_of  # noqa: E402

pytestmark = pytest.mark.slow  # CI installs spaCy for the slow tests
TEXT = "  A hearing is scheduled on the issue today.\n\nI don't know: we're gonna see it.  Yes (or no)..."


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("crossarc", config={"model": "en"})
    return pipeline


@pytest.fixture(scope="module")
def doc(nlp):
    return nlp(TEXT)


def trees(doc):
    return [(token.text, token.head.i, token.dep_) for token in doc]


def test_spacy_finds_the_component_by_itself():
    if not entry_points(group="spacy_factories", name="crossarc"):
        pytest.skip("Crossarc was installed before it had the entry point: pip install -e . again")
    program = "import spacy; print(type(spacy.blank('en').add_pipe('crossarc')).__name__)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "CrossarcComponent\n"


def test_the_entry_point_is_the_factory():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["crossarc"].partition(":")
    assert getattr(importlib.import_module(module), name) is integration.make_component


def test_a_document_has_what_the_model_finds(doc):
    expected = crossarc.load("en")(TEXT, confidence=True)
    found = integration.sentences_of(doc)
    for name in ("form", "lemma", "upos", "xpos", "feats", "head", "deprel"):
        assert [getattr(s, name) for s in found] == [getattr(s, name) for s in expected], name
    tokens = [token for token in doc if not token.is_space]
    words = [word for sentence in expected for word in sentence]
    assert [token._.arc_probability for token in tokens] == pytest.approx([w.probability for w in words], abs=1.01e-4)
    assert all(token._.label_probability <= 1 for token in tokens)


def test_offsets_are_those_of_the_text(doc):
    assert doc.text == TEXT
    for token in doc:
        assert TEXT[token.idx : token.idx + len(token)] == token.text
    assert [token.text for token in doc][12:16] == ["do", "n't", "know", ":"]
    assert [span.text.strip() for span in doc.sents] == [s.text for s in crossarc.load("en").segment(TEXT)]


def test_white_space_hangs_on_its_neighbour(doc):
    spaces = [token for token in doc if token.is_space]
    assert [token.head.i - token.i for token in spaces] == [1, -1, -1]
    assert {token.pos_ for token in spaces} == {"SPACE"}


CROSSING = Sentence.of(["a", "b", "c", "d"], upos=["X"] * 4).with_tree([-1, 3, 0, 2, 2], ["_", "w", "root", "y", "z"])


def test_crossing_arcs_and_two_roots_arrive_as_they_are():
    two = Sentence.of(["e", "f", "g"]).with_tree([-1, 0, 1, 0], ["_", "root", "x", "root"])
    doc = Doc(spacy.blank("en").vocab, ["a", "b", "c", "d", "e", "f", "g"])
    pieces = list(pieces_of([CROSSING, two], doc.text))
    annotate(doc, [(s, places_of_tokens(doc, own)) for s, own in zip([CROSSING, two], pieces, strict=True)])
    assert [token.head.i for token in doc] == [2, 1, 1, 1, 4, 4, 6]
    assert [token.text for token in doc[1].children] == ["c", "d"]
    assert [token.text for token in doc[2].subtree] == ["a", "c"]
    assert [span.text for span in doc.sents] == ["a b c d", "e f g"]
    assert [s.heads.tolist() for s in integration.sentences_of(doc)] == [CROSSING.heads.tolist(), two.heads.tolist()]


def test_a_multiword_token_stays_one_token():
    """``vom`` is ``von`` and ``dem``: what hangs on either hangs on the token, and nothing is shifted."""
    token = Insert(1, Row("2-3", "vom", *["_"] * 8))
    sentence = Sentence.of(["kam", "von", "dem", "Haus"], lemma=["kommen", "von", "der", "Haus"], upos=["X"] * 4)
    sentence = sentence.with_tree([-1, 0, 4, 4, 1], ["_", "root", "case", "det", "obl"])
    sentence = Sentence(sentence.columns, (), (token,))
    doc = spacy.blank("de")("kam vom Haus")
    (pieces,) = pieces_of([sentence], doc.text)
    retokenize(doc, pieces)
    places = places_of_tokens(doc, pieces)
    annotate(doc, [(sentence, places)])
    assert [(t.text, t.idx, t.head.text, t.dep_, t.lemma_) for t in doc] == [
        ("kam", 0, "kam", "root", "kommen"),
        ("vom", 4, "Haus", "case", "von der"),
        ("Haus", 8, "kam", "obl", "Haus"),
    ]
    integration._extend(doc[1], Parsed(sentence), places[1].words)
    assert [row[0] for row in doc[1]._.words] == ["von", "dem"]
    assert doc[0]._.words == []


def test_tokens_are_cut_and_joined_in_place():
    doc = spacy.blank("en")("New York-based 3.50$!")
    doc.set_ents([doc.char_span(0, 8, label="GPE")])
    sentence = Sentence.of(["New York", "-based", "3.50", "$!"], misc=["SpaceAfter=No", "_", "SpaceAfter=No", "_"])
    (pieces,) = pieces_of([sentence], doc.text)
    retokenize(doc, pieces)
    assert [token.text for token in doc] == list(sentence.form)
    assert doc.text == "New York-based 3.50$!"
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("New York", "GPE")]


def test_spacys_own_tokens_and_sentences_can_stay():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer", config={"punct_chars": [";"]})
    pipeline.add_pipe("crossarc", config={"tokens": "spacy", "confidence": False})
    text = "She saw it; I don't know. Not me"
    before = pipeline.make_doc(text)
    doc = pipeline(text)
    assert [token.text for token in doc] == [token.text for token in before]
    assert [span.text for span in doc.sents] == ["She saw it;", "I don't know. Not me"]
    assert doc[1].dep_ == "root"
    assert doc[0]._.arc_probability is None


def test_spacys_tokens_are_grouped_by_the_models_sentences():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("crossarc", config={"tokens": "spacy"})
    doc = pipeline("She left. I stayed.")
    assert [span.text for span in doc.sents] == ["She left.", "I stayed."]
    assert doc.has_annotation("DEP")


def test_a_parser_alone_takes_a_document_as_one_sentence(tmp_path):
    parser = trained("order 1")
    parser.save(tmp_path / "my.crossarc")
    component = integration.CrossarcComponent(str(tmp_path / "my.crossarc"), confidence=False)
    doc = component(Doc(spacy.blank("en").vocab, list(TEST[0].form)))
    assert len(list(doc.sents)) == 1
    assert [s.heads.tolist() for s in integration.sentences_of(doc)] == [
        tree.heads.tolist() for tree in parser.trees([Sentence.of(TEST[0].form)])
    ]


def test_many_documents_are_those_one_by_one(nlp):
    texts = [TEXT, "", "   ", "Yes.", "She saw the dog that he bought yesterday."] * 3
    docs = list(nlp.pipe(texts, batch_size=4))
    assert [trees(doc) for doc in docs] == [trees(nlp(text)) for text in texts]
    assert [doc.text for doc in docs] == texts
    assert [context for _, context in nlp.pipe([("Yes.", 1), ("No.", 2)], as_tuples=True)] == [1, 2]


def test_matchers_and_drawings_work(nlp, doc):
    matcher = DependencyMatcher(nlp.vocab)
    verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"POS": "VERB"}}
    subject = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "subject", "RIGHT_ATTRS": {"DEP": "nsubj:pass"}}
    matcher.add("passive", [[verb, subject]])
    assert [[doc[i].text for i in found] for _, found in matcher(doc)] == [["scheduled", "hearing"]]
    plain = Matcher(nlp.vocab)
    plain.add("negated", [[{"LEMMA": "do"}, {"LEMMA": "not", "DEP": "advmod"}]])
    assert [doc[start:end].text for _, start, end in plain(doc)] == ["don't"]
    svg = displacy.render(next(s for s in doc.sents if "hearing" in s.text), style="dep", jupyter=False)
    assert "nsubj:pass" in svg


def test_the_root_of_spacys_own_parsers_is_that_of_treebanks():
    words = Doc(spacy.blank("en").vocab, ["She", "left"], heads=[1, 1], deps=["nsubj", "ROOT"])
    (sentence,) = integration.sentences_of(words)
    assert sentence.deprel == ("nsubj", "root")
    assert sentence.root.form == "left"


def test_pipelines_are_saved_with_their_model(nlp, doc, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    assert trees(spacy.load(tmp_path / "pipeline")(TEXT)) == trees(doc)
    other = spacy.blank("en")
    other.add_pipe("crossarc", config={"model": "no such file"})
    other.from_bytes(nlp.to_bytes())
    assert trees(other(TEXT)) == trees(doc)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again[2]._.arc_probability == doc[2]._.arc_probability
    component = pickle.loads(pickle.dumps(nlp.get_pipe("crossarc")))
    assert isinstance(component.pipeline, Pipeline)
    assert trees(component(nlp.make_doc(TEXT))) == trees(doc)


def test_bad_configurations_are_one_line():
    with pytest.raises(CrossarcError, match="it must be"):
        integration.CrossarcComponent(tokens="mine")
    with pytest.raises(CrossarcError, match="no such file"):
        integration.CrossarcComponent("no such file")(spacy.blank("en")("Yes."))
