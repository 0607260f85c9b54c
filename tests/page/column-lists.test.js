import assert from "node:assert/strict";
import { test } from "node:test";

import { columnOf, pairsOf } from "../../src/crossarc/server/page/column-lists.js";

test("columns are read as pairs, and written again", () => {
  for (const [column, text] of [
    ["feats", "Case=Nom|Number=Sing,Plur"],
    ["misc", "SpaceAfter=No|Gloss=a=b|flag"],
    ["deps", "0:root|2:nmod:of|2.1:obj|10:x"],
    ["feats", "_"],
  ]) {
    assert.equal(columnOf(pairsOf(text, column), column), text);
  }
});

test("features and heads are put in order; what has no name falls away", () => {
  assert.equal(columnOf([["number", "Sing"], ["Case", "Nom"], ["", "x"]], "feats"), "Case=Nom|number=Sing");
  assert.equal(columnOf([["10", "x"], ["2.1", "y"], ["2", "z"]], "deps"), "2:z|2.1:y|10:x");
  assert.equal(columnOf([], "misc"), "_");
});
