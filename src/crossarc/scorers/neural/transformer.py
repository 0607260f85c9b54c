"""Words in their context by a pretrained transformer of the family of BERT (Devlin et al. 2019), without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from crossarc.core import CrossarcError, Sentence
from crossarc.scorers.neural._transformer import add_and_normalize, gelu
from crossarc.scorers.neural.network import checked_weights
from crossarc.scorers.neural.wordpieces import Pieces, WordPieces

__all__ = ["Pretrained", "TransformerEncoder", "TransformerSizes", "groups_of_runs", "read_pretrained"]

Floats = NDArray[np.float32]

_TABLES = ("word", "position", "token_type")
_LARGEST = 1 << 20  # of all sizes
_AT_ONCE = 2048  # pieces that are padded to the same length together


class TransformerSizes(NamedTuple):
    """How large the encoder is; named as in ``config.json``."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float

    def check(self, n_pieces: int) -> None:
        """Refuse sizes that make no encoder, or none for so many pieces of words."""
        numbers = self[:-1]
        if not all(isinstance(number, int) and 0 < number <= _LARGEST for number in numbers):
            raise CrossarcError("its sizes are no positive numbers, or too large")
        if self.hidden_size % self.num_attention_heads:
            raise CrossarcError("its size is no multiple of the number of attention heads")
        if self.max_position_embeddings < 3 or n_pieces > self.vocab_size:
            raise CrossarcError("too few embeddings of positions or of pieces of words")

    @property
    def states(self) -> int:
        """Numbers for each node."""
        return self.hidden_size

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter, by its name in ``model.safetensors``."""
        size, inner = self.hidden_size, self.intermediate_size
        rows = dict(zip(_TABLES, (self.vocab_size, self.max_position_embeddings, self.type_vocab_size), strict=True))
        found: dict[str, tuple[int, ...]] = {
            f"embeddings.{table}_embeddings.weight": (count, size) for table, count in rows.items()
        }
        found |= dict.fromkeys(("embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"), (size,))
        for layer in range(self.num_hidden_layers):
            name = f"encoder.layer.{layer}"
            linear = {f"{name}.attention.self.{part}": (size, size) for part in ("query", "key", "value")}
            linear |= {f"{name}.attention.output.dense": (size, size), f"{name}.intermediate.dense": (inner, size)}
            linear |= {f"{name}.output.dense": (size, inner)}
            for own, shape in linear.items():
                found[f"{own}.weight"], found[f"{own}.bias"] = shape, shape[:1]
            for part in ("attention.output", "output"):
                found |= {f"{name}.{part}.LayerNorm.{end}": (size,) for end in ("weight", "bias")}
        return found


class Pretrained(NamedTuple):
    """A pretrained encoder."""

    sizes: TransformerSizes
    pieces: WordPieces
    weights: dict[str, Floats]


class TransformerEncoder:
    """The encoder without torch. ``weights`` have the shapes of its sizes."""

    def __init__(self, sizes: TransformerSizes, pieces: WordPieces, weights: Mapping[str, Floats]) -> None:
        self.sizes, self.pieces, self.weights = sizes, pieces, weights
        self._layers = [_Layer(weights, f"encoder.layer.{i}", sizes) for i in range(sizes.num_hidden_layers)]

    def inputs(self, sentences: Sequence[Sentence]) -> Pieces:
        """What it looks at of the sentences."""
        return self.pieces.inputs(sentences, self.sizes.max_position_embeddings)

    def encode(self, inputs: Pieces) -> Floats:
        """[i, :]: the nodes of sentences in their context, each the mean of its pieces."""
        found = np.empty((len(inputs.ids), self.sizes.hidden_size), np.float32)
        for own in groups_of_runs(inputs.runs):
            found[own.pieces] = self._encode(inputs.ids[own.pieces], own)
        # the pieces of a node follow each other
        spans = np.stack([inputs.first, inputs.first + inputs.counts], axis=1).ravel()
        padded = np.concatenate([found, np.zeros((1, found.shape[1]), np.float32)])
        sums = np.add.reduceat(padded, spans)[::2]
        return np.asarray(sums / inputs.counts[:, np.newaxis], dtype=np.float32)

    def _encode(self, ids: NDArray[np.int64], group: RunGroup) -> Floats:
        """The pieces of a group of runs, one after the other."""
        weights, name = self.weights, "embeddings"
        states = weights[f"{name}.word_embeddings.weight"][ids]
        added = weights[f"{name}.position_embeddings.weight"][group.positions]
        scale, shift = (weights[f"{name}.LayerNorm.{end}"] for end in ("weight", "bias"))
        kind = weights[f"{name}.token_type_embeddings.weight"][0]
        add_and_normalize(states, added, kind, scale, shift, self.sizes.layer_norm_eps)
        for layer in self._layers:
            layer.run(states, group)
        return states


class _Layer:
    """A layer of the transformer: attention, then two matrices with a rectifier between them."""

    def __init__(self, weights: Mapping[str, Floats], name: str, sizes: TransformerSizes) -> None:
        self._heads, self._epsilon = sizes.num_attention_heads, sizes.layer_norm_eps
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        self._into = np.ascontiguousarray(np.concatenate([weights[f"{part}.weight"] for part in parts]).T)
        self._bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
        self._out, self._inner, self._outer = (
            (np.ascontiguousarray(weights[f"{name}.{part}.weight"].T), weights[f"{name}.{part}.bias"])
            for part in ("attention.output.dense", "intermediate.dense", "output.dense")
        )
        self._norms = [
            (weights[f"{name}.{part}.LayerNorm.weight"], weights[f"{name}.{part}.LayerNorm.bias"])
            for part in ("attention.output", "output")
        ]

    def run(self, states: Floats, group: RunGroup) -> None:
        """Replace the states of the pieces."""
        attended = self._attention(states, group)
        weight, bias = self._out
        add_and_normalize(states, attended @ weight, bias, *self._norms[0], self._epsilon)
        inner = states @ self._inner[0]
        gelu(inner, self._inner[1])
        weight, bias = self._outer
        add_and_normalize(states, inner @ weight, bias, *self._norms[1], self._epsilon)

    def _attention(self, states: Floats, group: RunGroup) -> Floats:
        """What each piece takes from all pieces of its run."""
        size = states.shape[1]
        parts = states @ self._into
        parts += self._bias
        padded = np.zeros((group.runs * group.length, 3 * size), np.float32)
        padded[group.padded] = parts
        width = size // self._heads
        query, key, value = padded.reshape(group.runs, group.length, 3, self._heads, width).transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32(width**-0.5)
        scores += group.mask[:, np.newaxis, np.newaxis, :]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, size)[group.padded]
        return attended


class RunGroup(NamedTuple):
    """Runs of pieces of about the same length, which are padded to that of the longest."""

    pieces: NDArray[np.int64]  # the pieces of these runs, one run after the other
    positions: NDArray[np.int64]  # of each piece in its run
    padded: NDArray[np.int64]  # where it is among all places, padding included
    mask: Floats  # [run, place]: 0, or -inf for padding
    runs: int
    length: int


def groups_of_runs(bounds: NDArray[np.int64], at_once: int = _AT_ONCE) -> Iterator[RunGroup]:
    """All runs, the shortest first; ``bounds`` has where each begins, and the end."""
    first, sizes = bounds[:-1], np.diff(bounds)
    order = np.argsort(sizes, kind="stable")
    while len(order):
        count = max(1, min(len(order), at_once // int(sizes[order[0]])))
        while count > 1 and count * int(sizes[order[count - 1]]) > at_once:
            count -= 1
        chosen, order = order[:count], order[count:]
        length = int(sizes[chosen].max())
        inside = np.arange(length) < sizes[chosen][:, np.newaxis]
        rows, positions = np.nonzero(inside)
        mask = np.where(inside, np.float32(0.0), np.float32(-np.inf))
        yield RunGroup(first[chosen][rows] + positions, positions, rows * length + positions, mask, count, length)


def read_pretrained(place: str | Path) -> Pretrained:
    """A pretrained encoder from a folder, or from an installed package that carries one.

    The folder has ``config.json``, ``model.safetensors`` and ``tokenizer.json``, as Hugging Face's models of the family
    of BERT. Nothing is downloaded, and nothing in these files is executed. ``CrossarcError`` says what does not fit.
    """
    folder = _folder(str(place))
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        pieces = WordPieces.from_tokenizer(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")))
        _check_kind(config)
        sizes = TransformerSizes(**{name: config[name] for name in TransformerSizes._fields})
        sizes.check(len(pieces.pieces))
        weights = _read_weights(folder / "model.safetensors", sizes)
    except OSError as error:
        raise CrossarcError(f"{error.filename}: {(error.strerror or str(error)).lower()}") from None
    except CrossarcError as error:
        raise CrossarcError(f"{folder}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        raise CrossarcError(f"{folder}: not an encoder as Hugging Face's BERT: {error}") from None
    return Pretrained(sizes, pieces, weights)


def _folder(place: str) -> Path:
    """The folder with that path, or the one in the package with that name which has a model."""
    if Path(place).is_dir():
        return Path(place)
    module = place.replace("-", "_")
    spec = find_spec(module) if module.isidentifier() else None
    for package in spec.submodule_search_locations or () if spec else ():
        for config in sorted(Path(package).rglob("config.json")):
            if (config.parent / "model.safetensors").is_file():
                return config.parent
    raise CrossarcError(f"{place}: neither a folder nor an installed package with an encoder")


def _check_kind(config: dict[str, Any]) -> None:
    wanted = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise CrossarcError(f"{name} is {config[name]}, not {value}")


def _read_weights(path: Path, sizes: TransformerSizes) -> dict[str, Floats]:
    """The weights that the encoder needs, be they those of a model that has more."""
    with safe_open(path, framework="np") as stream:
        names = set(stream.keys())
        prefix = "" if "embeddings.LayerNorm.weight" in names else "bert."
        found = {name: stream.get_tensor(prefix + name).astype(np.float32) for name in sizes.shapes}
    return checked_weights(found, sizes.shapes)
