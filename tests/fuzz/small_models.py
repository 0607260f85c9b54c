"""Models of every system that are small enough to be loaded thousands of times a minute, with random weights.

Nothing is trained, so that nothing has to be compiled for training; what they find is nonsense, and that is fine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from crossarc.core import Sentence
from crossarc.enhancing import Enhancer
from crossarc.enhancing import features as enhancing
from crossarc.evaluation.calibration import Calibration
from crossarc.features.language import parse_set
from crossarc.features.templates import parse_templates
from crossarc.features.weights import Quantized
from crossarc.learning.svm import Svm
from crossarc.parsers import (
    CovingtonConfig,
    GenerativeConfig,
    GraphConfig,
    IlpConfig,
    NeuralConfig,
    SpanningTreeConfig,
    train,
)
from crossarc.parsers.combined.batch import MemberWeights
from crossarc.parsers.combined.config import CombinedConfig
from crossarc.parsers.combined.parser import CombinedParser
from crossarc.parsers.covington.features import parse_features
from crossarc.parsers.covington.parser import CovingtonParser, Kernelized, Linear
from crossarc.parsers.graph.features import SCHEMA as GRAPH_SCHEMA
from crossarc.parsers.graph.parser import GraphParser, templates_of_extras
from crossarc.parsers.ilp.parser import IlpParser
from crossarc.parsers.linear.config import linear_config
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.neural.network_file import lstm_sizes, scorer_sizes
from crossarc.parsers.neural.parser import NeuralParser
from crossarc.parsers.pseudo_projective.config import PseudoProjectiveConfig
from crossarc.parsers.pseudo_projective.parser import Coverage, PseudoProjectiveParser
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.stacked.config import StackedConfig
from crossarc.parsers.stacked.parser import StackedParser
from crossarc.scorers.linear.model import view
from crossarc.scorers.linear.scorer import LinearScorer
from crossarc.scorers.neural.lstm import LstmEncoder
from crossarc.scorers.neural.network import Network, weights_of
from crossarc.scorers.neural.stacked import StackedEncoder, StackedSizes
from crossarc.scorers.neural.transformer import TransformerEncoder, TransformerSizes
from crossarc.scorers.neural.vocabulary import Vocabulary
from crossarc.scorers.neural.wordpieces import WordPieces
from crossarc.testing import random_treebank
from crossarc.text import Lemmatizer, Segmenter, Tagger, boundaries, lexicon, multiword, tagger
from crossarc.text.classifier import Classifier

LABELS = ("det", "nsubj", "root")
TREEBANK = list(random_treebank(20, seed=1))
SENTENCES = [
    *sorted(random_treebank(20, seed=2, nonprojectivity=0.5), key=len)[4:12:4],
    Sentence.of(["one"]),
    Sentence.of([]),
]
TEXT = "The cats can't see it. (Yes!)\n\nCities 3.5 a-b"

_TEMPLATES = """[arc]
h.upos m.upos
h.form m+1.upos
[between]
h.upos b.upos m.upos
[sibling]
h.upos s.upos m.upos
[grandparent]
g.upos h.upos m.upos
[any-sibling]
h.upos s.upos m.upos
[valency]
h.upos
[label]
h.upos m.upos
m.form l.upos
[pairs]"""
_PRUNER = "[arc]\nh.upos m.upos"
_LINKS = "[link]\ni.upos j.upos k.upos\ni.feat j.upos\nh.label distance\n[label]\ni.upos j.upos\nl.dependents roots"
_PATH = "[path]\npath h.upos\nsteps m.label rival\n[children]"


def weights(*sizes: int, seed: int = 1) -> Any:
    """Random weights, half of them 0."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=sizes).astype(np.float32)
    found[rng.random(sizes) < 0.5] = 0.0
    return found


def linear(config: Any) -> LinearParser:
    templates = parse_templates(_TEMPLATES)
    own = config.scorer if hasattr(config, "scorer") else config.linear.scorer
    compiled = templates.of_parts(own.parts)
    if own.joint:
        compiled = compiled._replace(label=templates.labels_of_arcs())
    pruner = view(parse_templates(_PRUNER).compiled, weights(1 << 6)) if own.max_candidates else None
    of_labels = view(compiled, weights((1 << 6) + len(LABELS), seed=2), row=len(LABELS))
    scorer = LinearScorer(LABELS, templates, own, view(compiled, weights(1 << 8)), of_labels, pruner)
    return LinearParser(config, scorer, None, "random")


