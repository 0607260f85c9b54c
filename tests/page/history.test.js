import assert from "node:assert/strict";
import { test } from "node:test";

import {
  History,
  allowHead,
  allowLabel,
  choose,
  constraintsForService,
  forbid,
  letGo,
  require,
} from "../../src/crossarc/server/page/history.js";

const START = new History().state;

test("undo and redo walk through the states", () => {
  const history = new History();
  assert.ok(history.isEmpty);
  const states = [history.state, require(history.state, 2, 3), forbid(history.state, 4, 1)];
  states.slice(1).forEach((state) => history.push(state));
  history.undo();
  assert.equal(history.state, states[1]);
  history.undo();
  assert.equal(history.state, states[0]);
  assert.ok(!history.canUndo);
  history.undo();
  assert.equal(history.state, states[0]);
  history.redo();
  history.redo();
  assert.equal(history.state, states[2]);
  assert.ok(!history.canRedo);
});

test("a new state takes the place of those that were undone", () => {
  const history = new History();
  history.push(require(START, 2, 3));
  history.undo();
  const other = require(START, 2, 4);
  history.push(other);
  assert.equal(history.state, other);
  assert.ok(!history.canRedo);
});

test("steps that led nowhere are dropped", () => {
  const history = new History();
  const good = require(history.state, 2, 3);
  history.push(good);
  history.push(require(good, 3, 2));
  history.dropTo(good);
  assert.equal(history.state, good);
  assert.ok(!history.canRedo);
});

test("constraints that came with the sentence are not undone, and count as edited", () => {
  const history = new History({ 1: { head: 2, notHeads: [], notLabels: [] } });
  assert.ok(!history.canUndo);
  assert.ok(!history.isEmpty);
});

test("states are never changed", () => {
  const state = Object.freeze({ constraints: Object.freeze({}), choice: 2 });
  const next = require(state, 2, 3, "nsubj");
  assert.deepEqual(next, { constraints: { 2: { head: 3, label: "nsubj", notHeads: [], notLabels: [] } }, choice: 0 });
  assert.equal(choose(next, 4).constraints, next.constraints);
});

test("a head cannot be required and forbidden at once: what is said last counts", () => {
  let state = forbid(forbid(START, 2, 3), 2, 4);
  assert.deepEqual(state.constraints[2].notHeads, [3, 4]);
  state = require(state, 2, 3);
  assert.deepEqual(state.constraints[2], { head: 3, label: undefined, notHeads: [4], notLabels: [] });
  state = forbid(state, 2, 3);
  assert.deepEqual(state.constraints[2], { notHeads: [4, 3], notLabels: [] });
});

test("a label cannot be required and forbidden at once", () => {
  const state = { constraints: { 2: { notHeads: [], notLabels: ["obj", "iobj"] } }, choice: 0 };
  assert.deepEqual(require(state, 2, 3, "obj").constraints[2].notLabels, ["iobj"]);
});

test("what is taken back leaves nothing behind", () => {
  const state = { constraints: { 2: { notHeads: [3], notLabels: ["obj"] } }, choice: 0 };
  assert.deepEqual(allowLabel(allowHead(state, 2, 3), 2, "obj").constraints, {});
  assert.deepEqual(letGo(state, 2).constraints, {});
  assert.deepEqual(letGo(START, 2).constraints, {});
});

test("the service hears of heads and labels, required and forbidden", () => {
  const constraints = { 2: { head: 0, notHeads: [], notLabels: [] }, 5: { notHeads: [1], notLabels: ["obj"] } };
  assert.deepEqual(constraintsForService(constraints, 3), [
    { sentence: 3, word: 2, head: 0, label: null, not_heads: [], not_labels: [] },
    { sentence: 3, word: 5, head: null, label: null, not_heads: [1], not_labels: ["obj"] },
  ]);
});
