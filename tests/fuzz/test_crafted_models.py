"""Model files that somebody has made to do harm: each is refused with one line that says what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from model_mutations import Mutations
from small_models import MODELS, small_model

from crossarc import load
from crossarc.cli import crossarc
from crossarc.cli.inspect import command
from crossarc.models import ModelError
from crossarc.models.schema import Flag, ListOf, MapOf, Maybe, Number, OneOf, Record, Row, Text, Whole
from crossarc.models.tensors import Array, HashedWeights, check_tensors
from crossarc.parsers.registry import KNOWN
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser


def loaded(tmp_path, name, change):
    """What becomes of a model after a change of its header and tensors."""
    mutations = Mutations(name, small_model(name))
    path = tmp_path / "crafted"
    path.write_bytes(mutations.changed(change))
    return load(path)


def tensor(name, array):
    return lambda header, arrays: arrays.update({name: array})


def cut(name, length):
    return lambda header, arrays: arrays.update({name: arrays[name][:length]})


def field(*path, value):
    def change(header, arrays):
        own = header["components"]
        for step in path[:-1]:
            own = own[step]
        own[path[-1]] = value

    return change


def words(name, **others):
    """A word list with other entries."""

    def change(header, arrays):
        known = json.loads(arrays[name].tobytes())
        arrays[name] = np.frombuffer(json.dumps({**known, **others}).encode(), dtype=np.uint8)

    return change


def packed(name, value):
    """Another word list."""
    return tensor(name, np.frombuffer(json.dumps(value).encode(), dtype=np.uint8))


def without_levels(header, arrays):
    arrays["parser.heads"] = np.zeros(256, np.uint8)
    arrays["parser.heads.levels"] = np.zeros(0, np.float32)


def with_codes_beyond(header, arrays):
    arrays["parser.heads"] = np.full(256, 3, np.uint8)
    arrays["parser.heads.levels"] = np.zeros(3, np.float32)


def claims_much(header, arrays):
    header["sparse"]["parser.heads"] = 10**12
    arrays["parser.heads.nonzero"] = np.zeros(32, np.uint8)


CRAFTED = {
    "no weights": ("order high", cut("parser.heads", 0), "heads has 0 weights"),
    "one weight": ("order high", cut("parser.heads", 1), "heads has 1 weights"),
    "a pruner without weights": ("order high", cut("parser.pruner", 0), "pruner has 0 weights"),
    "a pruner of one weight": ("order high", cut("parser.pruner", 1), "pruner has 1 weights"),
    "a row too short": ("order high", cut("parser.labels", -1), "labels has 66 weights, not a power of two and 3"),
    "no levels": ("order high", without_levels, "it has no levels"),
    "codes beyond the levels": ("order high", with_codes_beyond, "the code 3 is none of its 3 levels"),
    "10**12 elements": ("order high", claims_much, "sparse has 1000000000000"),
    "weights that are none": ("order 1", tensor("parser.heads", np.full(256, np.nan, np.float32)), "not from"),
    "doubles": ("order 1", tensor("parser.heads", np.zeros(256)), "1 dimensions of float64"),
    "a table of tables": ("order 1", tensor("parser.heads", np.zeros((16, 16), np.float32)), "2 dimensions"),
    "something else": ("order 1", tensor("parser.x", np.zeros(2)), "a tensor 'x', which nothing needs"),
    "of nobody": ("order 1", tensor("x", np.zeros(2)), "belongs to no component"),
    "no labels": ("order 1", field("parser", "labels", value=[]), "labels has 0 entries"),
    "labels that break lines": ("order 1", field("parser", "labels", value=["a\nb"] * 3), "control characters"),
    "no system": ("order 1", field("parser", "system", value=None), "no parser"),
    "a system that is a list": ("order 1", field("parser", "system", value=["x"]), "does not know"),
    "many restarts": ("order high", field("parser", "config", "restarts", value=10**15), "restarts is 10+: it must be"),
    "more than 64 bits": ("order 1", field("parser", "config", "seed", value=10**400), "seed is larger than"),
    "bad templates": ("order 1", field("parser", "templates", value="[arc]\nh.nothing"), "a word has the attributes"),
    "no temperature": ("order 1", field("parser", "temperatures", "arcs", value=0), "arcs has 0, not a number from"),
    "segmenter.tokens of 1": ("pipeline", cut("segmenter.tokens", 1), "tokens has 1 weights"),
    "segmenter.tokens of 3": ("pipeline", cut("segmenter.tokens", 3), "tokens has 3 weights"),
    "classes beyond": ("pipeline", words("tagger.words", guesses={"": [0, 1, 2, 3, 10**9]}), "has 1000000000, not"),
    "a class too many": (
        "pipeline",
        words("tagger.words", guesses={"": [10**4]}),
        "guesses has 10000, not",
    ),
    "no guess for all": ("pipeline", words("tagger.words", guesses={"x": [0]}), "no guess for all words"),
    "200,000 tags": (
        "pipeline",
        words("tagger.words", tags=[["X", str(i), "_"] for i in range(200_000)]),
        "tags has 200000 entries",
    ),
    "tags without weights": (
        "pipeline",
        words("tagger.words", tags=[["X", str(i), "_"] for i in range(60_000)]),
        "weights are no table",
    ),
    "a lemmatizer of another form": ("pipeline", words("lemmatizer.rules", words={"a": "lower"}), "not a text such as"),
    "scripts of digits": ("pipeline", words("lemmatizer.rules", words={"a": "lower\t99999\t\t0\t"}), "not a text"),
    "labels of paths beyond": ("pipeline", packed("enhancer.paths", [[["^det"], [4]]]), "none of its 4"),
    "paths without labels": ("pipeline", packed("enhancer.paths", [[["^det"], []]]), "has 0 entries"),
    "paths without end": (
        "pipeline",
        packed("enhancer.paths", [[["^det"] * 9999, [0]]]),
        "has 9999 entries, not 1 to 4",
    ),
    "steps to nowhere": ("pipeline", packed("enhancer.paths", [[["det"], [0]]]), "not a text such as"),
    "enhanced labels without weights": ("pipeline", field("enhancer", "labels", value=["a"] * 9), "weights has"),
    "enhanced labels that break lines": ("pipeline", field("enhancer", "labels", value=["a\nb"] * 4), "control"),
    "enhancer.weights of 3": ("pipeline", cut("enhancer.weights", 3), "weights has 3 weights"),
    "no words": ("pipeline", words("segmenter.words", words={"don't": []}), "has 0 entries"),
    "an ending of nothing": ("pipeline", words("segmenter.words", endings={"s": 0}), "not a number from 1"),
    "not JSON": ("pipeline", tensor("lemmatizer.rules", np.zeros(9, np.uint8)), "not JSON"),
    "no machines": ("machines", cut("parser.keys", 0), "2 where 0 belong"),
    "vectors beyond": ("machines", tensor("parser.ends", np.array([[2, 4, 5], [6, 8, 9]])), "not from 0 to 8"),
    "a class beyond": ("machines", tensor("parser.classes", np.array([[0, 1, 7], [0, 4, -1]])), "not from -1 to 6"),
    "other features": ("machines", field("parser", "features", value="[link]\ni.upos\n[label]\ni.upos"), "symbols"),
    "places without an arc": ("covington", cut("parser.links", 4), "links has 4 weights"),
    "cells beyond": ("generative", tensor("parser.stop.0.cells", np.array([0, 10**15])), "shape|outcomes"),
    "no unknown word": ("generative", field("parser", "words", value=[[0, "a"]]), "one for unknown words"),
    "a million layers": (
        "pretrained",
        field("parser", "encoder", "pretrained", "num_hidden_layers", value=10**6),
        "layers has",
    ),
    "a network of other sizes": ("neural", field("parser", "config", "hidden_size", value=5), "belong"),
    "an unknown column": ("neural", field("parser", "tags", value={"misc": ["x"]}), "not one of upos"),
    "graphs from other trees": ("graph", field("parser", "tree", "config", "order", value="1"), "trees of order 2"),
    "extra arcs without labels": ("graph", field("parser", "extra_labels", value=[]), "not a power of two|any labels"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_it_is_refused_with_one_line(tmp_path, name):
    model, change, message = CRAFTED[name]
    with pytest.raises(ModelError, match=message) as caught:
        loaded(tmp_path, model, change)
    assert str(caught.value).startswith(str(tmp_path / "crafted"))
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("lacking", ["labels", "dev", "treebank", "config", "system"])
def test_the_command_that_shows_a_header_checks_it(tmp_path, lacking):
    path = tmp_path / "crafted"
    without = lambda header, arrays: header["components"]["parser"].pop(lacking)  # noqa: E731
    path.write_bytes(Mutations("order 1", small_model("order 1")).changed(without))
    result = CliRunner().invoke(command, [str(path)])
    assert isinstance(result.exception, ModelError)
    assert lacking in str(result.exception) or lacking == "system"


def crafted(tmp_path, name, change):
    """The path of a model after a change of the header of its parser."""
    path = tmp_path / "crafted"
    mutations = Mutations(name, small_model(name))
    path.write_bytes(mutations.changed(lambda header, arrays: change(header["components"]["parser"])))
    return path


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("combined", lambda parser: parser["members"][1].pop("config"), "members 1 has no config"),
        ("combined", lambda parser: parser["members"][1].update(system="stacked"), "of system stacked among several"),
        ("stacked", lambda parser: parser["guide"].pop("labels"), "guide has no labels"),
        ("stacked", lambda parser: parser.pop("parser"), "has no parser"),
        ("pseudo-projective", lambda parser: parser["parser"].update(system="x"), "unknown: x"),
        ("pseudo-projective", lambda parser: parser.clear(), "no parser"),
    ],
)
def test_inner_parsers_are_checked_before_anything_is_said_of_a_model(tmp_path, name, change, problem):
    path = str(crafted(tmp_path, name, change))
    for arguments in (["inspect", path], ["parse", "-m", path, "--help"]):
        result = CliRunner().invoke(crossarc, arguments, standalone_mode=False)
        assert isinstance(result.exception, ModelError)
        assert problem in str(result.exception)


def test_the_members_of_a_combined_parser_are_shown(tmp_path):
    path = crafted(tmp_path, "combined", lambda parser: None)
    rows = dict(line.split("  ", 1) for line in CliRunner().invoke(command, [str(path)]).output.splitlines())
    assert rows["member 1"].strip() == "spanning-tree"
    assert rows["member 1's order"].strip() == "1"
    assert rows["member 2"].strip() == "neural"


def test_a_parser_is_not_loaded_from_a_file_without_one(tmp_path):
    path = tmp_path / "crafted"
    path.write_bytes(
        Mutations("order 1", small_model("order 1")).changed(lambda h, a: (h["components"].clear(), a.clear()))
    )
    with pytest.raises(ModelError, match="has no config"):
        SpanningTreeParser.load(path)


def test_as_it_was_it_is_loaded(tmp_path):
    for name in MODELS:
        assert loaded(tmp_path, name, lambda header, arrays: None).parser.labels


def test_every_system_has_a_model_here():
    systems = {small_model(name)["parser"].system for name in MODELS}
    assert systems == set(KNOWN)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Text(3), ["", "abc"], [1, "abcd", "\x1b", "\ud800", None]),
        (Text(lines=True), ["a\nb\tc"], ["\x00", "\r"]),
        (Whole(1, 9), [1, 9], [0, 10, True, 1.0, "1"]),
        (Number(0, 1), [0, 0.5, 1], [float("nan"), -0.1, float("inf"), True, "0"]),
        (Flag(), [True, False], [0, None]),
        (OneOf(("a", "b")), ["a"], ["c", ["a"], None]),
        (Maybe(Flag()), [None, True], [1]),
        (ListOf(Whole(), least=1, most=2), [[1], [1, 2]], [[], [1, 2, 3], ["a"], (1,), {}]),
        (Row((Whole(), Text())), [[1, "a"]], [[1], ["a", 1], [1, "a", 2]]),
        (MapOf(Whole(), keys=OneOf(("a", "b"))), [{}, {"a": 1}], [{"c": 1}, {"a": "x"}, []]),
        (Record({"a": Whole(), "b": Flag()}, optional=("b",)), [{"a": 1}, {"a": 1, "c": 2}], [{}, {"a": 1, "b": 2}]),
    ],
)
def test_kinds_let_in_what_they_say(kind, good, bad):
    kind.check(good, "here")
    kind.check([], "here")
    for value in bad:
        with pytest.raises(ModelError, match=r"^here"):
            kind.check([*good, value], "here")


def test_lengths_with_a_name_belong_together():
    kinds = {"a": Array(np.int64, ("n",), low=0, high="n"), "b": Array(np.float32, ("n", ("n", -1)))}
    check_tensors({"a": np.array([0, 2]), "b": np.zeros((2, 1), np.float32)}, kinds)
    for a, b in (([0, 3], (2, 1)), ([0, 2], (2, 2)), ([0, -1], (2, 1)), ([0, 1, 2], (2, 1))):
        with pytest.raises(ModelError, match="tensor"):
            check_tensors({"a": np.array(a), "b": np.zeros(b, np.float32)}, kinds)


@pytest.mark.parametrize("size", [0, 1, 31, 33, 100])
def test_tables_are_powers_of_two(size):
    array = np.broadcast_to(np.float32(0), size)
    with pytest.raises(ModelError, match="not a power of two"):
        HashedWeights().check(array, "x", {})
