"""The neural parser's learner, with torch: Adam on the log-likelihood of trees, labels and tags."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from crossarc.core import Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.integrations.torch import log_partition
from crossarc.models import Contents
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.parsers.neural.network_file import lstm_sizes, scorer_sizes
from crossarc.parsers.neural.parser import NeuralParser
from crossarc.parsers.training import Epochs, TrainingSetup, checksum, dev_scores, run_epochs
from crossarc.scorers.neural.network import TAGS
from crossarc.scorers.neural.torch_network import TorchLstm, TorchNetwork, TorchStacked, TorchTransformer
from crossarc.scorers.neural.transformer import read_pretrained
from crossarc.scorers.neural.vectors import piece_vectors
from crossarc.scorers.neural.vocabulary import Vocabulary

__all__ = ["learn"]

_WARM_UP = 0.05  # the share of all steps in which these grow
_BETAS = (0.9, 0.95)
_LEAST_STEPS = 200  # of an epoch, if batches of 100 words or more allow
_TRANSFORMER_DROPOUT = 0.1
_LARGEST_GRADIENT = 5.0
_NO_LABEL = -100  # what torch's cross entropy leaves out


def learn(treebank: Sequence[Sentence], config: NeuralConfig, setup: TrainingSetup) -> NeuralParser:
    """A trained parser; nothing in the configuration is left to the treebank."""
    learning = _Learning(treebank, config, setup)
    parser = run_epochs(learning, config.epochs, setup.checkpoint_for(config, learning.checksum))
    return parser.calibrated(setup.dev) if setup.dev else replace(parser, calibration=Calibration())


class Arcs(NamedTuple):
    """Arcs of several sentences, as indices of scores[b, h, m]."""

    sentence: Tensor
    head: Tensor  # -1 if it is not known
    modifier: Tensor


class _Learning(Epochs[NeuralParser]):
    stage = "network"

    def __init__(self, treebank: Sequence[Sentence], config: NeuralConfig, setup: TrainingSetup) -> None:
        super().__init__(setup)
        self.treebank, self.config = treebank, config
        self.checksum = checksum(treebank)
        self.rng = np.random.default_rng(config.seed)
        self.labels = tuple(sorted({label for sentence in treebank for label in sentence.deprel} - {"_"}))
        self.tags = {name: _values(treebank, name) for name in TAGS} if config.tags == "own" else {}
        self.words = sum(map(len, treebank))
        self.batch_words = config.batch_words or max(100, min(800, self.words // _LEAST_STEPS))
        torch.manual_seed(config.seed)
        encoder = self._encoder()
        sizes = scorer_sizes(config, encoder.sizes.states, len(self.labels), self.tags)
        self.network = TorchNetwork(encoder, sizes, config.dropout)
        parameters: dict[bool, list[nn.Parameter]] = {True: [], False: []}
        for name, parameter in self.network.named_parameters():
            parameters[name.startswith("encoder.pretrained.")].append(parameter)
        self.rates = [config.encoder_learning_rate, config.learning_rate]
        self.optimizer = torch.optim.AdamW(
            [{"params": parameters[True]}, {"params": parameters[False]}], betas=_BETAS, weight_decay=0.0, fused=True
        )
        self._make_moments()

    def _encoder(self) -> TorchLstm | TorchStacked:
        config = self.config
        given = config.tags == "gold"
        groups = ["word", "affix", *["tag"] * given]
        if not config.encoder:
            own = read_pretrained(config.vectors) if config.vectors else None
            vocabulary = Vocabulary.of(self.treebank, groups, lemmas=given, pieces=own and own.pieces)
            vectors = own and piece_vectors(own, config.embedding_size)
            return TorchLstm(lstm_sizes(config, vocabulary), vocabulary, config.dropout, config.word_dropout, vectors)
        vocabulary = Vocabulary.of(self.treebank, groups, lemmas=given)
        pretrained = TorchTransformer(read_pretrained(config.encoder), _TRANSFORMER_DROPOUT)
        sizes = lstm_sizes(config, vocabulary, pretrained.sizes.states)
        return TorchStacked(pretrained, TorchLstm(sizes, vocabulary, config.dropout, config.word_dropout))

    def _make_moments(self) -> None:
        """What Adam remembers, before its first step: so that it can be restored."""
        for parameter in self.network.parameters():
            self.optimizer.state[parameter] = {
                "step": torch.tensor(0.0),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def state(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = dict(self.network.weights())
        for name, parameter in self.network.named_parameters():
            for own, value in self.optimizer.state[parameter].items():
                found[f"{name}.{own}"] = value.numpy()
        return found

    def run(self, epoch: int) -> tuple[float, float]:
        self.listener.begin_epoch(self.stage, epoch, self.words)
        start, total = time.perf_counter(), 0.0
        torch.manual_seed(self.config.seed + epoch)  # dropout is the same after an interruption
        self.network.train()
        batches = self._batches()
        for i, batch in enumerate(batches):
            share = (epoch - 1 + i / len(batches)) / self.config.epochs
            for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
                group["lr"] = rate * min(share / _WARM_UP, (1.0 - share) / (1.0 - _WARM_UP))
            total += self._step([self.treebank[b] for b in batch])
            self.listener.progress(self.stage, sum(len(self.treebank[b]) for b in batch))
        return total / self.words, self.words / (time.perf_counter() - start)

    def _batches(self) -> list[NDArray[np.int64]]:
        """All sentences, those of about the same length together, in random order."""
        sizes = np.array([len(sentence) for sentence in self.treebank])
        order = np.argsort(sizes + self.rng.uniform(0.0, 0.2 * sizes + 1.0), kind="stable")
        order = order[sizes[order] > 0]
        batch = np.cumsum(sizes[order]) // self.batch_words
        batches = np.split(order, np.flatnonzero(np.diff(batch)) + 1)
        return [batches[i] for i in self.rng.permutation(len(batches))]

    def _step(self, sentences: Sequence[Sentence]) -> float:
        """A step of Adam; the loss of these sentences."""
        loss = self._loss(sentences)
        self.optimizer.zero_grad()
        (loss / sum(map(len, sentences))).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _LARGEST_GRADIENT)
        self.optimizer.step()
        return float(loss.detach())

    def _loss(self, sentences: Sequence[Sentence]) -> Tensor:
        """-log p of the heads, labels and tags of sentences; heads and labels that are not given are summed over."""
        inputs: Any = self.network.encoder.inputs(sentences)
        starts = inputs.starts.tolist()
        states = self.network.encoder.encode(inputs)
        lengths = [len(sentence) for sentence in sentences]
        words = Arcs(
            torch.repeat_interleave(torch.arange(len(sentences)), torch.tensor(lengths)),
            torch.from_numpy(np.concatenate([sentence.heads[1:] for sentence in sentences])),
            torch.cat([torch.arange(1, length + 1) for length in lengths]),
        )
        first = torch.tensor(starts)[words.sentence]
        loss = self._loss_of_arcs(self.network.arc_scores(states, starts), lengths, words)
        number = {label: i for i, label in enumerate(self.labels)}
        labels = torch.tensor([number.get(label, _NO_LABEL) for own in sentences for label in own.deprel])
        labels = torch.where(words.head < 0, _NO_LABEL, labels)
        of_labels = self.network.label_scores(states, first + words.head.clamp(min=0), first + words.modifier)
        loss = loss + functional.cross_entropy(of_labels, labels, reduction="sum")
        if self.tags:
            loss = loss + self._loss_of_tags(states[first + words.modifier], sentences)
        return loss

    def _loss_of_arcs(self, scores: Tensor, lengths: list[int], words: Arcs) -> Tensor:
        known = Arcs(*(array[words.head >= 0] for array in words))
        gold = scores[known].sum()
        if self.config.loss == "tree":
            flags = {"single_root": bool(self.config.single_root), "projective": bool(self.config.projective)}
            if len(known.head) < len(words.head):
                gold = log_partition(_only(scores, known), lengths, **flags).sum()
            return log_partition(scores, lengths, **flags).sum() - gold
        size = scores.shape[1]
        inside = torch.arange(size)[None, :] <= torch.tensor(lengths)[:, None]
        possible = inside[:, :, None] & ~torch.eye(size, dtype=torch.bool)
        columns = scores.masked_fill(~possible, -torch.inf).transpose(1, 2)[known.sentence, known.modifier]
        return columns.logsumexp(1).sum() - gold

    def _loss_of_tags(self, states: Tensor, sentences: Sequence[Sentence]) -> Tensor:
        losses = []
        for column, scores in self.network.tag_scores(states).items():
            number = {value: i for i, value in enumerate(self.tags[column])}
            gold = torch.tensor([number.get(v, _NO_LABEL) for sentence in sentences for v in getattr(sentence, column)])
            losses.append(functional.cross_entropy(scores, gold, reduction="sum"))
        return torch.stack(losses).sum()

    def result(self) -> NeuralParser:
        network = self.network.exported()
        parser = NeuralParser(self.config, network, self.labels, self.tags, None, self.checksum)
        if not self.dev:
            return parser
        return replace(parser, dev=dev_scores(self.dev, parser.trees(self.dev)))

    def restored(self, contents: Contents) -> NeuralParser:
        return NeuralParser.from_model(*contents)


def _only(scores: Tensor, known: Arcs) -> Tensor:
    """The scores with -inf for all other heads of the words whose heads are known (McDonald & Satta 2007, §4.3)."""
    others = torch.zeros(scores.shape, dtype=torch.bool)
    others[known.sentence, :, known.modifier] = True
    others[known] = False
    return scores.masked_fill(others, -torch.inf)


def _values(treebank: Sequence[Sentence], column: str) -> tuple[str, ...]:
    return tuple(sorted({value for sentence in treebank for value in getattr(sentence, column)}))
