import assert from "node:assert/strict";
import { test } from "node:test";

import { layout, mirrored } from "../../src/crossarc/server/page/layout.js";
import { isMostlyLatin, isRightToLeft } from "../../src/crossarc/server/page/script.js";
import { differences } from "../../src/crossarc/server/page/sentences.js";

test("the first letter says which way a text is written", () => {
  for (const text of ["הילד", "1. العربية abc", "«ܫܠܡܐ»"]) assert.ok(isRightToLeft(text), text);
  for (const text of ["", "12", "abc הילד", "中文"]) assert.ok(!isRightToLeft(text), text);
});

test("an English text is mostly Latin", () => {
  assert.ok(isMostlyLatin("Café in 北京"));
  assert.ok(isMostlyLatin("12."));
  assert.ok(!isMostlyLatin("我在北京 OK"));
});

test("from right to left, the first word is the rightmost, and arcs go along", () => {
  const arcs = [{ head: 2, word: 1, width: 20 }, { head: 0, word: 2, width: 20 }, { head: 2, word: 3, width: 20 }];
  const plan = layout([30, 40, 50], arcs);
  const { x, arcs: placed, width } = mirrored(plan);
  assert.ok(x[1] > x[2] && x[2] > x[3]);
  assert.equal(placed.get(1).to, width - plan.arcs.get(1).to);
  assert.ok(placed.get(3).to < placed.get(3).from);
});

test("what differs between trees is named", () => {
  const view = { words: [{ form: "saw" }, { form: "man" }, { form: "man" }] };
  const first = [{ head: 0, label: "root" }, { head: 1, label: "obj" }, { head: 2, label: "x" }];
  assert.deepEqual(differences(view, first, [first[0], { head: 1, label: "obl" }, { head: 1, label: "x" }]), ["man (2): obl", "man (3) ← saw"]);
  assert.deepEqual(differences(view, first, first), []);
});
