"""Train a parser, find the sentence that it is least sure of, correct an arc, and parse the rest around it."""

import crossarc
from crossarc.core import Constraints
from crossarc.parsers import ParseOptions, SpanningTreeConfig
from crossarc.testing import random_treebank

trees = list(random_treebank(260, seed=7, nonprojectivity=0.2))
train, dev, new = trees[:200], trees[200:220], trees[220:]
parser = crossarc.train(train, SpanningTreeConfig(order="1", epochs=5), dev=dev)

parsed = list(parser.parse(new, ParseOptions(confidence=True)))
wrong = [i for i, own in enumerate(parsed) if own.sentence.head != new[i].head]
unsure = max(wrong, key=lambda i: parsed[i].confidence.entropy / len(new[i]))
gold, found = new[unsure], parsed[unsure]
print(f"Least sure of {gold.text!r}: its tree has probability {found.confidence.probability:.2f}")

mistakes = [word for word in gold if gold.head[word.id - 1] != found.sentence.head[word.id - 1]]
word = min(mistakes, key=lambda word: found.confidence.arcs[word.id])
print(f"A person sees that the head of {word.form!r} is wrong; the parser gave it {found.confidence.arcs[word.id]:.2f}")

required = frozenset({(int(gold.heads[word.id]), word.id)})
(again,) = parser.trees([gold], ParseOptions(constraints=Constraints(required_arcs=required)))
for name, tree in (("before", found.sentence), ("after", again)):
    right = sum(a == b for a, b in zip(tree.head, gold.head, strict=True))
    print(f"{name}: {right} of {len(gold)} heads are right")
