"""Random treebanks and random trees, for tests and benchmarks that need nobody's data.

``random_treebank`` speaks a language that a small stochastic dependency grammar makes up from a seed. Words
are built from syllables, inflected, and follow Zipf's law. Adjectives and determiners agree with their noun,
verbs with their subject, and each verb has its own frame and favourite adposition, so that a parser can learn
the language from its treebank. Main clauses have the order subject-verb-object; in others the verb is last.
Some things are ambiguous: a few stems are nouns and verbs at once, an ending may stand for two cases, the
article is also the relative pronoun, an adposition is also the complementiser.

``random_tree`` draws from all trees over n words alike, most of which look like no language at all.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import accumulate, cycle
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence

__all__ = ["random_tree", "random_treebank"]

_T = TypeVar("_T")


def random_treebank(
    size: int, *, seed: int, nonprojectivity: float = 0.1, vocabulary: int = 1000, max_words: int = 40
) -> Iterator[Sentence]:
    """Sentences of an invented language, as a stream.

    The seed decides the language (words, frames) and the sentences; a larger ``size`` adds sentences at the
    end. Training and held-out data in the same language are therefore two slices of one treebank.

    Parameters
    ----------
    size : int
        The number of sentences.
    seed : int
        Same seed, same treebank.
    nonprojectivity : float in 0..1
        The probability that a phrase that can move does move: a relative clause or an adpositional phrase
        away from its noun to the end of the clause, an adjective or a possessor away from its noun to the
        beginning of the clause, the object of a complement clause to the beginning of the clause above.
        0 gives only projective trees. With the same seed and a larger value the same words depend on each
        other, and what moved before moves again, with more. Not every move makes arcs cross, for a phrase
        may stand there already: at 0.1 one sentence in seven is not projective, at 1 two in three are not.
    vocabulary : int, at least 20
        The number of lemmas of nouns, verbs, adjectives and adverbs together.
    max_words : int, at least 10
        No sentence is longer, the full stop included. The mean length is about 11.

    Examples
    --------
    >>> from crossarc.trees.shape import is_projective
    >>> all(is_projective(s.heads) for s in random_treebank(50, seed=1, nonprojectivity=0))
    True
    >>> all(is_projective(s.heads) for s in random_treebank(50, seed=1, nonprojectivity=0.5))
    False
    """
    if size < 0:
        raise ValueError(f"size is {size}, which is negative")
    if not 0 <= nonprojectivity <= 1:
        raise ValueError(f"nonprojectivity is {nonprojectivity}, which is not in 0..1")
    if vocabulary < 20:
        raise ValueError(f"vocabulary is {vocabulary}, which is less than 20")
    if max_words < 10:
        raise ValueError(f"max_words is {max_words}, which is less than 10")
    return _treebank(size, seed, nonprojectivity, vocabulary, max_words)


def random_tree(n: int, *, rng: np.random.Generator, single_root: bool = True) -> NDArray[np.int64]:
    """A tree over the words 1..n, every tree being as probable as any other. O(n).

    There are n^(n-1) trees with a single root and (n+1)^(n-1) in all. Each is drawn as its Prüfer code.

    Returns
    -------
    integer array of length n+1
        The heads; entry 0 is -1.

    >>> random_tree(5, rng=np.random.default_rng(0)).tolist()
    [-1, 3, 0, 2, 3, 3]
    """
    if n < 0:
        raise ValueError(f"n is {n}, which is negative")
    heads = np.full(n + 1, -1, dtype=np.int64)
    if n == 0:
        return heads
    if single_root:
        names = 1 + rng.permutation(n)
        heads[names[-1]] = 0
    else:
        names = np.append(np.arange(1, n + 1), 0)
    node_heads = _decode_pruefer(rng.integers(len(names), size=max(len(names) - 2, 0)), len(names))
    heads[names[:-1]] = names[node_heads]
    return heads


def _decode_pruefer(code: NDArray[np.int64], n: int) -> list[int]:
    """The heads of nodes 0..n-2 in the tree with this code, the root being node n-1.

    Decoding takes off the lowest leaf again and again, never node n-1, so what the leaf hangs on is its head.
    """
    degrees = (1 + np.bincount(code, minlength=n)).tolist()
    node_heads = [n - 1] * (n - 1)
    lowest = 0  # no node below it is a leaf, but for the one that has just become one
    leaf = -1
    for node in code.tolist():
        if leaf < 0:
            while degrees[lowest] != 1:
                lowest += 1
            leaf = lowest
        node_heads[leaf] = node
        degrees[leaf] = 0
        degrees[node] -= 1
        leaf = node if degrees[node] == 1 and node < lowest else -1
    return node_heads


def _treebank(size: int, seed: int, nonprojectivity: float, vocabulary: int, max_words: int) -> Iterator[Sentence]:
    dice = _Dice(np.random.default_rng(seed))
    grammar = _Grammar(dice, _Lexicon(dice, vocabulary))
    for number in range(1, size + 1):
        root = grammar.sentence()
        while root.size() + 1 > max_words:
            root = grammar.sentence()
        yield _written(root, nonprojectivity, f"random-{number}")


class _Dice:
    """Uniform numbers from a generator, fetched by the thousand because single draws are slow."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._ready: list[float] = []

    def roll(self) -> float:
        if not self._ready:
            self._ready = self._rng.random(4096).tolist()
        return self._ready.pop()

    def chance(self, probability: float) -> bool:
        return self.roll() < probability

    def one_of(self, items: Sequence[_T]) -> _T:
        return items[int(self.roll() * len(items))]


