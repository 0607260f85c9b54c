"""A network as a model file keeps it: the sizes of its encoder in the header, its weights as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from crossarc.core import CrossarcError
from crossarc.features.weights import dequantized
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Flag, ListOf, MapOf, Number, Record, Text, Whole
from crossarc.models.tensors import Array, TensorKind
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.scorers.neural.lstm import LstmEncoder, LstmSizes
from crossarc.scorers.neural.network import Encoder, Network, Sizes, checked_weights
from crossarc.scorers.neural.transformer import TransformerEncoder, TransformerSizes
from crossarc.scorers.neural.vocabulary import GROUPS, Vocabulary
from crossarc.scorers.neural.wordpieces import WordPieces

__all__ = ["encoder_header", "lstm_sizes", "network_from_model", "scorer_sizes", "tensors_of_network"]

_PREFIX = "encoder."  # of the names of an encoder's weights
_MOST = 1e3  # of a weight: what layer after layer makes of it stays finite


def lstm_sizes(config: NeuralConfig, vocabulary: Vocabulary) -> LstmSizes:
    """The sizes of the encoder of a configuration without a pretrained one."""
    return LstmSizes(vocabulary.sizes, config.embedding_size, config.hidden_size, config.layers)


def scorer_sizes(config: NeuralConfig, states: int, n_labels: int, tags: Mapping[str, Sequence[str]]) -> Sizes:
    """The sizes of what scores the states of an encoder."""
    counts = {column: len(values) for column, values in tags.items()}
    return Sizes(states, config.arc_size, config.label_size, n_labels, counts)


def encoder_header(encoder: Encoder) -> dict[str, Any]:
    """What the header says of an encoder."""
    if isinstance(encoder, TransformerEncoder):
        pieces = encoder.pieces
        return {**encoder.sizes._asdict(), "pieces": pieces.pieces, "lowercase": pieces.lowercase}
    assert isinstance(encoder, LstmEncoder)
    return {"vocabulary": encoder.vocabulary.values}


_VALUES = ListOf(Text(1000, any_character=True), most=1 << 22)
_LSTM = Record({"vocabulary": MapOf(_VALUES, keys=tuple(name for group in GROUPS.values() for name in group))})
_LARGEST = 1 << 20
_TRANSFORMER = Record(
    {
        **dict.fromkeys(TransformerSizes._fields, Whole(1, _LARGEST)),
        "num_hidden_layers": Whole(1, 100),
        "layer_norm_eps": Number(1e-20, 1),
        "pieces": _VALUES,
        "lowercase": Flag(),
    }
)


def tensors_of_network(config: NeuralConfig, header: Mapping[str, Any]) -> dict[str, TensorKind]:
    """The weights that a network with that header has; ``ModelError`` if the sizes make none."""
    (_LSTM if config.encoder is None else _TRANSFORMER).check([header["encoder"]], "its header: encoder")
    sizes = _encoder_sizes(config, header["encoder"])
    shapes = {_PREFIX + name: shape for name, shape in sizes.shapes.items()}
    shapes |= scorer_sizes(config, sizes.states, len(header["labels"]), header["tags"]).shapes
    return {name: Array(np.float32, (prod(shape),), -_MOST, _MOST) for name, shape in shapes.items()}


def _encoder_sizes(config: NeuralConfig, about: dict[str, Any]) -> LstmSizes | TransformerSizes:
    if config.encoder is not None:
        return TransformerSizes(**{name: about[name] for name in TransformerSizes._fields})
    vocabulary = Vocabulary(about["vocabulary"])
    if not vocabulary.groups:
        raise ModelError("its network looks at nothing")
    return lstm_sizes(config, vocabulary)


def network_from_model(
    config: NeuralConfig, n_labels: int, tags: Mapping[str, Sequence[str]], about: dict[str, Any], tensors: Tensors
) -> Network:
    """The network with these weights; everything is checked before anything runs on it."""
    try:
        weights = {name: dequantized(tensor) for name, tensor in tensors.items()}
        of_encoder = {name.removeprefix(_PREFIX): own for name, own in weights.items() if name.startswith(_PREFIX)}
        encoder: LstmEncoder | TransformerEncoder
        if config.encoder is None:
            vocabulary = Vocabulary(about["vocabulary"])
            sizes = lstm_sizes(config, vocabulary)
            encoder = LstmEncoder(sizes, vocabulary, checked_weights(of_encoder, sizes.shapes))
        else:
            own = TransformerSizes(**{name: about[name] for name in TransformerSizes._fields})
            pieces = WordPieces(about["pieces"], lowercase=about["lowercase"])
            own.check(len(pieces.pieces))
            encoder = TransformerEncoder(own, pieces, checked_weights(of_encoder, own.shapes))
        scorer = scorer_sizes(config, encoder.sizes.states, n_labels, tags)
        found = checked_weights(weights, scorer.shapes)
    except (CrossarcError, KeyError, ValueError, TypeError) as error:
        raise ModelError(f"its network does not fit together: {error}") from None
    return Network(encoder, {**found, **{_PREFIX + name: own for name, own in encoder.weights.items()}})
