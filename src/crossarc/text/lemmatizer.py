"""The lemmatizer: lemmas by form and tag where the treebank has them, else by how words with the same end change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from crossarc.core import Sentence
from crossarc.features.word_table import Memo
from crossarc.learning.listener import TrainingListener
from crossarc.models import Tensors
from crossarc.models.schema import Kind, MapOf, Record, Text
from crossarc.models.tensors import TensorKind
from crossarc.text.packing import PACKED, pack, unpack

__all__ = ["Lemmatizer"]

_LONGEST = 6  # letters of an end that is looked at
_FEWEST = 2  # words that an end must have changed in the same way

_SCRIPT = Text(pattern="(?:lower|keep|title)(?:\t[0-9]{1,4}\t[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*){2}")
_RULES = Record({"words": MapOf(_SCRIPT), "endings": MapOf(_SCRIPT)})

Key = tuple[str, str, str, str]  # FORM, UPOS, XPOS, FEATS


@dataclass(frozen=True, repr=False)
class Lemmatizer:
    """Scripts that make lemmas of forms: by tag and form, or by tag and end. See ``script_of``.

    >>> treebank = [Sentence.of(["cats", "dogs"], lemma=["cat", "dog"], upos=["NOUN", "NOUN"])]
    >>> Lemmatizer.train(treebank).apply([Sentence.of(["birds"], upos=["NOUN"])])[0].lemma
    ('bird',)
    """

    name: ClassVar[str] = "lemmatizer"

    header_kinds: ClassVar[Mapping[str, Kind]] = {}
    optional_fields: ClassVar[Collection[str]] = ()

    words: dict[str, str]
    endings: dict[str, str]

    @classmethod
    def train(
        cls, sentences: Iterable[Sentence], *, seed: int = 1, listener: TrainingListener | None = None
    ) -> Lemmatizer:
        """Learn from the lemmas of a treebank. There is nothing random about it, and little to wait for."""
        words: dict[str, Counter[str]] = defaultdict(Counter)
        endings: dict[str, Counter[str]] = defaultdict(Counter)
        seen: set[tuple[Key, str]] = set()
        for sentence in sentences:
            for form, lemma, *tags in zip(*sentence.columns[:5], strict=True):
                if lemma == "_" != form:
                    continue
                key = (form, *tags)
                script = script_of(form, lemma)
                for word in _keys_of_word(*key):
                    words[word][script] += 1
                if (key, script) not in seen:
                    seen.add((key, script))
                    for ending in _keys_of_endings(*key):
                        endings[ending][script] += 1
        rules = cls({}, _needed(_usual(endings, _FEWEST)))
        return cls(_exceptions(_usual(words, 1), rules), rules.endings)

    def __repr__(self) -> str:
        return f"<Lemmatizer: {len(self.words)} words, {len(self.endings)} endings>"

    def apply(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The sentences with lemmas; they must have tags."""
        return [
            sentence.with_columns(lemma=self._lemmas.look_up(zip(sentence.form, *sentence.columns[2:5], strict=True)))
            for sentence in sentences
        ]

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """The header and the tensors of a model file."""
        return {}, {"rules": pack({"words": self.words, "endings": self.endings})}

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """The tensors of a model file."""
        return {"rules": PACKED}

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> Lemmatizer:
        """What ``to_model`` made."""
        rules = unpack(tensors["rules"], _RULES)
        return cls(rules["words"], rules["endings"])

    @cached_property
    def _lemmas(self) -> Memo[Key, str]:
        return Memo(lambda key: self.lemma(*key))

    def lemma(self, form: str, upos: str, xpos: str, feats: str) -> str:
        """The lemma of one word."""
        keys = _keys_of_word(form, upos, xpos, feats)
        scripts = [self.words[key] for key in keys if key in self.words]
        scripts += [self.endings[key] for key in _keys_of_endings(form, upos, xpos, feats) if key in self.endings]
        lemmas = (apply_script(script, form) for script in scripts)
        return next(filter(None, lemmas), form)


def _keys_of_word(form: str, upos: str, xpos: str, feats: str) -> tuple[str, str]:
    return f"{form}\t{upos}\t{xpos}\t{feats}", f"{form.lower()}\t{upos}"


def _keys_of_endings(form: str, upos: str, xpos: str, feats: str) -> list[str]:
    """Longer ends first, and before all those of its part of speech those of its tag."""
    lower = form.lower()
    kind = "X" if form[:1].isupper() else "x"
    ends = [lower[i:] for i in range(max(len(lower) - _LONGEST, 0), len(lower) + 1)]
    return [f"{end}\t{tag}" for tag in (f"{kind}\t{upos}\t{xpos}\t{feats}", f"{kind}\t{upos}") for end in ends]


def _needed(endings: dict[str, str]) -> dict[str, str]:
    """The ends that say something else than the next shorter one."""
    needed: dict[str, str] = {}
    for key in sorted(endings, key=len):
        end, tag = key.split("\t", 1)
        shorter = (needed.get(f"{end[i:]}\t{tag}") for i in range(1, len(end) + 1))
        if endings[key] != next(filter(None, shorter), None):
            needed[key] = endings[key]
    return needed


def _exceptions(words: dict[str, str], rules: Lemmatizer) -> dict[str, str]:
    """The words that change, by part of speech; and by tag those whose lemma is then still another."""
    changing = {key: script for key, script in words.items() if key.count("\t") == 1 and script != _LOWER}
    lemmatizer = Lemmatizer(changing, rules.endings)
    tagged = {
        key: script
        for key, script in words.items()
        if key.count("\t") == 3 and lemmatizer.lemma(*key.split("\t")) != apply_script(script, key.partition("\t")[0])
    }
    return changing | tagged


def _usual(counts: dict[str, Counter[str]], fewest: int) -> dict[str, str]:
    """The most frequent script of each key, if it has been seen often enough."""
    usual = {key: min(seen, key=lambda script: (-seen[script], script)) for key, seen in counts.items()}
    return {key: script for key, script in usual.items() if counts[key][script] >= fewest}


@lru_cache(maxsize=1 << 17)
def script_of(form: str, lemma: str) -> str:
    r"""How the lemma is made of the form: case, cut and added at the start, cut and added at the end.

    >>> script_of("Cities", "city").split("\t"), script_of("went", "go").split("\t")
    (['lower', '0', '', '3', 'y'], ['lower', '4', 'go', '0', ''])
    """
    scripts = []
    for rank, (case, convert) in enumerate(_CASES.items()):
        base = convert(form)
        match = SequenceMatcher(None, base, lemma, autojunk=False).find_longest_match()
        if match.size == 0:
            prefix, added, suffix, ending = len(base), lemma, 0, ""
        else:
            prefix, added = match.a, lemma[: match.b]
            suffix, ending = len(base) - match.a - match.size, lemma[match.b + match.size :]
        changed = prefix + suffix + len(added) + len(ending)
        scripts.append((changed, rank, f"{case}\t{prefix}\t{added}\t{suffix}\t{ending}"))
    return min(scripts)[2]


def apply_script(script: str, form: str) -> str | None:
    """The lemma; None if the form is too short."""
    case, prefix, added, suffix, ending = script.split("\t")
    base = _CASES[case](form)
    if int(prefix) + int(suffix) > len(base):
        return None
    return added + base[int(prefix) : len(base) - int(suffix)] + ending


_LOWER = "lower\t0\t\t0\t"
_CASES: dict[str, Callable[[str], str]] = {"lower": str.lower, "keep": str, "title": str.capitalize}
