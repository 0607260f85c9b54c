// What a person says of the arcs of a sentence. A tree of the file changes in that arc alone; around a correction of its own tree
// the parser finds the rest anew.

import { changeSentence } from "./changes.js";
import { forbid, letGo, require, requireAllBut } from "./constraints.js";
import { format } from "./conllu.js";
import { addHead } from "./editing.js";
import { complain } from "./messages.js";
import { withConstraints } from "./misc-column.js";
import { byProbability, opinionOf, remember, request } from "./opinions.js";
import * as service from "./service.js";
import { current, page, view } from "./state.js";
import { withArc, withTree } from "./trees.js";
import { render, select } from "./workspace.js";

// What was said of the open sentence, also what the parser has not answered to.
export function fixedNow() {
  return page.pending?.key === page.current ? page.pending.fixed : current().fixed;
}

// The open sentence parsed around what is said of it. Without an answer of the service, instead is done if it is given.
export async function reparse(fixed, what, { others = fixed, instead = null } = {}) {
  const sentence = current();
  const mine = { key: sentence.key, fixed };
  page.pending = mine;
  render();
  try {
    const [answer] = await service.parse(request(sentence, others));
    if (page.pending !== mine) return;
    page.pending = null;
    complain(null);
    const data = byProbability(answer);
    const next = { ...sentence, ...noted(withTree(sentence.text, data.trees[0].conllu, others), fixed), parsed: sentence.parsed || others === fixed };
    if (next.parsed) remember(next, data);
    changeSentence(next, what, sentence);
  } catch (error) {
    if (page.pending !== mine) return;
    page.pending = null;
    complain(error);
    if (instead && error.isSilence) instead();
    else render();
  }
}

// Text and constraints; if the file notes constraints in MISC, they stay up to date there.
function noted(text, fixed) {
  const isNoted = /[\t|](Head|Rel|NotHead|NotRel)=[^\t\n]*$/m.test(text);
  return { text: isNoted ? withConstraints(text, fixed) : text, fixed };
}

// An arc as the person says: in a tree of the file, only that; in one of the parser, with all that follows from it.
function setArc(word, head, label) {
  const what = `${view().words[word - 1].form}: another arc`;
  const direct = () => {
    const own = label ?? labelFor(word, head);
    const text = format(withArc(view(), word, head, own));
    changeSentence(noted(text, require(current().fixed, word, head, own)), what);
  };
  if (current().parsed) reparse(require(fixedNow(), word, head, label), what, { instead: direct });
  else direct();
}

// The label of an arc to another head: "root" or what it was; for what was the root, the parser's.
function labelFor(word, head) {
  const { label, head: before } = view().arcs[word - 1];
  if (head === 0) return "root";
  if (before !== 0 && label !== "_") return label;
  return opinionOf(current())?.trees.map((tree) => tree.arcs[word - 1]).find((arc) => arc.head !== 0)?.label ?? "dep";
}

export function chooseTree(i) {
  const { trees } = opinionOf(current()) ?? { trees: [] };
  if (!trees[i] || page.pending) return;
  const different = wordsThatDiffer(trees.slice(0, i + 1).map((tree) => tree.arcs), view().arcs);
  const fixed = different.reduce((all, word) => require(all, word, trees[i].arcs[word - 1].head, trees[i].arcs[word - 1].label), current().fixed);
  const next = { ...current(), ...noted(withTree(current().text, trees[i].conllu, {}), fixed), parsed: true };
  if (next.text === current().text) return;
  remember(next, opinionOf(current()));
  changeSentence(next, `tree ${i + 1} of the parser`);
}

// The words whose arcs are not the same in all of these trees and the one that is shown: with their arcs, the last of the trees is
// the best there is.
function wordsThatDiffer(trees, shown) {
  const words = shown.map((_, i) => i + 1);
  return words.filter((word) => new Set([...trees, shown].map((arcs) => JSON.stringify([arcs[word - 1].head, arcs[word - 1].label]))).size > 1);
}

export const actions = {
  keep: (word) => {
    const { head, label } = view().arcs[word - 1];
    if (head === null) return;
    const fixed = require(fixedNow(), word, head, label);
    const what = `${view().words[word - 1].form}: arc kept`;
    const direct = () => changeSentence(noted(current().text, fixed), what);
    if (current().parsed) reparse(fixed, what, { instead: direct });
    else direct();
  },
  forbid: (word) => {
    const { head } = view().arcs[word - 1];
    if (head === null) return;
    const fixed = forbid(fixedNow(), word, head);
    const others = current().parsed ? fixed : requireAllBut(fixed, view().arcs, word);
    reparse(fixed, `${view().words[word - 1].form}: arc forbidden`, { others });
  },
  relabel: (word, label) => setArc(word, view().arcs[word - 1].head ?? 0, label),
  head: (word, head, label) => setArc(word, head, label),
  letGo: (word) => {
    if (fixedNow()[word]) takeBack(letGo(fixedNow(), word));
  },
  ask: (word, isExtra = false) => {
    Object.assign(page, { asking: word, isAskingExtra: isExtra });
    render();
  },
};

export function takeBack(fixed) {
  if (current().parsed) reparse(fixed, "constraint removed");
  else changeSentence(noted(current().text, fixed), "constraint removed");
}

export function answerHead(head) {
  const word = page.asking;
  page.asking = null;
  select(word);
  if (head === word) render();
  else if (page.isAskingExtra) addHead(word, String(head));
  else actions.head(word, head);
}
