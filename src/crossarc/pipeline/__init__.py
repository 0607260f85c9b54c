"""Text in, trees out: what joins segmenter, tagger, lemmatiser and parser."""

from crossarc.pipeline.pipeline import Pipeline, load, models
from crossarc.pipeline.training import PARTS, Annotated, train_parts

__all__ = ["PARTS", "Annotated", "Pipeline", "load", "models", "train_parts"]
