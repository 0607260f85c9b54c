"""Raw text to tagged sentences: segmenter, tagger, lemmatizer, all learnt from a treebank."""

from crossarc.text.lemmatizer import Lemmatizer
from crossarc.text.segmenter import Segmenter
from crossarc.text.tagger import Tagger, TaggerTraining
from crossarc.text.treebank import raw_text, text_of

__all__ = ["Lemmatizer", "Segmenter", "Tagger", "TaggerTraining", "raw_text", "text_of"]
