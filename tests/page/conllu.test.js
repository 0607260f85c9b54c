import assert from "node:assert/strict";
import { test } from "node:test";

import { format, hasTree, metadata, parse, textOf, viewOf, withMetadata } from "../../src/crossarc/server/page/conllu.js";

const TEXT = [
  "# sent_id = s-1",
  "# text = zum Haus",
  "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_",
  "1\tzu\tzu\tADP\t_\t_\t3\tcase\t_\t_",
  "2\tdem\tder\tDET\t_\tCase=Dat\t3\tdet\t_\t_",
  "3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\t_",
  "3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_",
].join("\n");

test("what is read is written again", () => {
  assert.equal(format(parse(TEXT)), TEXT);
});

test("what the page shows of a sentence", () => {
  const view = viewOf(TEXT);
  assert.equal(view.text, "zum Haus");
  assert.equal(view.sentId, "s-1");
  assert.deepEqual(view.words.map((word) => word.form), ["zu", "dem", "Haus"]);
  assert.deepEqual(view.tokens, [{ first: 1, last: 2, form: "zum" }]);
  assert.deepEqual(view.nodes.map((node) => node.id), ["3.1"]);
  assert.deepEqual(view.arcs[0], { head: 3, label: "case" });
  assert.deepEqual(view.problems, []);
  assert.ok(hasTree(view));
});

test("text without a comment is that of tokens", () => {
  const rows = parse(TEXT).rows;
  assert.equal(textOf({ comments: [], rows }), "zum Haus");
  const close = [{ ...rows[0], misc: "SpaceAfter=No" }, ...rows.slice(1)];
  assert.equal(textOf({ comments: [], rows: close }), "zumHaus");
});

test("comments with names are read, changed in their place, added and taken away", () => {
  const sentence = parse(TEXT);
  assert.equal(metadata(sentence, "sent_id"), "s-1");
  assert.equal(metadata(sentence, "note"), null);
  assert.deepEqual(withMetadata(sentence, "sent_id", "x").comments, ["# sent_id = x", "# text = zum Haus"]);
  assert.deepEqual(withMetadata(sentence, "note", "a = b").comments.at(-1), "# note = a = b");
  assert.deepEqual(withMetadata(sentence, "text", null).comments, ["# sent_id = s-1"]);
});

test("a sentence with errors in its format has its words and what is wrong", () => {
  const view = viewOf("1\tone\t_\n2\ttwo\t_");
  assert.ok(view.isBroken);
  assert.equal(view.text, "one two");
  assert.equal(view.problems.length, 2);
});
