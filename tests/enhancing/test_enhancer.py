"""Enhanced dependencies from trees: what is learnt, what is promised of every graph, and all ways to ask for it."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sentences import enhanced_treebank

import crossarc
from crossarc.cli import crossarc as commands
from crossarc.core import CrossarcError, Insert, Row, Sentence
from crossarc.enhancing import Enhancer
from crossarc.enhancing.graph import connected
from crossarc.enhancing.lexical import delexicalized, lexicalized
from crossarc.enhancing.paths import LONGEST, PathIndex, path_between
from crossarc.enhancing.tree_view import TreeView
from crossarc.evaluation import evaluate
from crossarc.evaluation.deps import arcs_of_deps
from crossarc.evaluation.graphs import tree_as_graph
from crossarc.io.problems import graph_problems
from crossarc.parsers import ParseOptions, UnsupportedOption, train
from crossarc.pipeline import Pipeline, train_components
from crossarc.testing import random_treebank
from trained import CONFIGS

TRAIN, TEST = enhanced_treebank(150, seed=1), enhanced_treebank(60, seed=2)


@cache
def enhancer() -> Enhancer:
    return Enhancer.train(TRAIN)


@cache
def pipeline() -> Pipeline:
    annotated = train_components(TRAIN, ["segmenter", "tagger", "lemmatizer", "enhancer"])
    return Pipeline(train(annotated.treebank, CONFIGS["order 1"]), **annotated.components, name="my")


def bare(sentence: Sentence) -> Sentence:
    return sentence.with_columns(deps=["_"] * len(sentence))


# ---- what is learnt


def test_patterns_are_learnt_with_cycles_and_words_that_are_new():
    assert [s.deps for s in enhancer().apply(map(bare, TEST))] == [s.deps for s in TEST]
    new = Sentence.of(
        ["woman", "who", "sings", "songs", "meets", "men"],
        lemma=["woman", "who", "sing", "song", "meet", "man"],
        upos=["NOUN", "PRON", "VERB", "NOUN", "VERB", "NOUN"],
        feats=["_", "PronType=Rel", "_", "_", "_", "_"],
    ).with_tree([-1, 5, 3, 1, 3, 0, 5], ["_", "nsubj", "nsubj", "acl:relcl", "obj", "root", "obj"])
    assert enhancer().apply([new])[0].deps == ("3:nsubj|5:nsubj", "1:ref", "1:acl:relcl", "3:obj", "0:root", "5:obj")


@pytest.mark.parametrize("adposition", [["beyond"], ["out", "of"]])
def test_words_in_labels_are_put_back(adposition):
    n = len(adposition)
    tree = Sentence.of(["ran", *adposition, "town"]).with_tree(
        [-1, 0, n + 2, *[2] * (n - 1), 1], ["_", "root", "case", *["fixed"] * (n - 1), "obl"]
    )
    assert enhancer().apply([tree])[0].deps[-1] == f"1:obl:{'_'.join(adposition)}"


def test_empty_nodes_stay_and_their_arcs_are_not_learnt():
    node = Insert(1, Row("1.1", *["_"] * 7, "0:root", "_"))
    with_node = [replace(s, inserts=(node,)).with_columns(deps=["1.1:odd", *s.deps[1:]]) for s in TRAIN[:5]]
    known = Enhancer.train([*TRAIN, *with_node])
    assert not any("odd" in label for label in known.labels)
    assert known.apply(with_node)[0].inserts == (node,)


def test_two_labels_of_one_arc_are_both_written():
    treebank = [
        s.with_columns(deps=[d.replace("2:obj", "2:dep|2:obj") for d in s.deps]) for s in TRAIN if s.deps[2] == "2:obj"
    ]
    assert "2:dep|2:obj" in Enhancer.train(treebank).apply(treebank[:1])[0].deps


def test_nothing_to_learn_is_an_error():
    with pytest.raises(CrossarcError, match="nothing in DEPS"):
        Enhancer.train(list(map(bare, TRAIN)))


def test_training_repeats():
    tensors = [Enhancer.train(TRAIN).to_model()[1] for _ in range(2)]
    np.testing.assert_array_equal(tensors[0]["weights"], tensors[1]["weights"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("English-EWT", 98.0), ("Dutch-Alpino", 96.0), ("Czech-mix", 95.0)])
def test_graphs_of_gold_trees(name, least, treebanks):
    """A good deal better than the trees themselves, from 2,000 sentences."""
    learnt, dev = (list(crossarc.read(treebanks / name / f"{part}.conllu")) for part in ("train", "dev"))
    dev = dev[:400]
    made = evaluate(dev, Enhancer.train(learnt[:2000]).apply(map(bare, dev))).graph
    copied = evaluate(dev, map(tree_as_graph, map(bare, dev))).graph
    assert 100 * made.elas.f1 > max(least, 100 * copied.elas.f1 + 5)


# ---- what is promised of every graph


def reached(deps: tuple[str, ...]) -> set[int]:
    found, waiting = {0}, deque([0])
    while waiting:
        head = str(waiting.popleft())
        for word, own in enumerate(deps, 1):
            if word not in found and head in [h for h, _ in arcs_of_deps(own)]:
                found.add(word)
                waiting.append(word)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_any_tree_gets_a_valid_connected_graph(seed):
    trees = list(random_treebank(40, seed=seed, nonprojectivity=0.5))
    for graph, tree in zip(enhancer().apply(trees), trees, strict=True):
        assert list(graph_problems(graph)) == []
        assert reached(graph.deps) == set(range(len(tree) + 1))
        assert graph == tree.with_columns(deps=graph.deps)


def test_words_without_a_head_have_no_arc():
    tree = Sentence.of(["a", "b"]).with_columns(head=["_", "0"], deprel=["_", "root"])
    assert enhancer().apply([tree, Sentence.of([])])[0].deps == ("_", "0:root")


def test_cycles_and_long_chains_do_no_harm():
    n = 3000
    chain = Sentence.of(["x"] * n).with_tree([-1, 0, *range(1, n)], ["_", "root", *["fixed"] * (n - 1)])
    assert enhancer().apply([chain])[0].deps[-1] == f"{n - 1}:fixed"
    cycle = Sentence.of(["a", "b", "c"]).with_tree([-1, 3, 1, 2], ["_", "fixed", "case", "fixed"])
    assert len(enhancer().apply([cycle])[0].deps) == 3


trees = st.sampled_from(list(random_treebank(80, seed=7, nonprojectivity=0.5)))


@given(trees, st.randoms(use_true_random=False))
def test_tree_arcs_come_back_only_where_they_are_needed(sentence, rng):
    tree = TreeView(sentence)
    n = len(sentence)
    arcs = {(rng.randint(0, n), m, "x") for m in range(1, n + 1) for _ in range(rng.randint(0, 2))}
    graph = connected(arcs, tree)
    assert arcs <= graph
    added = graph - arcs
    assert added <= {(tree.heads[m], m, tree.labels[m]) for m in range(1, n + 1)}
    as_deps = tuple("|".join(f"{h}:{x}" for h, w, x in graph if w == m) or "_" for m in range(1, n + 1))
    assert reached(as_deps) == set(range(n + 1))
    if reached(tuple("|".join(f"{h}:x" for h, w, _ in arcs if w == m) or "_" for m in range(1, n + 1))) == set(
        range(n + 1)
    ):
        assert not added


def all_paths(tree: TreeView, start: int) -> dict[int, list[str]]:
    """The path from a word to every node, by breadth-first search."""
    found: dict[int, list[str]] = {start: []}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        steps = [(child, f"v{tree.labels[child]}") for child in tree.children[node]]
        steps += [(tree.heads[node], f"^{tree.labels[node]}")] if node else []
        for other, step in steps:
            if other not in found:
                found[other] = [*found[node], step]
                waiting.append(other)
    return found


@given(trees, st.randoms(use_true_random=False))
def test_candidates_are_the_nodes_at_the_ends_of_paths(sentence, rng):
    tree = TreeView(sentence)
    of_words = {m: all_paths(tree, m) for m in range(1, len(sentence) + 1)}
    ends = {(m, h): tuple(p) for m, own in of_words.items() for h, p in own.items() if p}
    short = {ends_of for ends_of in ends.values() if len(ends_of) <= LONGEST}
    known = {path for path in sorted(short) if rng.random() < 0.5}
    index = PathIndex(known)
    for (m, h), path in ends.items():
        assert path_between(tree, m, h) == (path if len(path) <= LONGEST else None)
        assert any(c.head == h for c in index.candidates(tree, m)) == (path in known)
    for m in of_words:
        for candidate in index.candidates(tree, m):
            assert candidate.path == ends[m, candidate.head]
            assert (candidate.nodes[0], candidate.nodes[-1]) == (m, candidate.head)


parts = st.text("abc_", min_size=1, max_size=3)


@given(
    st.lists(parts, min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["case", "mark", "1.case", "Case"]), parts),
    st.sampled_from(":>"),
)
def test_labels_survive_without_their_words(labels, sources, separator):
    label = ":".join(labels) if separator == ":" else ">".join(f"{part}:{labels[0]}" for part in labels)
    assert lexicalized(delexicalized(label, sources), sources) == label


# ---- files, and the ways in


@pytest.mark.parametrize("quantized", [False, True])
def test_model_file_keeps_it(quantized, tmp_path):
    path = tmp_path / "my.crossarc"
    replace(pipeline(), quantized=quantized).save(path)
    again = crossarc.load(path)
    assert list(again.components) == ["parser", "segmenter", "tagger", "lemmatizer", "enhancer"]
    assert again.enhancer.apply(TEST) == pipeline().enhancer.apply(TEST)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(commands, list(map(str, arguments)), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "my.crossarc"
    pipeline().save(path)
    return path


def expected(sentences: list[Sentence]) -> list[Sentence]:
    return pipeline().enhancer.apply(pipeline().trees(sentences))


def test_python_asks_for_it():
    text = " ".join(TEST[0].form)
    (sentence,) = pipeline()(text, enhanced=True)
    assert sentence == expected([pipeline()(text)[0]])[0]
    assert "_" not in sentence.deps
    assert list(pipeline().pipe([text, text], enhanced=True)) == [[sentence], [sentence]]
    assert set(pipeline()(text)[0].deps) == {"_"}
    options = ParseOptions(enhanced=True)
    assert list(pipeline().trees(map(bare, TEST), options)) == expected(list(map(bare, TEST)))


def test_every_one_of_the_k_best_trees_has_its_graph():
    for parsed in pipeline().parse(TEST[:10], ParseOptions(k=3, enhanced=True)):
        assert len(parsed.trees) == 3
        assert parsed.sentence == parsed.trees[0].sentence
        sentences = [tree.sentence for tree in parsed.trees]
        assert sentences == pipeline().enhancer.apply(sentences)


def test_sentences_that_are_too_long_stay_as_they_are():
    found = [parsed.sentence for parsed in pipeline().parse(TEST, ParseOptions(max_length=5, enhanced=True))]
    lengths = [len(sentence) > 5 for sentence in TEST]
    assert any(lengths)
    for long, sentence, given_one in zip(lengths, found, TEST, strict=True):
        assert sentence == (given_one if long else expected([given_one])[0])


def test_command_asks_for_it(model, tmp_path):
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    crossarc.write(map(bare, TEST), source)
    run("parse", source, "-m", model, "--enhanced", "-o", target)
    assert [s.columns for s in crossarc.read(target)] == [s.columns for s in expected(list(map(bare, TEST)))]
    scores = json.loads(run("evaluate", source, target, "--graph", "--json"))
    assert scores["elas"]["system"] > scores["elas"]["gold"] > 0
    run("parse", source, "-m", model, "-o", target)
    assert all(set(sentence.deps) == {"_"} for sentence in crossarc.read(target))
    run("parse", source, "-m", model, "--enhanced", "-o", tmp_path / "out.sdp")
    assert [s.form for s in crossarc.read(tmp_path / "out.sdp")] == [s.form for s in TEST]


def test_corpus_asks_for_it(model, tmp_path):
    source = tmp_path / "in.conllu"
    crossarc.write(map(bare, TEST), source)
    run("corpus", "parse", source, "-m", model, "-o", tmp_path / "out", "--enhanced", "--jobs", "1")
    (part,) = (tmp_path / "out").glob("part-*.conllu*")
    assert [s.deps for s in crossarc.read(part)] == [s.deps for s in expected(list(map(bare, TEST)))]


def test_train_command_learns_it(tmp_path):
    treebank, model = tmp_path / "train.conllu", tmp_path / "my.crossarc"
    crossarc.write(TRAIN, treebank)
    run("train", treebank, "-m", model, "--order", "1", "--epochs", "1", "--with", "enhancer")
    assert list(crossarc.load(model).components) == ["parser", "enhancer"]
    assert "enhancer" in run("inspect", model)
    crossarc.write(map(bare, TRAIN), treebank)
    with pytest.raises(CrossarcError, match="nothing in DEPS"):
        run("train", treebank, "-m", model, "--order", "1", "--epochs", "1", "--with", "enhancer")


def test_models_without_one_refuse(tmp_path):
    without = replace(pipeline(), enhancer=None)
    with pytest.raises(UnsupportedOption, match="my has no enhancer"):
        without.parse(TEST, ParseOptions(enhanced=True))
    with pytest.raises(UnsupportedOption, match="--enhanced: not with a model of --system spanning-tree"):
        list(without.parser.parse(TEST, ParseOptions(enhanced=True)))
    path, source = tmp_path / "without.crossarc", tmp_path / "in.conllu"
    without.save(path)
    crossarc.write(TEST, source)
    for command in (["parse", source], ["corpus", "parse", source, "-o", tmp_path / "out"]):
        with pytest.raises(UnsupportedOption, match="no enhancer"):
            run(*command, "-m", path, "--enhanced")
