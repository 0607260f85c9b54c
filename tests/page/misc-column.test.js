import assert from "node:assert/strict";
import { test } from "node:test";

import { constraintsIn, withConstraints } from "../../src/crossarc/server/page/misc-column.js";

function sentence(...miscs) {
  const rows = miscs.map((misc, i) => `${i + 1}\tw${i + 1}\t_\tNOUN\t_\t_\t_\t_\t_\t${misc}`);
  return `# sent_id = s\n${rows.join("\n")}`;
}

test("all four kinds are read", () => {
  assert.deepEqual(constraintsIn(sentence("Head=3", "SpaceAfter=No|Rel=nsubj|Gloss=x", "NotHead=1,2|NotRel=obj,obl:tmod", "_")), {
    1: { head: 3, notHeads: [], notLabels: [] },
    2: { label: "nsubj", notHeads: [], notLabels: [] },
    3: { notHeads: [1, 2], notLabels: ["obj", "obl:tmod"] },
  });
});

test("they are written as they are read", () => {
  const plain = sentence("_", "SpaceAfter=No", "_");
  const noted = sentence("Head=0|Rel=root", "SpaceAfter=No|NotHead=1,3|NotRel=obj", "_");
  const constraints = constraintsIn(noted);
  assert.equal(withConstraints(plain, constraints), noted);
  assert.equal(withConstraints(noted, constraints), noted);
  assert.equal(withConstraints(noted, {}), plain);
});

test("the same name twice adds up", () => {
  assert.deepEqual(constraintsIn(sentence("NotHead=2|NotHead=3", "_", "_"))[1].notHeads, [2, 3]);
});

test("other names, multiword tokens and empty nodes stay as they are", () => {
  const text = [
    "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\tHead=3",
    "1\tzu\t_\tADP\t_\t_\t_\t_\t_\tHeadline=3|rel=x|Head=",
    "1.1\tx\t_\t_\t_\t_\t_\t_\t_\tHead=3",
    "2\tdem\t_\tDET\t_\t_\t_\t_\t_\t_",
  ].join("\n");
  assert.deepEqual(constraintsIn(text), {});
  assert.equal(withConstraints(text, {}), text);
});
