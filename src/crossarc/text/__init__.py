"""Raw text to tagged sentences: segmenter, tagger, lemmatiser, all learnt from a treebank."""

from crossarc.text.lemmatizer import Lemmatizer, train_lemmatizer
from crossarc.text.segmenter import Segmenter, train_segmenter
from crossarc.text.tagger import Tagger
from crossarc.text.treebank import raw_text, text_of

__all__ = ["Lemmatizer", "Segmenter", "Tagger", "raw_text", "text_of", "train_lemmatizer", "train_segmenter"]
