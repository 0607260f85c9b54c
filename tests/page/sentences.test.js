import assert from "node:assert/strict";
import { test } from "node:test";

import { viewOf } from "../../src/crossarc/server/page/conllu.js";
import { descriptions, differences } from "../../src/crossarc/server/page/sentences.js";

const view = viewOf(["I", "saw", "her", "with", "it"].map((form, i) => `${i + 1}\t${form}\t_\t_\t_\t_\t${i === 1 ? 0 : 2}\tx\t_\t_`).join("\n"));
const tree = (...arcs) => arcs.map((arc) => ({ head: Number(arc.split(" ")[0]), label: arc.split(" ")[1] }));
const SHOWN = tree("2 nsubj", "0 root", "2 obj", "5 case", "2 obl");

test("two trees differ in heads and labels", () => {
  assert.deepEqual(differences(view, SHOWN, tree("2 nsubj", "0 root", "2 obj", "5 case", "3 nmod")), ["it ← her"]);
  assert.deepEqual(differences(view, SHOWN, tree("2 obj", "0 root", "2 obj", "5 case", "2 obl")), ["I: obj"]);
});

test("each tree is told by what it has other than the one shown, or than a better one if that is less", () => {
  const first = tree("2 nsubj", "0 root", "2 iobj", "2 case", "3 nmod");
  const second = tree("2 nsubj", "0 root", "2 iobj", "2 case", "4 nmod");
  const third = tree("2 nsubj", "0 root", "2 obj", "5 case", "3 nmod");
  assert.deepEqual(descriptions(view, SHOWN, [first, SHOWN, second, third]), [
    "her: iobj, with ← saw, it ← her",
    "as shown",
    "like 1, but it ← with",
    "it ← her",
  ]);
});

test("many differences are counted; without a tree that is shown, the best has none", () => {
  const other = tree("3 x", "0 root", "2 x", "2 x", "3 x");
  assert.deepEqual(descriptions(view, SHOWN, [other]), ["I ← her, her: x, with ← saw and 1 more"]);
  assert.deepEqual(descriptions(view, null, [other, SHOWN])[0], "");
  assert.match(descriptions(view, null, [other, SHOWN])[1], /^like 1, but /);
});
