"""Sentences with enhanced dependencies, made of patterns: what the enhancer is to learn."""

from __future__ import annotations

import random

from crossarc.core import Sentence

NOUNS = ("cat", "dog", "boy", "girl", "house", "tree", "idea", "town")
VERBS = ("sees", "likes", "finds", "takes", "hears")
ADPOSITIONS = ("with", "from", "under", "near", "without")

# FORM UPOS HEAD DEPREL DEPS; N, V and P stand for some noun, verb and adposition, p for that adposition in a label
PATTERNS = [
    # the boy sees the cat with the dog
    """N NOUN 2 nsubj 2:nsubj
       V VERB 0 root 0:root
       N NOUN 2 obj 2:obj
       P ADP 5 case 5:case
       N NOUN 2 obl 2:obl:p""",
    # the boy sees the cat because of the dog
    """N NOUN 2 nsubj 2:nsubj
       V VERB 0 root 0:root
       N NOUN 2 obj 2:obj
       because ADP 6 case 6:case
       of ADP 4 fixed 4:fixed
       N NOUN 2 obl 2:obl:because_of""",
    # the boy sees and likes the cat: the verbs share their subject
    """N NOUN 2 nsubj 2:nsubj|4:nsubj
       V VERB 0 root 0:root
       and CCONJ 4 cc 4:cc
       V VERB 2 conj 0:root|2:conj:and
       N NOUN 4 obj 4:obj""",
    # the boy who sees the cat likes the dog: a cycle, and a pronoun that points back
    """N NOUN 5 nsubj 3:nsubj|5:nsubj
       who PRON 3 nsubj 1:ref
       V VERB 1 acl:relcl 1:acl:relcl
       N NOUN 3 obj 3:obj
       V VERB 0 root 0:root
       N NOUN 5 obj 5:obj""",
    # the boy wants to see the cat: control
    """N NOUN 2 nsubj 2:nsubj|4:nsubj:xsubj
       wants VERB 0 root 0:root
       to PART 4 mark 4:mark
       V VERB 2 xcomp 2:xcomp
       N NOUN 4 obj 4:obj""",
]


def enhanced_treebank(sentences: int, seed: int) -> list[Sentence]:
    rng = random.Random(seed)
    return [_filled(rng.choice(PATTERNS), rng) for _ in range(sentences)]


def _filled(pattern: str, rng: random.Random) -> Sentence:
    adposition = rng.choice(ADPOSITIONS)
    words = {"N": lambda: rng.choice(NOUNS), "V": lambda: rng.choice(VERBS), "P": lambda: adposition}
    rows = [line.split() for line in pattern.splitlines()]
    form, upos, head, deprel, deps = zip(*rows, strict=True)
    form = tuple(words[word]() if word in words else word for word in form)
    deps = tuple(own.replace("obl:p", f"obl:{adposition}") for own in deps)
    feats = ["PronType=Rel" if word == "who" else "_" for word in form]
    return Sentence.of(form, lemma=form, upos=upos, feats=feats, head=head, deprel=deprel, deps=deps)
