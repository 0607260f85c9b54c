"""The linear scorer: hashed weights for the parts of trees, for labels, and for a small model that prunes heads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features.templates import Templates, TemplateSet, load_templates, parse_templates
from crossarc.features.weights import Quantized, Weights, dequantized
from crossarc.scorers.linear.model import LinearModel, view

__all__ = ["JointLabels", "LaterLabels", "LinearScorer", "ScorerOptions", "ScoringModels", "new_scorer"]


class ScorerOptions(NamedTuple):
    """What a linear scorer looks at."""

    parts: frozenset[str]  # those that are scored, of ``features.templates.PARTS``
    max_candidates: int  # heads that the pruner leaves each word at most; 0: there is no pruner
    pruning_margin: float  # how much worse than the best of them they may be
    joint: bool  # whether arcs are scored with their labels; else labels are chosen for finished trees
    summed: bool  # whether an arc is scored with the sum over its labels, not with the best one


class JointLabels(NamedTuple):
    """Labels are chosen with the arcs."""

    summed: bool  # whether an arc is scored with the sum over its labels, not with the best one


class LaterLabels(NamedTuple):
    """Labels are chosen for finished trees."""


class ScoringModels(NamedTuple):
    """A linear scorer as its kernels take it."""

    pruner: LinearModel  # any model, if all heads are candidates
    heads: LinearModel
    labels: LinearModel
    max_candidates: int
    pruning_margin: float
    labelling: JointLabels | LaterLabels


@dataclass(frozen=True)
class LinearScorer:
    """Scores of parts of trees by the sums of the weights of their features.

    Attributes
    ----------
    labels : tuple of str
        The names of labels.
    templates : TemplateSet
        The feature templates of all parts, as they were written.
    options : ScorerOptions
        Which of the parts are scored, and how heads are pruned.
    heads_model, labels_model : LinearModel
        The weights of arcs and larger parts, and those of labels.
    pruner : LinearModel or None
        A small model that leaves each word its most likely heads; None if all heads are candidates.
    """

    labels: tuple[str, ...]
    templates: TemplateSet
    options: ScorerOptions
    heads_model: LinearModel
    labels_model: LinearModel
    pruner: LinearModel | None

    @cached_property
    def models(self) -> ScoringModels:
        """As kernels want it."""
        own = self.options
        models = self.pruner or self.heads_model, self.heads_model, self.labels_model
        labelling = JointLabels(own.summed) if own.joint else LaterLabels()
        return ScoringModels(*models, own.max_candidates, own.pruning_margin, labelling)

    @cached_property
    def compiled(self) -> Templates:
        """The templates of the parts that are scored."""
        return _compiled(self.templates, self.options)

    def with_heads(self, weights: Weights) -> LinearScorer:
        """The same with other weights of arcs and larger parts."""
        return replace(self, heads_model=view(self.compiled, weights))

    def with_labels(self, weights: NDArray[np.float32]) -> LinearScorer:
        """The same with other weights of labels."""
        return replace(self, labels_model=view(self.compiled, weights, row=len(self.labels)))

    def without_pruning(self) -> LinearScorer:
        """The same, but every head is a candidate."""
        return replace(self, options=self.options._replace(max_candidates=0))

    def to_model(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a model file has of it: a header and tensors."""
        header = {
            "labels": self.labels,
            "templates": self.templates.text,
            "pruner": load_templates("pruner").text if self.pruner is not None else None,
        }
        tensors = {"heads": self.heads_model.weights, "labels": self.labels_model.weights}
        if self.pruner is not None:
            tensors["pruner"] = self.pruner.weights
        return header, tensors

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: dict[str, Any], options: ScorerOptions) -> LinearScorer:
        """The scorer of a model file."""
        templates = parse_templates(header["templates"], "the model's templates")
        compiled, labels = _compiled(templates, options), tuple(header["labels"])
        heads, pruner = tensors["heads"], tensors.get("pruner")
        if pruner is not None and isinstance(heads, Quantized) != isinstance(pruner, Quantized):
            # a file may keep a small table as it is and quantize a large one; kernels are compiled for tables of a kind
            heads, pruner = dequantized(heads), dequantized(pruner)
        return cls(
            labels,
            templates,
            options,
            view(compiled, heads),
            view(compiled, dequantized(tensors["labels"]), row=len(labels)),  # whole rows of them are added up
            None
            if pruner is None
            else view(parse_templates(header["pruner"], "the model's templates").compiled, pruner),
        )


def new_scorer(
    labels: tuple[str, ...],
    templates: TemplateSet,
    options: ScorerOptions,
    weights: Weights,
    pruner: LinearModel | None,
) -> LinearScorer:
    """A scorer with these weights of arcs and larger parts, whose labels are still to be learnt."""
    heads = view(_compiled(templates, options), weights)
    return LinearScorer(labels, templates, options, heads, heads, pruner)


def _compiled(templates: TemplateSet, options: ScorerOptions) -> Templates:
    compiled = templates.of_parts(options.parts)
    return compiled._replace(label=templates.labels_of_arcs()) if options.joint else compiled
