import assert from "node:assert/strict";
import { test } from "node:test";

import { doubtsOf, nearest } from "../../src/crossarc/server/page/doubts.js";

const word = (id, columns) => ({ id: String(id), form: "x", upos: "NOUN", xpos: "_", deprel: "obl", feats: "_", ...columns });
const inventory = (columns = {}, size = 1000) => ({
  form: new Map([["x", size]]),
  upos: new Map([["NOUN", 500]]),
  xpos: new Map(),
  deprel: new Map([["obl", 300]]),
  feats: new Map([["Case=Nom", 50]]),
  ...columns,
});
const messages = (words, ...rest) => doubtsOf(words, ...rest).map((doubt) => doubt.message);

test("values that no other sentence has are asked back, with the nearest that there is", () => {
  const counts = inventory({ deprel: new Map([["obl", 300], ["obll", 1]]) });
  assert.deepEqual(doubtsOf([word(3, { deprel: "obll" })], counts), [
    { word: 3, column: "deprel", message: "DEPREL obll is in no other sentence; did you mean obl?" },
  ]);
  assert.deepEqual(messages([word(1, { upos: "Nom" })], inventory()), ["UPOS Nom is in no other sentence"]);
  assert.deepEqual(messages([word(1, { feats: "Case=Nim" })], inventory()), ["FEATS Case=Nim is in no other sentence; did you mean Case=Nom?"]);
});

test("not those that are known from elsewhere, nor in a treebank that has just begun", () => {
  assert.deepEqual(messages([word(1, { deprel: "obj" })], inventory(), { deprel: ["obj"], upos: [] }), []);
  assert.deepEqual(messages([word(1, { deprel: "new" })], inventory({}, 20)), []);
  assert.deepEqual(messages([word(1)], inventory()), []);
});

test("features have names and values, once, in order", () => {
  const feats = (text) => messages([word(1, { feats: text })], inventory({}, 20));
  assert.deepEqual(feats("Case=Nom|Number=Sing,Plur|Person[psor]=1"), []);
  assert.match(feats("case")[0], /Name=Value/);
  assert.match(feats("Number=Sing|Case=Nom")[0], /order/);
  assert.match(feats("Case=Nom|Case=Acc")[0], /twice/);
});

test("near is a letter or two", () => {
  assert.equal(nearest("nsbj", ["obj", "nsubj"]), "nsubj");
  assert.equal(nearest("xyz", ["obj"]), null);
});
