// What the page knows: the models, the file that is open, its sentences, and the one that is looked at.

import { viewOf } from "./conllu.js";
import { Edits } from "./edits.js";

export const page = {
  models: new Map(),
  model: "", // the name of the one whose opinion is asked
  hasFolder: false, // whether the service has a folder of treebanks
  file: null, // {id, name, bom, eol, originals: key -> the block it was}
  edits: new Edits([]),
  order: "file", // of the list: that, or "uncertainty"
  query: "", // what is searched for (search.js)
  current: null, // the key of the sentence that is open
  compared: null, // {name, others: key -> the view of that sentence in another file}
  zoom: 1, // of the drawing; 0: as wide as the page
  selected: null, // a word of it
  changed: new Set(), // words with another head or label than before
  asking: null, // the word whose head is being chosen
  isAskingExtra: false, // whether that is one more head, for DEPS
  pending: null, // {key, fixed}: what was said of a sentence that is being parsed again
  version: 0, // counts whatever changes sentences
  isLoading: false, // whether sentences are still to come
  reading: 0, // the input that is being read, so that an older one stops
};

export function model() {
  return page.models.get(page.model);
}

export function sentences() {
  return page.edits.sentences;
}

// The sentence that is open.
export function current() {
  return sentences().find((sentence) => sentence.key === page.current) ?? null;
}

export function placeOf(sentence) {
  return sentences().findIndex((other) => other.key === sentence.key);
}

const views = new WeakMap();

// What its CoNLL-U says; found once.
export function view(sentence = current()) {
  if (!views.has(sentence)) views.set(sentence, viewOf(sentence.text));
  return views.get(sentence);
}

export function isChanged(sentence) {
  return page.file.originals.get(sentence.key)?.text !== sentence.text;
}

// A key that no sentence has had yet, not even one that was undone.
export function newKey() {
  const used = [...page.file.originals.keys(), ...page.edits.log.flatMap((edit) => edit.new.map((sentence) => sentence.key))];
  return 1 + used.reduce((a, b) => Math.max(a, b), 0);
}
