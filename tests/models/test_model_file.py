"""The file of a model: components apart, complete or not there at all, one line for whatever is wrong with it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from crossarc.features.weights import Quantized, dequantized
from crossarc.models import Contents, ModelError, describe_model, read_model, write_model
from crossarc.models import file as model_file


def test_who_may_read_new_files_may_read_a_model(tmp_path):
    (tmp_path / "new").touch()
    write_model(tmp_path / "model", {"parser": Contents({"system": "none"}, {"weights": np.zeros(3)})})
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "new").stat().st_mode
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["model", "new"]


def test_components_are_apart(tmp_path):
    components = {"parser": Contents({"a": 1}, {"x": np.zeros(2)}), "tagger": Contents({}, {"x": np.ones(2)})}
    write_model(tmp_path / "model", components, about={"licence": "none"})
    found = read_model(tmp_path / "model")
    assert found.about == {"licence": "none"}
    assert found.components["parser"].header == {"a": 1}
    assert found.components["parser"].tensors["x"].tolist() == [0, 0]
    assert found.components["tagger"].tensors["x"].tolist() == [1, 1]
    described = describe_model(tmp_path / "model")
    assert described["components"] == {"parser": {"a": 1}, "tagger": {}}
    assert described["bytes"] == (tmp_path / "model").stat().st_size


def test_quantized_weights_are_near_and_stay_as_they_are(tmp_path):
    weights = np.random.default_rng(1).normal(size=5000).astype(np.float32)
    write_model(tmp_path / "once", {"parser": Contents({}, {"w": weights, "few": weights[:10]})}, quantize=True)
    once = read_model(tmp_path / "once").components["parser"]
    assert isinstance(once.tensors["w"], Quantized)
    assert np.abs(dequantized(once.tensors["w"]) - weights).max() < 0.1
    np.testing.assert_array_equal(once.tensors["few"], weights[:10])
    write_model(tmp_path / "again", {"parser": once}, quantize=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "once").read_bytes()


def some_weights(nonzero: int, size: int = 10_000) -> np.ndarray:
    rng = np.random.default_rng(nonzero)
    weights = np.zeros(size, np.float32)
    weights[rng.choice(size, nonzero, replace=False)] = rng.normal(size=nonzero)
    return weights


@pytest.mark.parametrize("nonzero", [0, 1, 300, 9_000, 10_000])
@pytest.mark.parametrize("quantize", [False, True])
def test_zeros_take_a_bit_each_and_nothing_is_lost(tmp_path, nonzero, quantize):
    weights = some_weights(nonzero)
    weights[17] = -0.0
    tensors = {"w": weights, "int": weights.astype(np.int64), "table": weights.reshape(100, 100)}
    write_model(tmp_path / "model", {"parser": Contents({}, tensors)}, quantize=quantize)
    found = read_model(tmp_path / "model").components["parser"].tensors
    exact = found["w"] if not quantize else dequantized(found["w"])
    assert np.array_equal(exact.view("u4"), weights.view("u4")) or quantize
    assert np.array_equal(exact == 0, weights == 0) or quantize
    assert {name: found[name].dtype for name in ("int", "table")} == {"int": "int64", "table": "float32"}
    np.testing.assert_array_equal(found["int"], tensors["int"])
    np.testing.assert_array_equal(found["table"], tensors["table"])


@pytest.mark.parametrize("quantize", [False, True])
def test_a_model_is_as_large_as_what_was_learnt(tmp_path, quantize):
    for nonzero, most in ((1_000, 50_000), (1_000_000, 1_100_000 if quantize else 4_200_000)):
        write_model(
            tmp_path / "model", {"parser": Contents({}, {"w": some_weights(nonzero, 1 << 20)})}, quantize=quantize
        )
        assert (1 << 17) < (tmp_path / "model").stat().st_size < (1 << 17) + most


def test_files_without_sparse_tensors_are_read(tmp_path):
    header = {**GOOD, "format": 2, "components": {"parser": {}}}
    del header["sparse"]
    save_file({"parser.x": np.zeros(5000)}, tmp_path / "model", {"crossarc": json.dumps(header)})
    np.testing.assert_array_equal(read_model(tmp_path / "model").components["parser"].tensors["x"], np.zeros(5000))


@pytest.mark.parametrize(("bits", "length"), [(1, 8), (1, 9), (1, 7), (None, 8), (1, 10**8)])
def test_damaged_sparse_tensors_are_refused(tmp_path, bits, length):
    header = {**GOOD, "components": {"parser": {}}, "sparse": {"parser.x": length}}
    arrays = {"parser.x": np.ones(2)}
    if bits is not None:
        arrays["parser.x.nonzero"] = np.array([bits], np.uint8)
    save_file(arrays, tmp_path / "model", {"crossarc": json.dumps(header)})
    with pytest.raises(ModelError, match=r"tensor parser\.x is damaged"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_is_one_line(tmp_path, monkeypatch, error):
    def full(*_):
        raise error

    write_model(tmp_path / "model", {"parser": Contents({}, {"x": np.zeros(2)})})
    monkeypatch.setattr(model_file, "save_file", full)
    with pytest.raises(ModelError, match=r"model: no space left on device$"):
        write_model(tmp_path / "model", {"parser": Contents({}, {"x": np.ones(2)})})
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(read_model(tmp_path / "model").components["parser"].tensors["x"], np.zeros(2))


def test_a_model_is_opened_once(tmp_path, monkeypatch):
    write_model(tmp_path / "model", {"parser": Contents({}, {"x": np.zeros(2)})})
    opened = []
    monkeypatch.setattr(
        model_file, "safe_open", lambda *a, own=model_file.safe_open, **k: opened.append(a) or own(*a, **k)
    )
    read_model(tmp_path / "model")
    assert len(opened) == 1


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    write_model(tmp_path / "model", {"parser": Contents({}, {"x": np.zeros(2)})})
    before = (tmp_path / "model").read_bytes()
    with pytest.raises(ModelError, match="unknown dtype"):
        write_model(tmp_path / "model", {"parser": Contents({}, {"x": np.array([object()])})})
    assert (tmp_path / "model").read_bytes() == before
    with pytest.raises(ModelError, match="no such file or directory"):
        write_model(tmp_path / "nowhere" / "model", {"parser": Contents({}, {})})
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def nested(depth: int) -> dict:
    return {"in": nested(depth - 1)} if depth else {}


GOOD = {
    "format": 3,
    "version": "1",
    "created": "2026-11-17",
    "about": {},
    "quantized": False,
    "sparse": {},
    "components": {},
}


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not that of a model"),
        ("{}", "not that of a model"),
        ('{"format": "2"}', "not that of a model"),
        ({**GOOD, "format": 4}, "newer version"),
        ({**GOOD, "format": 1}, "older version .* train it again"),
        ({**GOOD, "components": []}, r"components has \[\], not an object"),
        ({**GOOD, "components": {"parser": 3}}, "components has 3, not an object"),
        ({**GOOD, "about": None}, "about has None, not an object"),
        ({**GOOD, "sparse": []}, r"sparse has \[\], not an object"),
        ({**GOOD, "sparse": {"parser.x": "8"}}, "sparse has '8', not a whole number"),
        ({**GOOD, "sparse": {"parser.x": 10**12}}, "sparse has 1000000000000, not a number from 0 to"),
        ({name: own for name, own in GOOD.items() if name != "version"}, "has no version"),
        ({**GOOD, "created": "\x1b[2J"}, "without control characters"),
        ({**GOOD, "about": nested(100)}, "more than 16 deep"),
        ({**GOOD, "components": {"a\nforged": {}}}, "components has .*, not a text without control characters"),
        ({**GOOD, "sparse": {"a\x1b[31m": 8}}, "sparse has .*, not a text without control characters"),
        (GOOD, "belongs to no component"),
    ],
)
def test_broken_headers_say_what_is_wrong(tmp_path, header, problem):
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({"parser.x": np.zeros(2)}, tmp_path / "model", {"crossarc": text})
    with pytest.raises(ModelError, match=problem):
        read_model(tmp_path / "model")


def test_names_of_tensors_cannot_forge_lines(tmp_path):
    save_file({"x\nforged": np.zeros(2)}, tmp_path / "model", {"crossarc": json.dumps(GOOD)})
    with pytest.raises(ModelError, match=r"the name of a tensor has .*, not a text without control characters"):
        read_model(tmp_path / "model")


def test_foreign_files_are_refused(tmp_path):
    save_file({"x": np.zeros(2)}, tmp_path / "model")
    with pytest.raises(ModelError, match="not a model of Crossarc"):
        read_model(tmp_path / "model")
    (tmp_path / "text").write_text("# sent_id = 1")
    with pytest.raises(ModelError, match="not a model file"):
        read_model(tmp_path / "text")
    with pytest.raises(ModelError, match="is a directory"):
        read_model(tmp_path)