class _Zipf(Generic[_T]):
    """Items of which the one of rank r is drawn with probability in proportion to 1 / (r + 2)."""

    def __init__(self, dice: _Dice, items: Sequence[_T]) -> None:
        self._dice = dice
        self._items = items
        self._cumulated = list(accumulate(1 / (rank + 2) for rank in range(len(items))))

    def draw(self) -> _T:
        return self._items[bisect(self._cumulated, self._dice.roll() * self._cumulated[-1])]


# --- Words and their forms ---


class _Word(NamedTuple):
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"


_FULL_STOP = _Word(".", ".", "PUNCT", "X")


class _Agreement(NamedTuple):
    """What a noun shares with the words that agree with it."""

    gender: str
    number: str
    case: str


_Paradigm = dict[_Agreement, _Word]


class _Noun(NamedTuple):
    gender: str
    words: _Paradigm


class _Frame(Enum):
    INTRANSITIVE = 0
    TRANSITIVE = 1
    DITRANSITIVE = 2
    SAYING = 3  # with a finite complement clause
    TRYING = 4  # with an infinitive


class _Verb(NamedTuple):
    frame: _Frame
    adposition: _Word  # of its typical adpositional phrase
    animate_object: bool
    finite: dict[str, tuple[_Word, _Word]]  # number -> present, past
    infinitive: _Word


_NUMBERS = ("Sing", "Plur")
_CASES = ("Nom", "Acc", "Dat", "Gen")
_ENDINGS = {
    ("Com", "Sing"): ("o", "om", "ol", "on"),
    ("Com", "Plur"): ("i", "im", "il", "in"),
    ("Neut", "Sing"): ("a", "a", "al", "an"),
    ("Neut", "Plur"): ("e", "e", "el", "en"),
}
_AGREEMENTS = {
    _Agreement(gender, number, case): ending
    for (gender, number), endings in _ENDINGS.items()
    for case, ending in zip(_CASES, endings, strict=True)
}
_FRAMES_BY_RANK = (  # and so on in turn, so that every frame has frequent and rare verbs
    _Frame.TRANSITIVE,
    _Frame.INTRANSITIVE,
    _Frame.TRANSITIVE,
    _Frame.SAYING,
    _Frame.DITRANSITIVE,
    _Frame.TRANSITIVE,
    _Frame.INTRANSITIVE,
    _Frame.TRYING,
)
_ONSETS: tuple[str, ...] = (*"bdfghklmnprstvz", "br", "fl", "kl", "st", "tr")
_VOWELS = "aeiou"
_CODAS: tuple[str, ...] = (*"dgklmnprstv", "lt", "nd", "rk", "st")