def spanning_tree(**options: Any) -> SpanningTreeParser:
    found = linear(SpanningTreeConfig(single_root=True, projective=False, restarts=3, max_candidates=3, **options))
    return SpanningTreeParser(found.config, found.scorer, None, "random", Calibration())


def with_small_weights(parser: SpanningTreeParser) -> SpanningTreeParser:
    """The same with weights of one byte each."""
    scorer, levels = parser.scorer, np.linspace(-1, 1, 17, dtype=np.float32)

    def quantized(model: Any) -> Any:
        codes = np.random.default_rng(4).integers(0, len(levels), len(model.weights)).astype(np.uint8)
        return model._replace(weights=Quantized(codes, levels))

    assert scorer.pruner is not None
    own = replace(scorer, heads_model=quantized(scorer.heads_model), pruner=quantized(scorer.pruner))
    return replace(parser, scorer=own)


def ilp() -> IlpParser:
    config = IlpConfig(single_root=True, max_candidates=3)
    found = linear(config)
    return IlpParser(config, LinearParser(config.linear, found.scorer, None, "random"))


def graph() -> GraphParser:
    config = GraphConfig(single_root=True, projective=False, max_candidates=3)
    tree = linear(linear_config(config, order="2"))
    templates = templates_of_extras(tree.scorer)
    return GraphParser(
        config,
        tree,
        LABELS[:2],
        view(templates, weights(1 << 6)),
        view(templates, weights((1 << 5) + 2), row=2),
        weights(1 << 16) > 0.0,
        parse_set(GRAPH_SCHEMA, _PATH),
    )


def covington(classifier: str) -> CovingtonParser:
    features = parse_features(_LINKS)
    config = CovingtonConfig(classifier=classifier, single_root=True, projective=False)
    own = Linear(weights(1 << 8), weights((1 << 6) + len(LABELS))) if classifier == "linear" else machines(features)
    return CovingtonParser(config, LABELS, features, own, None, "random")


def machines(features: Any) -> Kernelized:
    rng = np.random.default_rng(3)
    symbols = len(features.compiled.seeds) - 1 + 2 * len(features.compiled.set_slots)
    svm = Svm(
        np.array([0, 77], np.uint64),
        rng.integers(0, 5, (symbols, 8)).astype(np.uint32),
        np.array([[2, 4, 5], [6, 8, 8]]),
        np.array([[0, 1, 5], [0, 4, -1]]),
        weights(8, 2),
        weights(2, 3, 3),
        weights(1 + 2 * len(LABELS)),
        0.2 * np.arange(symbols + 1.0),
    )
    return Kernelized(svm, np.array([11, 22], np.uint64), np.array([0, 1]))


def neural(*, pretrained: bool) -> NeuralParser:
    sizes: dict[str, Any] = {"embedding_size": 3, "hidden_size": 4, "layers": 1, "arc_size": 3, "label_size": 2}
    given = {"encoder": "bert", "tags": "own"} if pretrained else {"tags": "gold"}
    config = NeuralConfig(single_root=True, projective=False, **sizes, **given)
    vocabulary = Vocabulary.of(TREEBANK, ["word", "affix" if pretrained else "tag"])
    of_encoder: dict[str, Any]
    if pretrained:
        pieces = WordPieces(["[CLS]", "[SEP]", "[UNK]", *"abcdefg", *(f"##{c}" for c in "abcdefg")], lowercase=True)
        own = TransformerSizes(len(pieces.pieces), 4, 1, 2, 3, 8, 2, 1e-6)
        context = lstm_sizes(config, vocabulary, own.states)
        of_encoder = random_network(StackedSizes(own, context).shapes)
        encoder: Any = StackedEncoder(
            TransformerEncoder(own, pieces, weights_of("pretrained", of_encoder)),
            LstmEncoder(context, vocabulary, weights_of("context", of_encoder)),
        )
    else:
        sizes_of_encoder = lstm_sizes(config, vocabulary)
        of_encoder = random_network(sizes_of_encoder.shapes)
        encoder = LstmEncoder(sizes_of_encoder, vocabulary, of_encoder)
    tags = {"upos": ("NOUN", "VERB"), "feats": ("_", "Case=Nom")} if pretrained else {}
    found = random_network(scorer_sizes(config, encoder.sizes.states, len(LABELS), tags).shapes)
    found |= {f"encoder.{name}": array for name, array in of_encoder.items()}
    return NeuralParser(config, Network(encoder, found), LABELS, tags, None, "random", Calibration())


