"""The network of ``network`` and its encoders in torch, for training: the same parameters under the same names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from crossarc.core import Sentence
from crossarc.scorers.neural._lstm import lstm_gradients
from crossarc.scorers.neural.lstm import DIRECTIONS, LstmEncoder, LstmSizes, Packing, run_lstm, steps
from crossarc.scorers.neural.network import MAX_DISTANCE, Network, Sizes, distance_bins, weights_of
from crossarc.scorers.neural.stacked import StackedEncoder, StackedInputs, StackedSizes
from crossarc.scorers.neural.transformer import Pretrained, RunGroup, TransformerEncoder, groups_of_runs
from crossarc.scorers.neural.vocabulary import AVERAGED, NOTHING, Inputs, Vocabulary
from crossarc.scorers.neural.wordpieces import Pieces

__all__ = ["Lstm", "TorchLstm", "TorchNetwork", "TorchStacked", "TorchTransformer"]

_STANDARD_DEVIATION = 0.3  # of embeddings at first

# Processors that multiply bfloat16 do so four times as fast as float32.
_HAS_BFLOAT16 = hasattr(torch.cpu, "get_capabilities") and bool(torch.cpu.get_capabilities().get("avx512_bf16"))


class Lstm(nn.Module):
    """One direction of a layer. Gradients are computed by our kernels: torch takes three times as long on a CPU."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        bound = size**-0.5
        self.input = nn.Parameter(torch.empty(4 * size, width).uniform_(-bound, bound))
        self.state = nn.Parameter(torch.cat([nn.init.orthogonal_(torch.empty(size, size)) for _ in range(4)]))
        self.bias = nn.Parameter(torch.zeros(4 * size))
        nn.init.ones_(self.bias.data[size : 2 * size])  # cells are kept at first

    def forward(self, inputs: Tensor, counts: Sequence[int], leftward: int) -> Tensor:
        """The states of packed inputs (see ``Packing``)."""
        found: Tensor = _Run.apply(functional.linear(inputs, self.input, self.bias), self.state, counts, leftward)
        return found


class _Run(torch.autograd.Function):
    """The states of an LSTM from what its inputs add to the sums of the gates."""

    @staticmethod
    def forward(ctx: Any, sums: Tensor, weights: Tensor, counts: Sequence[int], leftward: int) -> Tensor:
        gates = sums.detach().numpy().copy()
        cells = np.empty((len(gates), weights.shape[1]), np.float32)
        states = run_lstm(gates, counts, weights.detach().numpy().T.copy(), leftward, cells)
        ctx.kept = gates, cells, states, weights.detach().numpy(), counts, leftward
        return torch.from_numpy(states)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gates, cells, states, weights, counts, leftward = ctx.kept
        gates, of_states = gates.copy(), gradient.numpy().copy()
        cells_before, states_before = (_before(array, counts, leftward) for array in (cells, states))
        of_cell, of_state = np.zeros((2, max(counts), weights.shape[1]), np.float32)
        for i, j in steps(counts, 1 - leftward):
            of_states[i:j] += of_state[: j - i]
            lstm_gradients(gates[i:j], cells_before[i:j], cells[i:j], of_states[i:j], of_cell[: j - i])
            np.dot(gates[i:j], weights, out=of_state[: j - i])
        return torch.from_numpy(gates), torch.from_numpy(gates.T @ states_before), None, None


def _before(array: NDArray[np.float32], counts: Sequence[int], leftward: int) -> NDArray[np.float32]:
    """What each node had in the step before; zeros in the first one of each sequence."""
    found = np.zeros_like(array)
    for (i, j), (k, n) in pairwise(steps(counts, leftward)):
        common = min(j - i, n - k)
        found[k : k + common] = array[i : i + common]
    return found


