// Whatever is changed in the file goes through here: it is shown, kept in the browser, and can be undone.

import * as list from "./list.js";
import { complain, say } from "./messages.js";
import { current, page, placeOf, sentences, view } from "./state.js";
import * as store from "./store.js";
import { sameArc } from "./trees.js";
import { render, showOpinion } from "./workspace.js";

let writing = Promise.resolve(); // edits are written one after the other

// edit: as in edits.js
export function change(edit) {
  page.edits.push(edit);
  keep(page.edits.now, edit);
  show(edit, edit.new, edit.old);
}

// The open sentence becomes another; next: what is different in it.
export function changeSentence(next, what, sentence = current()) {
  change({ at: placeOf(sentence), old: [sentence], new: [{ ...sentence, ...next }], what });
}

// way: "undo" or "redo"
export function travel(way) {
  page.pending = null;
  const edit = page.edits[way]();
  if (!edit) return;
  const { id } = page.file;
  const { now } = page.edits;
  if (id !== null) later(() => store.update(id, { now }));
  if (way === "undo") show(edit, edit.old, edit.new);
  else show(edit, edit.new, edit.old);
  say(`${way === "undo" ? "Undone" : "Redone"}: ${edit.what}`);
}

function keep(number, edit) {
  const { id } = page.file;
  if (id !== null) later(() => store.addEdit(id, number, edit));
}

// All edits so far, of a file that the browser has only now.
export function keepAll() {
  page.edits.log.slice(0, page.edits.now).forEach((edit, i) => keep(i + 1, edit));
}

function later(write) {
  document.body.dataset.kept = "no";
  const mine = writing.then(write).catch((error) => complain(new Error(`This browser cannot store your changes (${error?.message ?? error}): download them.`)));
  writing = mine;
  mine.then(() => {
    if (writing === mine) document.body.dataset.kept = "yes";
  });
}

// Open what has changed; now and before: the sentences at that place.
function show(edit, now, before) {
  page.version += 1;
  page.asking = null;
  const open = now.find((sentence) => sentence.key === page.current) ?? firstDifferent(now, before);
  if (open.key !== page.current) page.selected = null;
  page.current = open.key;
  page.changed = differences(open, before.find((sentence) => sentence.key === open.key));
  say(page.changed.size === 0 ? edit.what : page.changed.size === 1 ? "1 arc changed" : `${page.changed.size} arcs changed`);
  list.refresh();
  list.scrollTo(open);
  render();
  showOpinion();
}

function firstDifferent(now, before) {
  return now.find((sentence) => !before.includes(sentence)) ?? now[0] ?? sentences()[0];
}

function differences(sentence, before) {
  if (!before || view(sentence).isBroken || view(before).isBroken) return new Set();
  const [now, then] = [view(sentence).arcs, view(before).arcs];
  const words = now.map((_, i) => i + 1);
  return new Set(now.length === then.length ? words.filter((word) => !sameArc(now[word - 1], then[word - 1])) : []);
}
