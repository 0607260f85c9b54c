"""The file of a model: components apart, complete or not there at all, one line for whatever is wrong with it."""

from __future__ import annotations

import json

import numpy as np
import pytest
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


GOOD = {"format": 2, "version": "1", "created": "2026-11-17", "about": {}, "quantized": False, "components": {}}


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not that of a model"),
        ("{}", "not that of a model"),
        ('{"format": "2"}', "not that of a model"),
        ({**GOOD, "format": 3}, "newer version"),
        ({**GOOD, "format": 1}, "older version .* train it again"),
        ({**GOOD, "components": []}, "lacks components"),
        ({**GOOD, "components": {"parser": 3}}, "headers of components"),
        ({**GOOD, "about": None}, "lacks about"),
        (GOOD, "belongs to no component"),
    ],
)
def test_broken_headers_say_what_is_wrong(tmp_path, header, problem):
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({"parser.x": np.zeros(2)}, tmp_path / "model", {"crossarc": text})
    with pytest.raises(ModelError, match=problem):
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
