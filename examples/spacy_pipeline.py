"""Crossarc in a pipeline of spaCy: tags, lemmas, trees and their probabilities."""

import spacy
from spacy.matcher import DependencyMatcher

nlp = spacy.blank("en")
nlp.add_pipe("crossarc", config={"model": "en"})
doc = nlp("A hearing is scheduled on the issue today. Nobody knows who scheduled it.")

for sentence in doc.sents:
    for token in sentence:
        print(f"{token.text:10} {token.pos_:6} {token.dep_:14} {token.head.text:10} {token._.arc_probability:.2f}")
    print()

matcher = DependencyMatcher(nlp.vocab)
verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"LEMMA": "schedule"}}
argument = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "argument", "RIGHT_ATTRS": {"DEP": {"REGEX": "^(nsubj|obj)"}}}
matcher.add("scheduled", [[verb, argument]])
print("What schedules or is scheduled:", [doc[argument].text for _, (_, argument) in matcher(doc)])
