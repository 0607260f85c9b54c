"""How fast the neural parser parses without torch, and with it: `python benchmarks/neural_speed.py [MODEL...]`.

Needs Crossarc with torch (`pip install -e '.[neural]'`) and the folder ../shared/treebanks. Both parsers have the same
weights and take turns on the same sentences, of the test set of English-EWT, on one thread; only the network is
another: torch's own LSTM, attention and matrix products. Before anything is timed, all scores of a batch must be equal
within 1e-4. Words a second are of processor time, from words to trees with labels (and tags, if they are the parser's
own). Loading is that of a new process, after `import crossarc`. A model is a file, or the name of one that is
installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from environment import ONE_THREAD, PROJECT

os.environ |= ONE_THREAD  # read when NumPy and torch are imported

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

import crossarc
from crossarc import Sentence
from crossarc.parsers.neural.network_file import scorer_sizes
from crossarc.parsers.neural.parser import NeuralParser
from crossarc.scorers.neural.lstm import DIRECTIONS, LstmEncoder, Packing
from crossarc.scorers.neural.network import Encoded, Network, weights_of
from crossarc.scorers.neural.stacked import StackedEncoder
from crossarc.scorers.neural.torch_network import TorchLstm, TorchNetwork, TorchStacked, TorchTransformer
from crossarc.scorers.neural.transformer import Pretrained
from timing import medians

TEST = PROJECT.parent / "shared" / "treebanks" / "English-EWT" / "test.conllu"
HIDDEN = ("lemma", "upos", "xpos", "feats")
SENTENCES = 640
BATCH = 64  # sentences, as everywhere in Crossarc
LOADS = 5


class LstmOfTorch(TorchLstm):
    """The encoder with torch's LSTM in place of our kernels."""

    def use_own_weights(self) -> None:
        self.of_torch = nn.ModuleList()
        for own in self.lstm:
            assert isinstance(own, nn.ModuleDict)
            width = own[DIRECTIONS[0]].get_parameter("input").shape[1]
            layer = nn.LSTM(width, self.sizes.hidden, bidirectional=True)
            for direction, end in zip(DIRECTIONS, ("", "_reverse"), strict=True):
                weights = own[direction]
                for name, place in (("input", "weight_ih"), ("state", "weight_hh"), ("bias", "bias_ih")):
                    getattr(layer, f"{place}_l0{end}").data.copy_(weights.get_parameter(name))
                getattr(layer, f"bias_hh_l0{end}").data.zero_()
            self.of_torch.append(layer)

    def encode(self, inputs: Any, beside: Tensor | None = None) -> Tensor:
        packing = Packing.of(inputs.starts)
        nodes = torch.from_numpy(packing.nodes)
        states = self._embedded(inputs)[nodes]
        if beside is not None:
            states = torch.cat([states, beside[nodes]], dim=1)
        for layer in self.of_torch:
            states = layer(PackedSequence(states, torch.tensor(packing.counts)))[0].data
        return states[torch.argsort(nodes)]


class InTorch:
    """A network in torch, with the methods of `Network`."""

    def __init__(self, network: TorchNetwork) -> None:
        self.network = network

    @torch.inference_mode()
    def encode(self, sentences: Sequence[Sentence]) -> Encoded:
        inputs: Any = self.network.encoder.inputs(sentences)
        return Encoded(self.network.encoder.encode(inputs).numpy(), inputs.starts)

    @torch.inference_mode()
    def arc_scores(self, encoded: Encoded) -> list[Any]:
        scores = self.network.arc_scores(torch.from_numpy(encoded.states), encoded.starts.tolist()).numpy()
        sizes = np.diff(encoded.starts).tolist()
        return [own[:size, :size].astype(np.float64) for own, size in zip(scores, sizes, strict=True)]

    @torch.inference_mode()
    def label_scores(self, encoded: Encoded, heads: Any, words: Any) -> Any:
        arguments = (torch.from_numpy(array) for array in (encoded.states, heads, words))
        return self.network.label_scores(*arguments).numpy()

    @torch.inference_mode()
    def tag_scores(self, encoded: Encoded) -> dict[str, Any]:
        scores = self.network.tag_scores(torch.from_numpy(encoded.states))
        return {column: own.numpy() for column, own in scores.items()}


