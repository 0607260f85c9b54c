// Arcs in the rows of a sentence.

import { format, isWord, parse } from "./conllu.js";
import { compareIds } from "./problems.js";

// The sentence with another arc to a word. An arc of DEPS that is the same as the tree's goes along with it.
export function withArc(sentence, word, head, label) {
  const rows = sentence.rows.map((row) => (row.id === String(word) ? rowWithArc(row, String(head), label) : row));
  return { ...sentence, rows };
}

function rowWithArc(row, head, deprel) {
  return { ...row, head, deprel, deps: movedDeps(row, head, deprel) };
}

// DEPS of a row whose arc in the tree becomes another.
export function movedDeps(row, head, label) {
  const arcs = row.deps.split("|");
  const at = arcs.indexOf(`${row.head}:${row.deprel}`);
  if (row.deps === "_" || at < 0) return row.deps;
  arcs[at] = `${head}:${label}`;
  return [...new Set(arcs)].sort((a, b) => compareIds(a.split(":")[0], b.split(":")[0])).join("|");
}

// The text of a sentence with a tree of the service (its CoNLL-U): its arcs, and tags and lemmas where there were none. Labels
// that a person gave and the model does not know stay.
export function withTree(text, conllu, fixed) {
  const sentence = parse(text);
  const parsed = parse(conllu.trimEnd()).rows.filter(isWord);
  const rows = sentence.rows.map((row) => {
    if (!isWord(row)) return row;
    const found = parsed[Number(row.id) - 1];
    const label = fixed[row.id]?.label ?? found.deprel;
    const filled = Object.fromEntries(["lemma", "upos", "xpos", "feats"].map((name) => [name, row[name] === "_" ? found[name] : row[name]]));
    const deps = found.deps === row.deps ? movedDeps(row, found.head, label) : found.deps;
    return { ...row, ...filled, head: found.head, deprel: label, deps };
  });
  return format({ ...sentence, rows });
}

export function sameArc(a, b) {
  return a.head === b.head && a.label === b.label;
}

// Whether arcs cross; the root stands before the first word.
export function hasCrossingArcs(arcs) {
  const spans = arcs.flatMap(({ head }, i) => (head === null ? [] : [[Math.min(head, i + 1), Math.max(head, i + 1)]]));
  return spans.some(([a, b]) => spans.some(([c, d]) => a < c && c < b && b < d));
}
