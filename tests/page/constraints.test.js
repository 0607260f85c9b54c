import assert from "node:assert/strict";
import { test } from "node:test";

import {
  allowHead,
  allowLabel,
  constraintsForService,
  forbid,
  letGo,
  require,
  requireAllBut,
} from "../../src/crossarc/server/page/constraints.js";

test("constraints are never changed", () => {
  const fixed = Object.freeze({});
  assert.deepEqual(require(fixed, 2, 3, "nsubj"), { 2: { head: 3, label: "nsubj", notHeads: [], notLabels: [] } });
});

test("a head cannot be required and forbidden at once: what is said last counts", () => {
  let fixed = forbid(forbid({}, 2, 3), 2, 4);
  assert.deepEqual(fixed[2].notHeads, [3, 4]);
  fixed = require(fixed, 2, 3);
  assert.deepEqual(fixed[2], { head: 3, label: undefined, notHeads: [4], notLabels: [] });
  fixed = forbid(fixed, 2, 3);
  assert.deepEqual(fixed[2], { notHeads: [4, 3], notLabels: [] });
});

test("a label cannot be required and forbidden at once", () => {
  const fixed = { 2: { notHeads: [], notLabels: ["obj", "iobj"] } };
  assert.deepEqual(require(fixed, 2, 3, "obj")[2].notLabels, ["iobj"]);
});

test("what is taken back leaves nothing behind", () => {
  const fixed = { 2: { notHeads: [3], notLabels: ["obj"] } };
  assert.deepEqual(allowLabel(allowHead(fixed, 2, 3), 2, "obj"), {});
  assert.deepEqual(letGo(fixed, 2), {});
  assert.deepEqual(letGo({}, 2), {});
});

test("a tree in which one word may move", () => {
  const arcs = [{ head: 2, label: "det" }, { head: 0, label: "root" }, { head: null, label: "_" }];
  assert.deepEqual(Object.keys(requireAllBut({}, arcs, 1)), ["2"]);
  assert.deepEqual(requireAllBut(forbid({}, 1, 2), arcs, 1)[1].notHeads, [2]);
});

test("the service hears of heads and labels, required and forbidden, but of no label that the model does not know", () => {
  const fixed = {
    2: { head: 0, label: "new", notHeads: [], notLabels: [] },
    5: { notHeads: [1], notLabels: ["obj", "new"] },
    6: { head: 2, label: "obj", notHeads: [], notLabels: [] },
  };
  assert.deepEqual(constraintsForService(fixed, ["obj"], 3), [
    { sentence: 3, word: 2, head: 0, label: null, not_heads: [], not_labels: [] },
    { sentence: 3, word: 5, head: null, label: null, not_heads: [1], not_labels: ["obj"] },
    { sentence: 3, word: 6, head: 2, label: "obj", not_heads: [], not_labels: [] },
  ]);
});
