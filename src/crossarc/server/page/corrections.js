// What a person says of a tree, and the rest that is parsed around it.

import { choose, constraintsForService, forbid, letGo, require } from "./history.js";
import * as list from "./list.js";
import * as menu from "./menu.js";
import { byId, complain, say } from "./messages.js";
import * as service from "./service.js";
import { arcTo, model, page, seen, state, tree } from "./state.js";
import { render, select, wordNode } from "./workspace.js";

const TREES = 5;

export function correct(next) {
  page.asking = null;
  page.current.history.push(next);
  page.saved = false;
  reparse(({ history, seen }) => history.dropTo(seen));
}

export function chooseTree(i) {
  if (i >= page.current.data.trees.length || i === seen().choice || seen() !== state()) return;
  const before = tree();
  page.current.history.push(choose(state(), i));
  page.current.seen = state();
  page.saved = false;
  noteChanges(before);
  finishChange();
}

// Parse the current sentence with what is said of it; goBack if that is impossible.
export async function reparse(goBack, marked = true) {
  const sentence = page.current;
  const before = tree();
  const wanted = state();
  const asked = ++sentence.asked;
  const constraints = constraintsForService(wanted.constraints);
  const request = { text: sentence.base, format: "conllu", model: model().name, constraints };
  render();
  try {
    const [data] = await service.parse({ ...request, k: model().k_best ? TREES : 1 });
    if (asked !== sentence.asked) return;
    Object.assign(sentence, { data, seen: wanted });
    if (marked && sentence === page.current) complain(null); // what is wrong with another text stays to be read
  } catch (error) {
    if (asked !== sentence.asked) return;
    goBack(sentence);
    complain(error);
  }
  if (sentence !== page.current) return;
  if (marked) noteChanges(before);
  finishChange();
}

export function travel(way) {
  const { history } = page.current;
  if (way === "undo" ? !history.canUndo : !history.canRedo) return;
  const before = tree();
  history[way]();
  page.saved = false;
  if (state().constraints !== seen().constraints) {
    reparse(() => history[way === "undo" ? "redo" : "undo"]());
    return;
  }
  page.current.seen = state();
  noteChanges(before);
  finishChange();
}

function noteChanges(before) {
  const words = tree().arcs.map((_, i) => i + 1);
  const same = (a, b) => a.head === b.head && a.label === b.label;
  page.changed = new Set(words.filter((word) => !same(before.arcs[word - 1], tree().arcs[word - 1])));
  const n = page.changed.size;
  say(n === 0 ? "Nothing else changed" : `${n} ${n === 1 ? "arc" : "arcs"} changed`);
}

function finishChange() {
  list.update(page.current, page.current);
  render();
}

export const actions = {
  keep: (word) => {
    const arc = arcTo(word);
    if (arc.head !== null) correct(require(state(), word, arc.head, arc.label));
  },
  forbid: (word) => {
    const arc = arcTo(word);
    if (arc.head !== null) correct(forbid(state(), word, arc.head));
  },
  relabel: (word, label) => correct(require(state(), word, arcTo(word).head, label)),
  head: (word, head) => correct(require(state(), word, head)),
  letGo: (word) => {
    if (state().constraints[word]) correct(letGo(state(), word));
  },
  ask: (word) => {
    page.asking = word;
    render();
    say(byId("hint").textContent);
  },
};

export function openMenu(word, place, first) {
  select(word);
  const { data } = page.current;
  const bound = Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, (...rest) => action(word, ...rest)]));
  menu.openMenu({
    sentence: data,
    arc: arcTo(word),
    constraint: state().constraints[word],
    likely: data.heads?.[word - 1] ?? [],
    labels: model().labels,
    place: place ?? placeOf(word),
    first,
    actions: bound,
    closed: () => wordNode(word)?.focus({ preventScroll: true }),
  });
}

function placeOf(word) {
  const box = wordNode(word).getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.bottom };
}

export function answerHead(head) {
  const word = page.asking;
  page.asking = null;
  if (head === word) render();
  else actions.head(word, head);
}