class _Lexicon:
    """The words of an invented language."""

    def __init__(self, dice: _Dice, vocabulary: int) -> None:
        self._dice = dice
        self._stems: set[str] = set()
        verbs, adjectives, adverbs = vocabulary // 5, vocabulary // 5, vocabulary // 10
        noun_stems = self._new_stems(vocabulary - verbs - adjectives - adverbs)
        verb_stems = self._new_stems(verbs - verbs // 8) + noun_stems[1 : 1 + verbs // 8]
        particles = [stem + "u" for stem in self._new_stems(8, syllables=1)]

        nouns = [_noun(stem, "Com" if dice.chance(0.6) else "Neut") for stem in noun_stems]
        self.nouns = {animate: _Zipf(dice, nouns[animate::2]) for animate in (False, True)}
        self.adjectives = _Zipf(dice, [_paradigm(s, "ADJ", "A") for s in self._new_stems(adjectives)])
        self.adverbs = _Zipf(dice, [_Word(s + "u", s + "u", "ADV", "R") for s in self._new_stems(adverbs)])
        adpositions = [_Word(form, form, "ADP", "P") for form in particles[:6]]
        self.noun_adpositions = _Zipf(dice, adpositions[3:])
        self.verb_adpositions = _Zipf(dice, adpositions[:4])
        frames = cycle(_FRAMES_BY_RANK)
        self.verbs = _Zipf(dice, [self._verb(stem, next(frames)) for stem in verb_stems])

        definite, indefinite, pronoun = self._new_stems(3, syllables=1)
        self.determiners = _Zipf(
            dice,
            [
                _paradigm(stem, "DET", "D", f"|Definite={value}", "|PronType=Art")
                for stem, value in ((definite, "Def"), (indefinite, "Ind"))
            ],
        )
        self.relative = _paradigm(definite, "PRON", "W", "", "|PronType=Rel")
        self.pronoun = _paradigm(pronoun, "PRON", "H", "", "|PronType=Prs")
        self.that = _Word(particles[0], particles[0], "SCONJ", "S")  # also the first adposition
        self.and_ = _Word(particles[6], particles[6], "CCONJ", "C")
        self.to = _Word(particles[7], particles[7], "PART", "T")

    def _new_stems(self, count: int, syllables: int | None = None) -> list[str]:
        return [self._new_stem(syllables or (1 if self._dice.chance(0.3) else 2)) for _ in range(count)]

    def _new_stem(self, syllables: int) -> str:
        stem = "".join(self._syllable() for _ in range(syllables)) + self._dice.one_of(_CODAS)
        while stem in self._stems:
            stem = self._syllable() + stem
        self._stems.add(stem)
        return stem

    def _syllable(self) -> str:
        return self._dice.one_of(_ONSETS) + self._dice.one_of(_VOWELS)

    def _verb(self, stem: str, frame: _Frame) -> _Verb:
        lemma = stem + "ir"
        finite = {
            number: (
                _Word(stem + vowel, lemma, "VERB", f"V{number[0]}1", _finite(number, "Pres")),
                _Word(stem + vowel + "t", lemma, "VERB", f"V{number[0]}2", _finite(number, "Past")),
            )
            for number, vowel in zip(_NUMBERS, "ae", strict=True)
        }
        infinitive = _Word(lemma, lemma, "VERB", "VI", "VerbForm=Inf")
        return _Verb(frame, self.verb_adpositions.draw(), self._dice.chance(0.3), finite, infinitive)


def _finite(number: str, tense: str) -> str:
    return f"Mood=Ind|Number={number}|Tense={tense}|VerbForm=Fin"


def _noun(stem: str, gender: str) -> _Noun:
    lemma = stem + _ENDINGS[gender, "Sing"][0]
    words = {a: w._replace(lemma=lemma) for a, w in _paradigm(stem, "NOUN", "N").items() if a.gender == gender}
    return _Noun(gender, words)


def _paradigm(stem: str, upos: str, tag: str, definite: str = "", kind: str = "") -> _Paradigm:
    """All forms of a word that is inflected for gender, number and case."""
    lemma = stem + _ENDINGS["Com", "Sing"][0]
    words = {}
    for agreement, ending in _AGREEMENTS.items():
        gender, number, case = agreement
        xpos = f"{tag}{gender[0]}{number[0]}{case[0]}"
        feats = f"Case={case}{definite}|Gender={gender}|Number={number}{kind}"
        words[agreement] = _Word(stem + ending, lemma, upos, xpos, feats)
    return words


# --- Phrases and how they move ---


class _Landing(Enum):
    """Where a phrase goes when it moves."""

    BEGINNING = 0
    END = 1
    BEGINNING_ABOVE = 2  # of the clause above its own


class _Phrase:
    """A word with its dependents, in the order they have as long as nothing moves."""

    __slots__ = ("after", "before", "deprel", "first", "is_clause", "landing", "reluctance", "word")

    def __init__(self, word: _Word, deprel: str, *, is_clause: bool = False) -> None:
        self.word = word
        self.deprel = deprel
        self.is_clause = is_clause
        self.first: list[_Phrase] = []  # what opens a clause: even moved phrases stand after it
        self.before: list[_Phrase] = []
        self.after: list[_Phrase] = []
        self.landing: _Landing | None = None
        self.reluctance = 1.0  # the phrase moves if nonprojectivity is above this

    def size(self) -> int:
        return 1 + sum(child.size() for child in (*self.first, *self.before, *self.after))


class _Edges:
    """What has moved to the beginning and the end of a clause, as pairs of a phrase and its head."""

    __slots__ = ("above", "beginning", "end")

    def __init__(self, above: _Edges | None) -> None:
        self.above = above
        self.beginning: list[_Placed] = []
        self.end: list[_Placed] = []


_Placed = tuple[_Phrase, _Phrase | None]


def _ordered(phrase: _Phrase, head: _Phrase | None, edges: _Edges | None, nonprojectivity: float) -> list[_Placed]:
    """The words of a phrase in order, each with its head; what moves away goes to the clause's edges."""
    if phrase.is_clause:
        edges = _Edges(edges)

    def place(children: list[_Phrase]) -> list[_Placed]:
        placed: list[_Placed] = []
        for child in children:
            landing = child.landing if child.reluctance < nonprojectivity else None
            target = edges.above if edges and landing is _Landing.BEGINNING_ABOVE else edges
            if landing is None or target is None:
                placed += _ordered(child, phrase, edges, nonprojectivity)
            elif landing is _Landing.END:
                here = len(target.end)
                target.end[here:here] = _ordered(child, phrase, target, nonprojectivity)
            else:
                target.beginning += _ordered(child, phrase, target, nonprojectivity)
        return placed

    first, before, after = place(phrase.first), place(phrase.before), place(phrase.after)
    words = [*before, (phrase, head), *after]
    if phrase.is_clause and edges:
        return [*first, *edges.beginning, *words, *edges.end]
    return [*first, *words]


def _written(root: _Phrase, nonprojectivity: float, sent_id: str) -> Sentence:
    placed = _ordered(root, None, None, nonprojectivity)
    placed.append((_Phrase(_FULL_STOP, "punct"), root))
    position = {id(phrase): i for i, (phrase, _) in enumerate(placed, 1)}
    forms, lemmas, upos, xpos, feats = zip(*(phrase.word for phrase, _ in placed), strict=True)
    sentence = Sentence.of(
        forms,
        lemma=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        head=[str(position[id(head)]) if head else "0" for _, head in placed],
        deprel=[phrase.deprel for phrase, _ in placed],
        misc=[*["_"] * (len(placed) - 2), "SpaceAfter=No", "_"],
    )
    return replace(sentence, comments=(f"# sent_id = {sent_id}", f"# text = {' '.join(forms[:-1])}."))


# --- The grammar ---


class _Grammar:
    """Draws phrases. What is drawn does not depend on nonprojectivity: that only decides what moves."""

    def __init__(self, dice: _Dice, lexicon: _Lexicon) -> None:
        self._dice = dice
        self._words = lexicon

    def sentence(self) -> _Phrase:
        verb = self._verb()
        return self._clause("root", verb, self._arguments(verb, depth=0), depth=0)

    def _clause(self, deprel: str, verb: _Verb, arguments: list[_Phrase], depth: int) -> _Phrase:
        """A clause with its subject and perhaps adjuncts; the verb is last except at depth 0."""
        number = self._number()
        subject = self._noun_phrase("nsubj", "Nom", number, animate=self._dice.chance(0.8), depth=depth)
        clause = _Phrase(self._dice.one_of(verb.finite[number]), deprel, is_clause=True)
        clause.before = [subject]
        if self._dice.chance(0.15):
            clause.before.insert(0, self._adverb())
        others = [*arguments, *self._adjuncts(verb, depth)]
        (clause.before if depth else clause.after).extend(others)
        return clause

    def _complement_clause(self, depth: int) -> _Phrase:
        verb = self._verb(complex_too=depth < 2)
        clause = self._clause("ccomp", verb, self._arguments(verb, depth), depth)
        clause.first = [_Phrase(self._words.that, "mark")]
        return clause

    def _infinitive(self, depth: int) -> _Phrase:
        verb = self._verb(complex_too=depth < 2)
        infinitive = _Phrase(verb.infinitive, "xcomp", is_clause=True)
        infinitive.before = [*self._arguments(verb, depth), _Phrase(self._words.to, "mark")]
        return infinitive

    def _relative_clause(self, gender: str, number: str, depth: int) -> _Phrase:
        """The pronoun has the gender and number of what it refers to, and the case of its own clause."""
        if self._dice.chance(0.35):
            role, case = "obj", "Acc"
            clause = self._clause("acl:relcl", self._transitive_verb(), [], depth)
        else:
            role, case = "nsubj", "Nom"
            verb = self._verb(complex_too=False)
            clause = _Phrase(self._dice.one_of(verb.finite[number]), "acl:relcl", is_clause=True)
            clause.before = [*self._arguments(verb, depth), *self._adjuncts(verb, depth)]
        for child in clause.before:
            child.landing = None  # no argument leaves a relative clause
        clause.first = [_Phrase(self._words.relative[_Agreement(gender, number, case)], role)]
        return clause

    def _verb(self, *, complex_too: bool = True) -> _Verb:
        """A verb of any frame, or of any that takes no clause."""
        verb = self._words.verbs.draw()
        while not complex_too and verb.frame in (_Frame.SAYING, _Frame.TRYING):
            verb = self._words.verbs.draw()
        return verb

    def _transitive_verb(self) -> _Verb:
        verb = self._words.verbs.draw()
        while verb.frame is not _Frame.TRANSITIVE:
            verb = self._words.verbs.draw()
        return verb

    def _arguments(self, verb: _Verb, depth: int) -> list[_Phrase]:
        match verb.frame:
            case _Frame.INTRANSITIVE:
                return []
            case _Frame.TRANSITIVE:
                return [self._object(verb, depth)]
            case _Frame.DITRANSITIVE:
                receiver = self._noun_phrase("iobj", "Dat", self._number(), animate=True, depth=depth + 1)
                return [receiver, self._object(verb, depth)]
            case _Frame.SAYING:
                return [self._complement_clause(depth + 1)]
            case _Frame.TRYING:
                return [self._infinitive(depth + 1)]

    def _object(self, verb: _Verb, depth: int) -> _Phrase:
        animate = verb.animate_object if self._dice.chance(0.9) else not verb.animate_object
        phrase = self._noun_phrase("obj", "Acc", self._number(), animate=animate, depth=depth)
        return self._movable(phrase, _Landing.BEGINNING_ABOVE) if depth else phrase

    def _adjuncts(self, verb: _Verb, depth: int) -> list[_Phrase]:
        adjuncts: list[_Phrase] = []
        if self._dice.chance(0.35 * 0.6**depth):
            usual = self._dice.chance(0.7)
            adposition = verb.adposition if usual else self._words.verb_adpositions.draw()
            adjuncts.append(self._adpositional_phrase("obl", adposition, depth + 1))
        if self._dice.chance(0.3 * 0.6**depth):
            adjuncts.append(self._adverb())
        return adjuncts

    def _adverb(self) -> _Phrase:
        return _Phrase(self._words.adverbs.draw(), "advmod")

    def _adpositional_phrase(self, deprel: str, adposition: _Word, depth: int) -> _Phrase:
        phrase = self._noun_phrase(deprel, "Dat", self._number(), animate=self._dice.chance(0.2), depth=depth)
        phrase.first = [_Phrase(adposition, "case")]
        return phrase

    def _noun_phrase(self, deprel: str, case: str, number: str, *, animate: bool, depth: int) -> _Phrase:
        if deprel == "nsubj" and self._dice.chance(0.2):
            gender = "Com" if animate else "Neut"
            return _Phrase(self._words.pronoun[_Agreement(gender, number, case)], deprel)
        noun = self._words.nouns[animate].draw()
        agreement = _Agreement(noun.gender, number, case)
        phrase = _Phrase(noun.words[agreement], deprel)
        if self._dice.chance(0.5):
            phrase.before.append(_Phrase(self._words.determiners.draw()[agreement], "det"))
        if self._dice.chance(0.35):
            adjective = _Phrase(self._words.adjectives.draw()[agreement], "amod")
            phrase.before.append(self._movable(adjective, _Landing.BEGINNING))
        phrase.after = self._noun_complements(agreement, depth)
        return phrase

    def _noun_complements(self, agreement: _Agreement, depth: int) -> list[_Phrase]:
        complements: list[_Phrase] = []
        rarely = 0.5**depth
        if self._dice.chance(0.15 * rarely):
            number, animate = self._number(), self._dice.chance(0.8)
            possessor = self._noun_phrase("nmod", "Gen", number, animate=animate, depth=depth + 1)
            complements.append(self._movable(possessor, _Landing.BEGINNING))
        elif self._dice.chance(0.2 * rarely):
            adposition = self._words.noun_adpositions.draw()
            phrase = self._adpositional_phrase("nmod", adposition, depth + 1)
            complements.append(self._movable(phrase, _Landing.END))
        if self._dice.chance(0.06 * rarely):
            number, case = self._number(), agreement.case
            conjunct = self._noun_phrase("conj", case, number, animate=True, depth=depth + 1)
            conjunct.first = [_Phrase(self._words.and_, "cc")]
            complements.append(conjunct)
        if self._dice.chance(0.15 * rarely):
            clause = self._relative_clause(agreement.gender, agreement.number, depth + 1)
            complements.append(self._movable(clause, _Landing.END))
        return complements

    def _movable(self, phrase: _Phrase, landing: _Landing) -> _Phrase:
        phrase.landing = landing
        phrase.reluctance = self._dice.roll()
        return phrase

    def _number(self) -> str:
        return "Sing" if self._dice.chance(0.65) else "Plur"