class TorchLstm(nn.Module):
    """See ``LstmEncoder``."""

    def __init__(
        self,
        sizes: LstmSizes,
        vocabulary: Vocabulary,
        dropout: float,
        word_dropout: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> None:
        """``vectors`` are those of pieces of words, which stay as they are."""
        super().__init__()
        self.sizes, self.vocabulary = sizes, vocabulary
        self.dropout, self.word_dropout = dropout, word_dropout
        self.embed = nn.ModuleDict(
            {
                group: nn.EmbeddingBag(
                    rows, sizes.embedding, mode="mean" if group in AVERAGED else "sum", padding_idx=NOTHING
                )
                for group, rows in sizes.tables.items()
            }
        )
        for parameter in self.embed.parameters():
            nn.init.normal_(parameter, std=_STANDARD_DEVIATION)
            nn.init.zeros_(parameter.data[NOTHING])
        if vectors is not None:
            table = self.embed["piece"].get_parameter("weight")
            table.data[-len(vectors) :] = torch.from_numpy(vectors * (_STANDARD_DEVIATION / vectors.std()))
            table.requires_grad_(False)
        widths = [sizes.width, *[sizes.states] * (sizes.layers - 1)]
        self.lstm = nn.ModuleList(
            nn.ModuleDict({direction: Lstm(width, sizes.hidden) for direction in DIRECTIONS}) for width in widths
        )

    def inputs(self, sentences: Sequence[Sentence]) -> Inputs:
        return self.vocabulary.inputs(sentences)

    def encode(self, inputs: Inputs, beside: Tensor | None = None) -> Tensor:
        """[i, :]: the nodes of the sentences in their context."""
        packing = Packing.of(inputs.starts)
        nodes = torch.from_numpy(packing.nodes)
        sentence = torch.cat([torch.arange(count) for count in packing.counts])
        states = self._embedded(inputs)[nodes]
        if beside is not None:
            states = torch.cat([states, self._shared_dropout(beside[nodes], sentence)], dim=1)
        for layer in self.lstm:
            assert isinstance(layer, nn.ModuleDict)
            both = [layer[name](states, packing.counts, leftward) for leftward, name in enumerate(DIRECTIONS)]
            states = self._shared_dropout(torch.cat(both, dim=1), sentence)
        return states[torch.argsort(nodes)]

    def _embedded(self, inputs: Inputs) -> Tensor:
        """The nodes without their context; groups are dropped as a whole, and the others count for more."""
        rows = {group: torch.from_numpy(own[inputs.words]) for group, own in inputs.rows.items()}
        if self.training:
            rows["word"] = self._unknown_words(rows["word"])
        groups = torch.stack([self.embed[group](own) for group, own in rows.items()], dim=1)
        if self.training:
            kept = (torch.rand(groups.shape[:2]) >= self.dropout).to(groups.dtype)
            groups = groups * (kept * kept.shape[1] / kept.sum(1, keepdim=True).clamp(min=1))[:, :, None]
        return groups.flatten(1)

    def _unknown_words(self, rows: Tensor) -> Tensor:
        """Some words as if they had not been seen in training."""
        known = self.vocabulary.unknown
        unknown = [known[name] for name in ("form", "lower", "lemma") if name in known]
        as_unknown = torch.full_like(rows, NOTHING)
        as_unknown[:, : len(unknown)] = torch.tensor(unknown, dtype=rows.dtype)
        dropped = torch.rand(len(rows), 1) < self.word_dropout
        dropped &= rows[:, 1:2] != NOTHING  # the root stays
        return torch.where(dropped, as_unknown, rows)

    def _shared_dropout(self, states: Tensor, sentence: Tensor) -> Tensor:
        """The same units are dropped in all nodes of a sentence (Gal & Ghahramani 2016)."""
        if not self.training:
            return states
        return states * functional.dropout(torch.ones(int(sentence.max()) + 1, states.shape[1]), self.dropout)[sentence]

    def exported(self, weights: dict[str, NDArray[np.float32]]) -> LstmEncoder:
        return LstmEncoder(self.sizes, self.vocabulary, weights)


class TorchTransformer(nn.Module):
    """See ``TransformerEncoder``; begins with pretrained weights.

    In training, its matrices are multiplied in bfloat16 where the processor can; all sums and weights stay float32.
    """

    def __init__(self, pretrained: Pretrained, dropout: float) -> None:
        super().__init__()
        self.sizes, self.pieces, self.dropout = pretrained.sizes, pretrained.pieces, dropout
        for name, weights in pretrained.weights.items():
            *path, last = name.split(".")
            place: nn.Module = self
            for step in path:
                if not hasattr(place, step):
                    place.add_module(step, nn.Module())
                place = getattr(place, step)
            place.register_parameter(last, nn.Parameter(torch.from_numpy(weights.copy())))

    def inputs(self, sentences: Sequence[Sentence]) -> Pieces:
        return self.pieces.inputs(sentences, self.sizes.max_position_embeddings)

    def encode(self, inputs: Pieces) -> Tensor:
        """[i, :]: the nodes of the sentences in their context, each the mean of its pieces."""
        groups = list(groups_of_runs(inputs.runs))
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training and _HAS_BFLOAT16):
            encoded = torch.cat([self._encode(torch.from_numpy(inputs.ids[own.pieces]), own) for own in groups])
        place = torch.argsort(torch.from_numpy(np.concatenate([own.pieces for own in groups])))
        counts = torch.from_numpy(inputs.counts)
        node = torch.repeat_interleave(torch.arange(len(counts)), counts)
        inside = torch.arange(len(node)) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        pieces = encoded[place[torch.from_numpy(inputs.first)[node] + inside]]
        return encoded.new_zeros(len(counts), encoded.shape[1]).index_add(0, node, pieces) / counts[:, None]

    def _encode(self, ids: Tensor, group: RunGroup) -> Tensor:
        get, size = self.get_parameter, self.sizes.hidden_size
        states = (
            get("embeddings.word_embeddings.weight")[ids]
            + get("embeddings.position_embeddings.weight")[torch.from_numpy(group.positions)]
            + get("embeddings.token_type_embeddings.weight")[0]
        )
        states = self._dropped(self._normalized(states, "embeddings"))
        places, mask = torch.from_numpy(group.padded), torch.from_numpy(group.mask)[:, None, None, :]
        for i in range(self.sizes.num_hidden_layers):
            name = f"encoder.layer.{i}"
            parts = [self._linear(states, f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
            padded = states.new_zeros(group.runs * group.length, 3 * size).index_copy(0, places, torch.cat(parts, 1))
            heads = padded.reshape(group.runs, group.length, 3, self.sizes.num_attention_heads, -1)
            query, key, value = heads.permute(2, 0, 3, 1, 4)
            dropout = self.dropout if self.training else 0.0
            attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
            attended = attended.transpose(1, 2).reshape(-1, size)[places]
            attended = self._dropped(self._linear(attended, f"{name}.attention.output.dense"))
            states = self._normalized(states + attended, f"{name}.attention.output")
            inner = functional.gelu(self._linear(states, f"{name}.intermediate.dense"))
            states = self._normalized(
                states + self._dropped(self._linear(inner, f"{name}.output.dense")), f"{name}.output"
            )
        return states

    def _linear(self, states: Tensor, name: str) -> Tensor:
        return functional.linear(states, self.get_parameter(f"{name}.weight"), self.get_parameter(f"{name}.bias"))

    def _normalized(self, states: Tensor, name: str) -> Tensor:
        weight, bias = (self.get_parameter(f"{name}.LayerNorm.{end}") for end in ("weight", "bias"))
        return functional.layer_norm(states, states.shape[1:], weight, bias, self.sizes.layer_norm_eps)

    def _dropped(self, states: Tensor) -> Tensor:
        return functional.dropout(states, self.dropout, self.training)

    def exported(self, weights: dict[str, NDArray[np.float32]]) -> TransformerEncoder:
        return TransformerEncoder(self.sizes, self.pieces, weights)


class TorchStacked(nn.Module):
    """See ``StackedEncoder``."""

    def __init__(self, pretrained: TorchTransformer, context: TorchLstm) -> None:
        super().__init__()
        self.sizes = StackedSizes(pretrained.sizes, context.sizes)
        self.pretrained, self.context = pretrained, context

    def inputs(self, sentences: Sequence[Sentence]) -> StackedInputs:
        return StackedInputs(self.pretrained.inputs(sentences), self.context.inputs(sentences))

    def encode(self, inputs: StackedInputs) -> Tensor:
        """[i, :]: the nodes of the sentences in their context."""
        return self.context.encode(inputs.words, self.pretrained.encode(inputs.pieces))

    def exported(self, weights: dict[str, NDArray[np.float32]]) -> StackedEncoder:
        return StackedEncoder(
            self.pretrained.exported(weights_of("pretrained", weights)),
            self.context.exported(weights_of("context", weights)),
        )


class _Arcs(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.head, self.modifier = nn.Linear(sizes.states, sizes.arc), nn.Linear(sizes.states, sizes.arc)
        self.form = nn.Parameter(nn.init.xavier_uniform_(torch.empty(sizes.arc, sizes.arc)))
        self.head_alone = nn.Parameter(torch.zeros(sizes.arc))
        self.distance = nn.Parameter(torch.zeros(2 * MAX_DISTANCE + 2))


class _Labels(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.head, self.modifier = nn.Linear(sizes.states, sizes.label), nn.Linear(sizes.states, sizes.label)
        self.form = nn.Parameter(torch.zeros(sizes.labels, sizes.label + 1, sizes.label + 1))


class TorchNetwork(nn.Module):
    """See ``Network``, whose names of steps it has."""

    def __init__(self, encoder: TorchLstm | TorchStacked, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.encoder, self.dropout = encoder, dropout
        self.arc, self.label = _Arcs(sizes), _Labels(sizes)
        if sizes.tags:
            hidden = sizes.states // 2
            self.tags = nn.ModuleDict({"hidden": nn.Linear(sizes.states, hidden)})
            self.tags.update({column: nn.Linear(hidden, count) for column, count in sizes.tags.items()})

    def arc_scores(self, states: Tensor, starts: Sequence[int]) -> Tensor:
        """[b, h, m] of each sentence, with padding."""
        heads, modifiers = self._hidden(self.arc.head, states), self._hidden(self.arc.modifier, states)
        size = int(np.diff(starts).max())
        padded = torch.tensor(starts[:-1])[:, None] + torch.arange(size)
        padded.clamp_(max=len(states) - 1)  # what is beyond a sentence is not looked at
        of_heads, of_modifiers = heads[padded], (modifiers @ self.arc.form / heads.shape[1] ** 0.5)[padded]
        distances = self.arc.distance[torch.from_numpy(distance_bins(size))]
        return of_heads @ of_modifiers.transpose(1, 2) + (of_heads @ self.arc.head_alone)[:, :, None] + distances

    def label_scores(self, states: Tensor, heads: Tensor, words: Tensor) -> Tensor:
        """[i, l]: of each label of the arcs from these nodes to these nodes."""
        of_heads = _with_one(self._hidden(self.label.head, states))[heads]
        of_modifiers = _with_one(self._hidden(self.label.modifier, states))[words]
        n_labels, size, _ = self.label.form.shape
        halves = of_modifiers @ self.label.form.transpose(0, 1).reshape(size, -1)
        return torch.matmul(halves.reshape(-1, n_labels, size), of_heads[:, :, None])[:, :, 0]

    def tag_scores(self, states: Tensor) -> dict[str, Tensor]:
        """[i, t]: of each tag of each node, by columns."""
        hidden = self._hidden(self.tags["hidden"], states)
        return {column: layer(hidden) for column, layer in self.tags.items() if column != "hidden"}

    def _hidden(self, layer: nn.Module, states: Tensor) -> Tensor:
        return functional.dropout(functional.leaky_relu(layer(states), 0.1), self.dropout, self.training)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The parameters as arrays, which share their memory."""
        return {name: parameter.detach().numpy() for name, parameter in self.named_parameters()}

    def exported(self) -> Network:
        """The network as it is now, without torch."""
        weights = {name: array.copy() for name, array in self.weights().items()}
        return Network(self.encoder.exported(weights_of("encoder", weights)), weights)


def _with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors, vectors.new_ones(len(vectors), 1)], dim=1)
