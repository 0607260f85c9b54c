import assert from "node:assert/strict";
import { test } from "node:test";

import { format, parse } from "../../src/crossarc/server/page/conllu.js";
import { hasCrossingArcs, withArc, withTree } from "../../src/crossarc/server/page/trees.js";

const row = (id, head, label, deps = "_", tag = "NOUN") => `${id}\tw${id}\t_\t${tag}\t_\t_\t${head}\t${label}\t${deps}\t_`;

test("an arc changes head and label, and the arc of DEPS that was the same", () => {
  const text = [row(1, 2, "nsubj", "2:nsubj|3:obj"), row(2, 0, "root", "0:root"), row(3, 2, "obj")].join("\n");
  const changed = format(withArc(parse(text), 1, 3, "obl"));
  assert.equal(changed, text.replace(row(1, 2, "nsubj", "2:nsubj|3:obj"), row(1, 3, "obl", "3:obl|3:obj")));
  const other = [row(1, 2, "nsubj", "3:x"), row(2, 0, "root"), row(3, 2, "obj")].join("\n");
  assert.equal(parse(format(withArc(parse(other), 1, 3, "obl"))).rows[0].deps, "3:x");
});

test("a tree of the service fills in what is missing, and leaves all else", () => {
  const text = ["# sent_id = x", "1-2\tw\t_\t_\t_\t_\t_\t_\t_\t_", row(1, "_", "_", "_", "_"), row(2, "_", "_")].join("\n");
  const conllu = `${[row(1, 2, "det", "_", "DET"), row(2, 0, "root", "_", "VERB")].join("\n")}\n\n`;
  const expected = ["# sent_id = x", "1-2\tw\t_\t_\t_\t_\t_\t_\t_\t_", row(1, 2, "det", "_", "DET"), row(2, 0, "root")].join("\n");
  assert.equal(withTree(text, conllu, {}), expected);
  assert.equal(parse(withTree(text, conllu, { 1: { head: 2, label: "new" } })).rows[1].deprel, "new");
});

test("arcs that cross, also that of the root", () => {
  const arcs = (...heads) => heads.map((head) => ({ head }));
  assert.ok(!hasCrossingArcs(arcs(2, 0, 2)));
  assert.ok(hasCrossingArcs(arcs(3, 4, 0, 3)));
  assert.ok(hasCrossingArcs(arcs(3, 0, 2)));
  assert.ok(!hasCrossingArcs(arcs(null, null, 2)));
});
