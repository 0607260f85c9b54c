"""Text in, trees out: what joins segmenter, tagger, lemmatiser and parser."""

from crossarc.pipeline.pipeline import Pipeline, load, models
from crossarc.pipeline.scores import scores_of
from crossarc.pipeline.training import PARTS, Annotated, train_parts

__all__ = ["PARTS", "Annotated", "Pipeline", "load", "models", "scores_of", "train_parts"]
