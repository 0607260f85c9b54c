// What can be wrong with a sentence, in the words of crossarc validate (src/crossarc/io/problems.py): each problem is
// {line, message} or {word, column, message}; lines count from 0 within the sentence, words from 1.

const INTEGER = /^(0|[1-9][0-9]*)$/;
const EMPTY_NODE = /^(0|[1-9][0-9]*)\.([1-9][0-9]*)$/;
const RANGE = /^([1-9][0-9]*)-([1-9][0-9]*)$/;
const FIRST_ID = /^(1|0\.1|1-[0-9]+) /;
const NAMES = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

const RAW_TEXT = "this looks like raw text, not like a treebank";

// What keeps lines from being ten columns over the words 1..n.
export function formatProblems(lines) {
  if (isRawText(lines)) return [{ line: 0, message: RAW_TEXT }];
  const found = [];
  const ids = new IdChecker();
  const words = [];
  lines.forEach((text, line) => {
    const row = text.split("\t");
    const say = (message) => found.push({ line, message });
    if (text.startsWith("\ufeff")) say("a byte order mark within the file");
    else if (text.startsWith("#")) {
      if (ids.started) say("a comment after the first word");
    } else if (row.length !== NAMES.length) {
      const hint = row.length === 1 && text.trim().includes(" ") ? " (columns must be separated by tabs)" : "";
      say(`${row.length} ${row.length === 1 ? "column" : "columns"} instead of ${NAMES.length}${hint}`);
      ids.take(row[0]); // a broken line still uses its id up
    } else {
      row.forEach((value, i) => value === "" && say(`column ${NAMES[i]} is empty`));
      const message = ids.take(row[0]);
      if (message) say(message);
      if (INTEGER.test(row[0])) words.push({ line, row });
    }
  });
  const last = ids.finish();
  if (last) found.push({ line: Math.max(lines.length - 1, 0), message: last });
  for (const { line, row } of words) {
    const message = headProblem(row, ids.words);
    if (message) found.push({ line, message });
  }
  return found;
}

function headProblem(row, words) {
  const [id, head] = [row[0], row[6]];
  if (!head || head === "_") return null;
  if (!INTEGER.test(head)) return `HEAD '${head}' of word ${id} is not a number`;
  if (Number(head) <= words) return null;
  return `HEAD ${head} of word ${id} is out of range: the sentence has ${words} ${words === 1 ? "word" : "words"}`;
}

// No columns, and the first line is not that of a first word either, with spaces for tabs.
function isRawText(lines) {
  const rows = lines.filter((line) => !line.startsWith("#"));
  return rows.length > 0 && !rows.some((row) => row.includes("\t")) && !FIRST_ID.test(rows[0]);
}

// Takes the ids of a sentence in turn: 1-2, 1, 1.1, 2, 3 ...
class IdChecker {
  started = false;
  words = 0; // so far
  nodes = 0; // empty nodes since the last word
  covered = 0; // the last word of the last multiword token

  // What is wrong with this id at this place, or null.
  take(id) {
    this.started = true;
    if (INTEGER.test(id)) return this.word(Number(id));
    const node = EMPTY_NODE.exec(id);
    if (node) return this.emptyNode(id, Number(node[1]), Number(node[2]));
    const range = RANGE.exec(id);
    if (range) return this.range(id, Number(range[1]), Number(range[2]));
    return `ID '${id}' is not a word (3), a multiword token (3-4) or an empty node (3.1)`;
  }

  word(word) {
    const expected = this.words + 1;
    this.words = Math.max(word, this.words);
    this.nodes = 0;
    if (word === expected) return null;
    if (word < expected) return `ID ${word} is doubled or out of order: ${expected} expected`;
    return `ID ${expected} is missing: ${word} follows ${expected - 1}`;
  }

  emptyNode(id, after, count) {
    this.nodes += 1;
    if (after !== this.words) return `empty node ${id} stands after word ${this.words}`;
    return count === this.nodes ? null : `empty node ${id}: ${after}.${this.nodes} expected`;
  }

  range(id, first, last) {
    if (first !== this.words + 1) return `multiword token ${id} must stand before word ${first}`;
    if (last < first) return `multiword token ${id} ends before it starts`;
    if (first <= this.covered) return `multiword token ${id} overlaps the one before it`;
    this.covered = last;
    return null;
  }

  finish() {
    if (this.words === 0) return "a sentence without words";
    if (this.covered > this.words) {
      return `a multiword token ends at word ${this.covered}, but the sentence has ${this.words} words`;
    }
    return null;
  }
}

// What keeps the heads from being a tree: unknown ones, then cycles. A sentence that nobody has given a head is no mistake.
export function treeProblems(words) {
  if (words.every((word) => word.head === "_")) return [];
  const found = words
    .filter((word) => word.head === "_")
    .map((word) => ({ word: Number(word.id), column: "head", message: `word ${word.id} has no HEAD` }));
  const heads = [-1, ...words.map((word) => (word.head === "_" ? 0 : Number(word.head)))];
  for (let cycle = findCycle(heads); cycle.length; cycle = findCycle(heads)) {
    const path = [...cycle, cycle[0]].join(" → ");
    const message = cycle.length > 1 ? `the heads form a cycle: ${path}` : `word ${cycle[0]} is its own head`;
    found.push({ word: Math.min(...cycle), column: "head", message });
    heads[cycle[0]] = 0;
  }
  return found;
}

// The words of a cycle, each followed by its head; empty if every word reaches the root.
function findCycle(heads) {
  const visitedFrom = heads.map(() => 0);
  visitedFrom[0] = -1;
  for (let start = 1; start < heads.length; start++) {
    let word = start;
    while (!visitedFrom[word]) {
      visitedFrom[word] = start;
      word = heads[word];
    }
    if (visitedFrom[word] === start) {
      const cycle = [word];
      while (heads[cycle.at(-1)] !== word) cycle.push(heads[cycle.at(-1)]);
      return cycle;
    }
  }
  return [];
}

// What is wrong with DEPS of words: its form, its order, arcs from nodes that are not there.
export function graphProblems(rows) {
  const nodes = new Set(["0", ...rows.filter((row) => !row.id.includes("-")).map((row) => row.id)]);
  return rows.filter((row) => INTEGER.test(row.id) && row.deps !== "_").flatMap((row) => depsProblems(row, nodes));
}

function depsProblems({ id, deps }, nodes) {
  const found = [];
  const say = (message) => found.push({ word: Number(id), column: "deps", message: `DEPS of word ${id}: ${message}` });
  const arcs = deps.split("|").map((arc) => {
    const colon = arc.indexOf(":");
    return colon < 0 ? { arc, head: arc, label: "" } : { arc, head: arc.slice(0, colon), label: arc.slice(colon + 1) };
  });
  for (const { arc, head, label } of arcs) {
    if (!label) say(`'${arc}' is not head:label`);
    else if (!nodes.has(head)) say(`there is no node ${head}`);
    else if (head === id) say("an arc from the word to itself");
  }
  if (arcs.every(({ head }) => nodes.has(head))) {
    if (arcs.some(({ head }, i) => i > 0 && compareIds(arcs[i - 1].head, head) > 0)) say("heads are not in order");
    if (new Set(arcs.map(({ arc }) => arc)).size < arcs.length) say("an arc stands twice");
  }
  return found;
}

// Ids of words and empty nodes in the order of the sentence.
export function compareIds(a, b) {
  const [first, second] = [a, b].map((id) => id.split(".").map(Number));
  return first[0] - second[0] || (first[1] ?? -1) - (second[1] ?? -1);
}
