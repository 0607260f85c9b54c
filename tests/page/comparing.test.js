import assert from "node:assert/strict";
import { test } from "node:test";

import { agreement, aligned } from "../../src/crossarc/server/page/comparing.js";
import { viewOf } from "../../src/crossarc/server/page/conllu.js";

const sentence = (form, label, id) => `${id ? `# sent_id = ${id}\n` : ""}1\t${form}\t_\t_\t_\t_\t0\t${label}\t_\t_`;
const labels = (views) => views.map((view) => view?.arcs[0].label ?? null);

test("sentences with names are found by them, wherever they stand", () => {
  const ours = [sentence("a", "x", "1"), sentence("b", "x", "2"), sentence("c", "x", "3")].map(viewOf);
  const other = [sentence("b", "second", "2"), sentence("a", "first", "1")].join("\n\n");
  assert.deepEqual(labels(aligned(ours, other)), ["first", "second", null]);
});

test("others by their place, if they have the same words", () => {
  const ours = [sentence("a", "x"), sentence("b", "x"), sentence("c", "x")].map(viewOf);
  const other = [sentence("a", "first"), sentence("other", "second"), "no columns"].join("\n\n");
  assert.deepEqual(labels(aligned(ours, other)), ["first", null, null]);
});

test("how far they agree, over the sentences that both have", () => {
  const rows = (...arcs) => viewOf(arcs.map(([head, label], i) => `${i + 1}\tw\t_\t_\t_\t_\t${head}\t${label}\t_\t_`).join("\n"));
  const ours = [rows([0, "root"], [1, "x"], [1, "y"]), rows([0, "root"]), rows([0, "root"], [1, "x"])];
  const theirs = [rows([0, "root"], [1, "z"], [2, "y"]), rows([0, "root"]), null];
  assert.deepEqual(agreement(ours, theirs), { sentences: 1, words: 4, heads: 3, arcs: 2 });
});
