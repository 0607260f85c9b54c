"""A network as a model file keeps it: the sizes of its encoder in the header, its weights as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crossarc.core import CrossarcError
from crossarc.features.weights import dequantized
from crossarc.models import ModelError, Tensors
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.scorers.neural.lstm import LstmEncoder, LstmSizes
from crossarc.scorers.neural.network import Encoder, Network, Sizes, checked_weights, weights_of
from crossarc.scorers.neural.stacked import StackedEncoder
from crossarc.scorers.neural.transformer import TransformerEncoder, TransformerSizes
from crossarc.scorers.neural.vocabulary import Vocabulary
from crossarc.scorers.neural.wordpieces import WordPieces

__all__ = ["encoder_header", "lstm_sizes", "network_from_model", "scorer_sizes"]

_PREFIX = "encoder"  # of the names of an encoder's weights


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
    of_pretrained = TransformerSizes(**{name: own[name] for name in TransformerSizes._fields})
    pieces = WordPieces(own["pieces"], lowercase=own["lowercase"])
    of_pretrained.check(len(pieces.pieces))
    sizes = lstm_sizes(config, vocabulary, of_pretrained.states)
    return StackedEncoder(
        TransformerEncoder(
            of_pretrained, pieces, checked_weights(weights_of("pretrained", weights), of_pretrained.shapes)
        ),
        LstmEncoder(sizes, vocabulary, checked_weights(weights_of("context", weights), sizes.shapes)),
    )
