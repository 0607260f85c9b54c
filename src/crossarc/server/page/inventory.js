// The values that a treebank has in its columns, the most frequent first.

import { model, page, sentences, view } from "./state.js";

export const UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split(" ");

let counted = { of: null, counts: null };

// column -> value -> how often; features as "Name=Value". Counted again when the file has changed.
export function inventory() {
  if (counted.of !== page.version) counted = { of: page.version, counts: count(sentences()) };
  return counted.counts;
}

function count(all) {
  const counts = { upos: new Map(), xpos: new Map(), deprel: new Map(), lemma: new Map(), feats: new Map(), form: new Map() };
  for (const sentence of all) {
    for (const word of view(sentence).words) {
      for (const [column, values] of Object.entries(counts)) {
        for (const value of column === "feats" ? word.feats.split("|") : [word[column]]) {
          if (value !== "_") values.set(value, (values.get(value) ?? 0) + 1);
        }
      }
    }
  }
  return counts;
}

// All values of a column; then those that the model knows, or Universal Dependencies.
export function valuesOf(column) {
  const counts = inventory()[column];
  const known = column === "deprel" ? (model()?.labels ?? []) : column === "upos" ? UPOS : [];
  return [...new Set([...[...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)), ...known])];
}
