"""Which relations cross others, and over what? Give a treebank as argument, or see random trees."""

import sys
from collections import Counter

import crossarc
from crossarc.testing import random_treebank
from crossarc.trees.shape import nonprojective_arcs

treebank = crossarc.read(sys.argv[1]) if sys.argv[1:] else random_treebank(300, seed=1, nonprojectivity=0.3)

relations: Counter[str] = Counter()
total: Counter[str] = Counter()
example = None
for sentence in treebank:
    total.update(sentence.deprel)
    for word in sentence:
        if nonprojective_arcs(sentence.heads)[word.id]:
            relations[word.deprel] += 1
            example = example or word

print(f"{sum(relations.values())} of {sum(total.values())} arcs are non-projective:")
for label, count in relations.most_common():
    print(f"  {label:12} {count:5}  {count / total[label]:6.1%} of them")
if example is not None:
    print(
        f"\nFor example {example.form!r}, whose path to the root is",
        " → ".join(map(str, [example, *example.ancestors])),
    )
    print(example.sentence)