def combined() -> CombinedParser:
    members = spanning_tree(order="1"), neural(pretrained=False)
    weights_of_each = MemberWeights((0.5, 0.4), (1.0, 2.0))
    return CombinedParser(CombinedConfig(), members, weights_of_each, LABELS, None, "random", Calibration())


def pseudo_projective() -> PseudoProjectiveParser:
    labels = ("det", "nsubj↑root", "root↓")
    inner = covington("linear")
    inner = replace(inner, config=replace(inner.config, projective=True), labels=labels)
    config = PseudoProjectiveConfig("head+path")
    return PseudoProjectiveParser(config, inner, Coverage(9, 2, 1), LABELS, None, "random")


def stacked() -> StackedParser:
    guide, parser = covington("linear"), spanning_tree(order="1")
    return StackedParser(StackedConfig("covington"), parser, guide, LABELS, None, "random")


def random_network(shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    return {name: weights(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}


def text_components() -> dict[str, Any]:
    tags = tuple({tag: 0 for s in TREEBANK for tag in zip(s.upos, s.xpos, s.feats, strict=True)})
    number = {tag: i for i, tag in enumerate(tags)}
    gold = [number[tag] for s in TREEBANK for tag in zip(s.upos, s.xpos, s.feats, strict=True)]
    known = lexicon.collect([form for s in TREEBANK for form in s.form], gold, tagger._names(tags))
    features = parse_set(tagger.SCHEMA, "[first-pass]\nlower\nlower-1 s2\n[second-pass]\ntag-1 upos+1")
    aspects, (first, second) = tagger._aspects(tags), tagger.compile_passes(features)
    row = int(aspects.max()) + 1
    passes = [Classifier(own, weights((1 << 6) + row, seed=i), aspects) for i, own in enumerate((first, second))]
    ends = parse_set(boundaries.SCHEMA, "[token-end]\nb1 a1\nkb1 ka1\n[sentence-end]\nt\nkind space")
    of_tokens, of_sentences = boundaries.compile_sections(ends)
    words = multiword.MultiwordTokens({"can't": ["ca", "n't"], "del": ["de", "el"]}, {"'s": 2}, frozenset(["it's"]))
    tables = weights((1 << 6) + 2), weights((1 << 6) + 2, seed=2)
    yes_or_no = boundaries.YES_OR_NO
    return {
        "segmenter": Segmenter(
            Classifier(of_tokens, tables[0], yes_or_no), Classifier(of_sentences, tables[1], yes_or_no), words, ends
        ),
        "tagger": Tagger(tags, known, features, *passes),
        "lemmatizer": Lemmatizer.train(TREEBANK),
        "enhancer": enhancer(),
    }


def enhancer() -> Enhancer:
    labels = ("", "amod", "nsubj", "obl:{case}")
    paths = {("^det",): (1,), ("^nsubj",): (2, 0, 3), ("^nsubj", "vamod"): (0, 2)}
    features = parse_set(enhancing.SCHEMA, "[arc]\npath hupos\npath mlemma order")
    classes = np.arange(len(labels))[:, None]
    return Enhancer(
        labels, paths, Classifier(enhancing.compiled(features), weights((1 << 6) + len(labels)), classes), features
    )


MODELS = {
    "order 1": lambda: {"parser": spanning_tree(order="1")},
    "order high": lambda: {"parser": spanning_tree(order="high")},
    "generative": lambda: {"parser": train(TREEBANK, GenerativeConfig())},
    "pipeline": lambda: {"parser": spanning_tree(order="high"), **text_components()},
    "quantized": lambda: {"parser": with_small_weights(spanning_tree(order="high"))},
    "order 2": lambda: {"parser": spanning_tree(order="2")},
    "joint labels": lambda: {"parser": spanning_tree(order="high", labels="joint")},
    "covington": lambda: {"parser": covington("linear")},
    "machines": lambda: {"parser": covington("svm")},
    "neural": lambda: {"parser": neural(pretrained=False)},
    "pretrained": lambda: {"parser": neural(pretrained=True)},
    "combined": lambda: {"parser": combined()},
    "ilp": lambda: {"parser": ilp()},
    "graph": lambda: {"parser": graph()},
    "pseudo-projective": lambda: {"parser": pseudo_projective()},
    "stacked": lambda: {"parser": stacked()},
}
COMPILED_ANYWAY = ("order 1", "order high", "generative", "pipeline", "quantized")  # other tests need the same kernels


@cache
def small_model(name: str) -> dict[str, Any]:
    """The components of a model."""
    return MODELS[name]()
