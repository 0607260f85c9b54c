"""Text in, trees out: what joins segmenter, tagger, lemmatizer and parser."""

from crossarc.pipeline.pipeline import TEXT_COMPONENTS, Pipeline, load
from crossarc.pipeline.scores import scores_of, words_per_second
from crossarc.pipeline.training import Annotated, train_components

__all__ = ["TEXT_COMPONENTS", "Annotated", "Pipeline", "load", "scores_of", "train_components", "words_per_second"]
