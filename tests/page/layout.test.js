import assert from "node:assert/strict";
import { test } from "node:test";

import { layout, pathOf } from "../../src/crossarc/server/page/layout.js";
import { numbers } from "./random.js";

function randomTree(seed) {
  const random = numbers(seed);
  const n = 1 + Math.floor(random() * 14);
  const order = Array.from({ length: n }, (_, i) => i + 1).sort(() => random() - 0.5);
  const arcs = order.map((word, i) => {
    const head = i === 0 ? 0 : order[Math.floor(random() * i)];
    return { head, word, width: 20 + random() * 60 };
  });
  return { words: Array.from({ length: n }, () => 15 + random() * 70), arcs };
}

const TREES = Array.from({ length: 200 }, (_, seed) => randomTree(seed + 1));

test("a sentence without words takes no room", () => {
  const plan = layout([], []);
  assert.equal(plan.width, 0);
  assert.equal(plan.arcs.size, 0);
});

test("words go from left to right without touching", () => {
  for (const { words, arcs } of TREES) {
    const { x, width } = layout(words, arcs);
    for (let word = 1; word <= words.length; word++) {
      const left = x[word] - words[word - 1] / 2;
      const before = word === 1 ? 0 : x[word - 1] + words[word - 2] / 2;
      assert.ok(left > before);
    }
    assert.ok(x[words.length] + words.at(-1) / 2 < width);
  }
});

test("arcs above the same stretch of words have different levels, and one within another is below it", () => {
  const within = (a, b) => Math.min(b.head, b.word) <= Math.min(a.head, a.word) && Math.max(a.head, a.word) <= Math.max(b.head, b.word);
  const apart = (a, b) => Math.max(a.head, a.word) <= Math.min(b.head, b.word) || Math.max(b.head, b.word) <= Math.min(a.head, a.word);
  for (const { words, arcs } of TREES) {
    const above = [...layout(words, arcs).arcs.values()].filter((arc) => arc.head > 0);
    for (const arc of above) {
      for (const other of above) {
        if (arc === other || apart(arc, other)) continue;
        assert.notEqual(arc.level, other.level);
        if (within(other, arc)) assert.ok(arc.level > other.level);
      }
    }
  }
});

test("every arc is at least as wide as its label", () => {
  for (const { words, arcs } of TREES) {
    for (const arc of layout(words, arcs).arcs.values()) {
      if (arc.head > 0) assert.ok(Math.abs(arc.to - arc.from) >= arc.width);
    }
  }
});

test("no two legs stand on the same place", () => {
  for (const { words, arcs } of TREES) {
    const ends = [...layout(words, arcs).arcs.values()].flatMap((arc) => (arc.head > 0 ? [arc.from, arc.to] : [arc.to]));
    assert.equal(new Set(ends.map((end) => end.toFixed(6))).size, ends.length);
  }
});

test("labels on the same level do not overlap", () => {
  for (const { words, arcs } of TREES) {
    const placed = [...layout(words, arcs).arcs.values()];
    for (const arc of placed) {
      for (const other of placed) {
        if (arc.word >= other.word || arc.level !== other.level) continue;
        assert.ok(Math.abs(arc.at - other.at) >= (arc.width + other.width) / 2);
      }
    }
  }
});

test("the arc from the root comes straight down from the highest level", () => {
  const { arcs, levels } = layout([30, 30], [{ head: 0, word: 1, width: 20 }, { head: 1, word: 2, width: 20 }]);
  assert.equal(arcs.get(1).level, levels);
  assert.equal(pathOf({ head: 0, from: 5, to: 5 }, 10, 50), "M5 10V50");
});
