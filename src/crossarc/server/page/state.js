// What the page knows: the models, the sentences, and the one that is open with all that was said of it.

import { nameOf, ordered } from "./sentences.js";

export const page = {
  models: new Map(),
  model: "", // the name of the one that has parsed
  sentences: [], // {number, base, first, data, seen, history, asked}: CoNLL-U; what the service said first and last; to what
  order: "file", // of the list: that, or "uncertainty"
  current: null,
  selected: null, // a word of the current sentence
  changed: new Set(), // words with another head or label than before
  asking: null, // the word whose head is being chosen
  file: "parsed",
  saved: true,
  reading: 0, // the input that is being parsed, so that an older one stops
};

export function model() {
  return page.models.get(page.model);
}

// The sentences in the order of the list.
export function shown() {
  return ordered(page.sentences, page.order);
}

// What the person has said last.
export function state() {
  return page.current.history.state;
}

// What the tree on the page is the answer to: the same, unless an answer is awaited.
export function seen() {
  return page.current.seen;
}

export function tree() {
  return chosen(page.current);
}

export function chosen({ data, seen }) {
  return data.trees[seen.choice] ?? data.trees[0];
}

export function arcTo(word) {
  return { ...tree().arcs[word - 1], word };
}

export function form(word) {
  return nameOf(page.current.data, word);
}
