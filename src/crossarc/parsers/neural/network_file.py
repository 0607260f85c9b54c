"""A network as a model file keeps it: the sizes of its encoder in the header, its weights as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from crossarc.core import CrossarcError
from crossarc.features.weights import dequantized
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Flag, ListOf, MapOf, Number, OneOf, Record, Text, Whole
from crossarc.models.tensors import Array, TensorKind
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.scorers.neural.lstm import LstmEncoder, LstmSizes
from crossarc.scorers.neural.network import Encoder, Network, Sizes, checked_weights, weights_of
from crossarc.scorers.neural.stacked import StackedEncoder, StackedSizes
from crossarc.scorers.neural.transformer import TransformerEncoder, TransformerSizes
from crossarc.scorers.neural.vocabulary import GROUPS, Vocabulary
from crossarc.scorers.neural.wordpieces import WordPieces

__all__ = ["encoder_header", "lstm_sizes", "network_from_model", "scorer_sizes", "tensors_of_network"]

_PREFIX = "encoder"  # of the names of an encoder's weights
_MOST = 1e3  # of a weight: what layer after layer makes of it stays finite


def lstm_sizes(config: NeuralConfig, vocabulary: Vocabulary, beside: int = 0) -> LstmSizes:
    """The sizes of the LSTM of a configuration, beside which another encoder gives so many numbers for each node."""
    layers = config.layers if config.layers is not None else 1 if config.encoder else 2
    return LstmSizes(vocabulary.sizes, config.embedding_size, config.hidden_size, layers, beside)


def scorer_sizes(config: NeuralConfig, states: int, n_labels: int, tags: Mapping[str, Sequence[str]]) -> Sizes:
    """The sizes of what scores the states of an encoder."""
    counts = {column: len(values) for column, values in tags.items()}
    return Sizes(states, config.arc_size, config.label_size, n_labels, counts)


def encoder_header(encoder: Encoder) -> dict[str, Any]:
    """What the header says of an encoder."""
    if isinstance(encoder, StackedEncoder):
        pieces = encoder.pretrained.pieces
        sizes = {**encoder.pretrained.sizes._asdict(), "pieces": pieces.pieces, "lowercase": pieces.lowercase}
        return {**encoder_header(encoder.context), "pretrained": sizes}
    assert isinstance(encoder, LstmEncoder)
    return {"vocabulary": encoder.vocabulary.values}


_VALUES = ListOf(Text(1000, any_character=True), most=1 << 22)
_LSTM = {"vocabulary": MapOf(_VALUES, keys=OneOf(tuple(name for group in GROUPS.values() for name in group)))}
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
    expected = Record(_LSTM if config.encoder is None else {**_LSTM, "pretrained": _TRANSFORMER})
    expected.check([header["encoder"]], "its header: encoder")
    sizes = _encoder_sizes(config, header["encoder"])
    shapes = {f"{_PREFIX}.{name}": shape for name, shape in sizes.shapes.items()}
    shapes |= scorer_sizes(config, sizes.states, len(header["labels"]), header["tags"]).shapes
    return {name: Array(np.float32, (prod(shape),), -_MOST, _MOST) for name, shape in shapes.items()}


def _encoder_sizes(config: NeuralConfig, about: dict[str, Any]) -> LstmSizes | StackedSizes:
    try:
        vocabulary = Vocabulary(about["vocabulary"])
    except CrossarcError as error:
        raise ModelError(str(error)) from None
    if not vocabulary.groups:
        raise ModelError("its network looks at nothing")
    if config.encoder is None:
        return lstm_sizes(config, vocabulary)
    pretrained = _transformer_sizes(about["pretrained"])
    return StackedSizes(pretrained, lstm_sizes(config, vocabulary, pretrained.states))


def _transformer_sizes(about: dict[str, Any]) -> TransformerSizes:
    return TransformerSizes(**{name: about[name] for name in TransformerSizes._fields})


def network_from_model(
    config: NeuralConfig, n_labels: int, tags: Mapping[str, Sequence[str]], about: dict[str, Any], tensors: Tensors
) -> Network:
    """The network with these weights; everything is checked before anything runs on it."""
    try:
        weights = {name: dequantized(tensor) for name, tensor in tensors.items()}
        encoder = _encoder(config, about, weights_of(_PREFIX, weights))
        scorer = scorer_sizes(config, encoder.sizes.states, n_labels, tags)
        found = checked_weights(weights, scorer.shapes)
        of_encoder = checked_weights(weights, {f"{_PREFIX}.{name}": own for name, own in encoder.sizes.shapes.items()})
    except (CrossarcError, KeyError, ValueError, TypeError) as error:
        raise ModelError(f"its network does not fit together: {error}") from None
    return Network(encoder, {**found, **of_encoder})


def _encoder(config: NeuralConfig, about: dict[str, Any], weights: Mapping[str, Any]) -> LstmEncoder | StackedEncoder:
    vocabulary = Vocabulary(about["vocabulary"])
    if config.encoder is None:
        sizes = lstm_sizes(config, vocabulary)
        return LstmEncoder(sizes, vocabulary, checked_weights(weights, sizes.shapes))
    own = about["pretrained"]
    of_pretrained = _transformer_sizes(own)
    pieces = WordPieces(own["pieces"], lowercase=own["lowercase"])
    of_pretrained.check(len(pieces.pieces))
    sizes = lstm_sizes(config, vocabulary, of_pretrained.states)
    return StackedEncoder(
        TransformerEncoder(
            of_pretrained, pieces, checked_weights(weights_of("pretrained", weights), of_pretrained.shapes)
        ),
        LstmEncoder(sizes, vocabulary, checked_weights(weights_of("context", weights), sizes.shapes)),
    )
