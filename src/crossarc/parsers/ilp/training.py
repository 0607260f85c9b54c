"""Training of the integer-program parser: online, passive-aggressive, with loss-augmented relaxed programs.

Martins, Smith and Xing (2009), §4. A wrong arc scores 1 more; the features of a fractional solution are those of its
parts, each as much as the solution has of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.features.templates import load_templates
from crossarc.ilp import Indicators, Parts, relax, solve
from crossarc.ilp.parts import indicators_of_tree
from crossarc.parsers.ilp._update import SMALLEST, ilp_update, score_with_losses
from crossarc.parsers.ilp.config import PARTS, TEMPLATES, IlpConfig
from crossarc.parsers.ilp.parser import IlpParser
from crossarc.parsers.linear._learn import TrainingSentence
from crossarc.parsers.linear.integer_program import program_parts
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.training import LinearTraining, with_wanted_labels
from crossarc.parsers.training import TrainingSetup, Treebank, has_possible_tree, with_treebank_defaults
from crossarc.scorers.linear.scorer import ScoringModels

__all__ = ["train"]


def train(treebank: Sequence[Sentence], config: IlpConfig, setup: TrainingSetup) -> IlpParser:
    """Train the integer-program parser: see ``crossarc.parsers.train``."""
    _check_templates(config)
    config = with_treebank_defaults(treebank, config)
    treebank, setup = with_wanted_labels(_possible(treebank, config, setup), config.labels, setup)
    trees = Treebank(treebank)
    return IlpParser(config, _Training(trees, config, setup).train(setup.checkpoint_for(config, trees.checksum)))


def _possible(treebank: Sequence[Sentence], config: IlpConfig, setup: TrainingSetup) -> Sequence[Sentence]:
    """The sentences whose trees are solutions of the programs: no other can be learnt."""
    shape = {"projective": config.projective, "single_root": bool(config.single_root)}
    possible = [sentence for sentence in treebank if has_possible_tree(sentence, **shape)]
    if len(possible) < len(treebank):
        setup.listener.sentences_left_out(len(treebank) - len(possible), "their trees are of another shape")
    return possible


def _check_templates(config: IlpConfig) -> None:
    """Refuse parts that the feature set has no templates for: they would score nothing."""
    templates = load_templates(config.features).features.templates
    unscored = [kind for kind in PARTS if kind in config.kinds and not any(templates[t] for t in TEMPLATES[kind])]
    scored = [kind for kind in PARTS if kind in config.kinds and kind not in unscored]
    if unscored:
        raise CrossarcError(
            f"--features {config.features} has no templates for {', '.join(unscored)}: take --parts {','.join(scored)}"
        )


class _Training(LinearTraining):
    def __init__(self, treebank: Treebank, config: IlpConfig, setup: TrainingSetup) -> None:
        super().__init__(treebank, config.linear, setup, config.scorer)
        self.program = config
        self.constraints = Constraints(single_root=bool(config.single_root), projective=config.projective)

    def run(self, epoch: int) -> tuple[float, float]:
        models = self.heads.scorer(self.learner.weights).models

        def learn(chosen: NDArray[np.int64]) -> float:
            return sum(self._learn_from(sentence, models) for sentence in chosen.tolist())

        return self.treebank.epoch(self.stage, epoch, learn, self.rng, self.listener)

    def _learn_from(self, sentence: int, models: ScoringModels) -> int:
        """Change the weights where they prefer something else to the gold tree; how many heads were wrong."""
        starts, treebank, learner = self.treebank.batch.starts, self.treebank, self.learner
        gold = treebank.gold.heads[starts[sentence] : starts[sentence + 1]]
        kinds, wrong = self.program.kinds, 0
        if len(gold) > 1:
            scored = score_with_losses(treebank.batch, sentence, models, treebank.gold, self.config.search.shape)
            parts = program_parts(scored.parts, kinds)
            found = self._relaxed(parts)
            difference = _difference(indicators_of_tree(parts, gold), found, parts, kinds)
            wrong_heads = float(found.arcs[parts.heads != gold[parts.modifiers]].sum())
            loss = wrong_heads + (_label_loss(scored, parts, found) if self.options.joint else 0.0)
            n_different = sum(int((np.abs(of_kind) > SMALLEST).sum()) for of_kind in difference)
            ilp_update(scored, models, parts, difference, n_different, loss, learner)
            wrong = round(wrong_heads)
        learner.step[0] += 1
        return wrong

    def _relaxed(self, parts: Parts) -> Indicators:
        """The solution of the relaxation; there always is one, as no gold arc is pruned."""
        if self.program.solver == "ad3":
            # near enough to learn from
            single_root, projective = self.constraints.single_root, self.constraints.projective
            return relax(parts, single_root=single_root, projective=projective, rounds=300, tolerance=1e-3).indicators
        found = solve(parts, constraints=self.constraints, exact=False).indicators
        assert found is not None
        return found

    def _parse_dev(self, parser: LinearParser) -> Iterator[Sentence]:
        return IlpParser(self.program, parser).trees(self.dev)


def _label_loss(scored: TrainingSentence, parts: Parts, found: Indicators) -> float:
    """What the wrong labels of right arcs cost; a solution has the best label of each arc."""
    scores = scored.parts
    chosen = scores.labels[np.arange(scores.labels.shape[1]) < scores.counts[:, np.newaxis]]
    right_arcs = parts.heads == scored.heads[parts.modifiers]
    wrong = right_arcs & (chosen != scored.labels[parts.modifiers])
    return scored.label_loss * float(found.arcs[wrong].sum())


def _difference(gold: Indicators, other: Indicators, parts: Parts, kinds: frozenset[str]) -> Indicators:
    """What the gold tree has more than a solution of each part."""
    differences = Indicators(*(a - b for a, b in zip(gold, other, strict=True)))
    next_siblings = differences.next_siblings.copy()
    for kind, own in (("first-child", parts.next_siblings.first < 0), ("next-sibling", parts.next_siblings.first >= 0)):
        if kind not in kinds:
            next_siblings[own] = 0.0
    return differences._replace(next_siblings=next_siblings)
