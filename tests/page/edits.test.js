import assert from "node:assert/strict";
import { test } from "node:test";

import { Edits, together } from "../../src/crossarc/server/page/edits.js";

const FILE = ["a", "b", "c"].map((text, i) => ({ key: i + 1, text }));
const texts = (edits) => edits.sentences.map((sentence) => sentence.text).join(" ");
const replace = (edits, at, text) => ({ at, old: [edits.sentences[at]], new: [{ ...edits.sentences[at], text }], what: text });

test("undo and redo walk through everything, also where sentences were split and joined", () => {
  const edits = new Edits(FILE);
  const seen = [texts(edits)];
  const push = (edit) => {
    edits.push(edit);
    seen.push(texts(edits));
  };
  push(replace(edits, 1, "B"));
  push({ at: 0, old: edits.sentences.slice(0, 1), new: [{ key: 1, text: "a1" }, { key: 4, text: "a2" }] });
  push({ at: 1, old: edits.sentences.slice(1, 3), new: [{ key: 4, text: "a2B" }] });
  assert.deepEqual(seen, ["a b c", "a B c", "a1 a2 B c", "a1 a2B c"]);
  for (const before of [...seen].reverse().slice(1)) {
    edits.undo();
    assert.equal(texts(edits), before);
  }
  assert.equal(edits.undo(), null);
  for (const after of seen.slice(1)) {
    edits.redo();
    assert.equal(texts(edits), after);
  }
  assert.equal(edits.redo(), null);
});

test("a new edit takes the place of those that were undone", () => {
  const edits = new Edits(FILE);
  edits.push(replace(edits, 0, "x"));
  edits.undo();
  edits.push(replace(edits, 2, "z"));
  assert.ok(!edits.canRedo);
  assert.equal(texts(edits), "a b z");
});

test("a log is played again up to where it was", () => {
  const edits = new Edits(FILE);
  edits.push(replace(edits, 0, "x"));
  edits.push(replace(edits, 2, "z"));
  edits.undo();
  const again = new Edits(FILE, JSON.parse(JSON.stringify(edits.log)), edits.now);
  assert.equal(texts(again), "x b c");
  again.redo();
  assert.equal(texts(again), "x b z");
  assert.equal(texts(new Edits(FILE)), "a b c");
});

test("several sentences change together", () => {
  const edits = new Edits(FILE);
  const changed = new Map([[1, { key: 1, text: "x" }], [3, { key: 3, text: "z" }]]);
  edits.push(together(edits.sentences, changed, "parsed"));
  assert.equal(texts(edits), "x b z");
  edits.undo();
  assert.equal(texts(edits), "a b c");
});
