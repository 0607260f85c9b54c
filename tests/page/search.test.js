import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, termsOf } from "../../src/crossarc/server/page/search.js";

const FACTS = {
  text: "Anna saw New York",
  words: [
    { form: "Anna", lemma: "Anna", upos: "PROPN", xpos: "NE", deprel: "nsubj", feats: "_" },
    { form: "saw", lemma: "see", upos: "VERB", xpos: "VV", deprel: "root", feats: "Mood=Ind|Tense=Past" },
  ],
  sentId: "doc-17",
  state: "unsure",
  note: "Is it a name?",
  changed: true,
  disagrees: false,
};
const finds = (query) => matches(termsOf(query), FACTS);

test("terms are words, words in a row, and names with values", () => {
  assert.deepEqual(termsOf('new lemma:See "New York" http://x'), [
    { name: "text", value: "new" },
    { name: "lemma", value: "see" },
    { name: "text", value: "New York" },
    { name: "text", value: "http://x" },
  ]);
});

test("all that is asked for must hold", () => {
  for (const query of ["", "anna york", '"new york"', "lemma:see", "tag:verb", "tag:NE", "label:nsubj", "label:ns*", "id:doc-*", "id:doc-17"]) assert.ok(finds(query), query);
  for (const query of ["feat:tense=past", "state:unsure", "is:unsure", "is:changed", "note:name", "lemma:see is:changed"]) assert.ok(finds(query), query);
  for (const query of ["tom", '"york new"', "lemma:saw", "label:ns", "id:doc", "is:disagrees", "is:accepted", "lemma:see is:crossing"]) assert.ok(!finds(query), query);
});
