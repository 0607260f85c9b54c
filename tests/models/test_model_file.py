"""The file of a model."""

from __future__ import annotations

import numpy as np

from crossarc.models.file import load_model, save_model


def test_who_may_read_new_files_may_read_a_model(tmp_path):
    (tmp_path / "new").touch()
    save_model(tmp_path / "model", {"system": "none"}, {"weights": np.zeros(3)})
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "new").stat().st_mode
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["model", "new"]
    header, tensors = load_model(tmp_path / "model")
    assert header["system"] == "none"
    assert tensors["weights"].tolist() == [0, 0, 0]