def in_torch(parser: NeuralParser) -> InTorch:
    """The parser's network in torch, with the same weights."""
    own = parser.network.encoder
    context = own.context if isinstance(own, StackedEncoder) else own
    assert isinstance(context, LstmEncoder)
    lstm = LstmOfTorch(context.sizes, context.vocabulary, 0.0, 0.0)
    encoder: LstmOfTorch | TorchStacked = lstm
    if isinstance(own, StackedEncoder):
        weights = weights_of("encoder.pretrained", parser.network.weights)
        pretrained = Pretrained(own.pretrained.sizes, own.pretrained.pieces, weights)
        encoder = TorchStacked(TorchTransformer(pretrained, 0.0), lstm)
    sizes = scorer_sizes(parser.config, encoder.sizes.states, len(parser.labels), parser.tags)
    network = TorchNetwork(encoder, sizes, 0.0)
    network.load_state_dict({name: torch.from_numpy(weights) for name, weights in parser.network.weights.items()})
    lstm.use_own_weights()
    return InTorch(network.eval())


def check(ours: Network, theirs: InTorch, sentences: Sequence[Sentence]) -> None:
    """Both give the same scores."""
    encoded = ours.encode(sentences), theirs.encode(sentences)
    words = np.arange(len(encoded[0].states))
    pairs = [(encoded[0].states, encoded[1].states)]
    pairs += zip(ours.arc_scores(encoded[0]), theirs.arc_scores(encoded[1]), strict=True)
    pairs.append((ours.label_scores(encoded[0], words, words), theirs.label_scores(encoded[1], words, words)))
    if any(name.startswith("tags.") for name in ours.weights):
        tags = ours.tag_scores(encoded[0]), theirs.tag_scores(encoded[1])
        pairs += [(tags[0][column], tags[1][column]) for column in tags[0]]
    difference = max(float(np.abs(own - other).max()) for own, other in pairs)
    if difference > 1e-4:
        raise SystemExit(f"torch gives other scores: {difference:.1e} away")


def parse(parser: NeuralParser, sentences: Sequence[Sentence]) -> None:
    for i in range(0, len(sentences), BATCH):
        batch = sentences[i : i + BATCH]
        list(parser.trees(parser.apply(batch) if parser.tags else batch))


def seconds_to_load(model: str) -> float:
    program = (
        "import sys, time, crossarc; start = time.process_time(); crossarc.load(sys.argv[1]); "
        "print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", program, model]
    return statistics.median(float(subprocess.check_output(command)) for _ in range(LOADS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["en"], metavar="MODEL")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each parser's turns (default: 20)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sentences = list(crossarc.read(TEST, trees=True))[:SENTENCES]
    words = sum(map(len, sentences))
    print("| model | words/s without torch | with torch | times as fast | loading |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for model in options.models:
        ours: Any = crossarc.load(model).parser
        given = sentences
        if ours.tags:
            given = [sentence.with_columns(**dict.fromkeys(HIDDEN, ["_"] * len(sentence))) for sentence in sentences]
        network: Any = in_torch(ours)
        theirs = replace(ours, network=network, _last=type(ours._last)())
        check(ours.network, network, given[:BATCH])
        for own in (ours, theirs):
            parse(own, given[: 2 * BATCH])
        found, others = medians(
            lambda own=ours, own_given=given: parse(own, own_given),
            {"torch": lambda own=theirs, own_given=given: parse(own, own_given)},
            seconds=options.seconds,
            time_of=time.process_time,
        )
        speeds = words / found, words / others["torch"]
        load = f"{seconds_to_load(model):.2f} s"
        print(f"| {model} | {speeds[0]:,.0f} | {speeds[1]:,.0f} | {speeds[0] / speeds[1]:.2f} × | {load} |", flush=True)


if __name__ == "__main__":
    main()
