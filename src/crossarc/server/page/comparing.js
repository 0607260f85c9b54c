// Another file of the same sentences, to compare with: two annotators, or what a file was before.

import { viewOf } from "./conllu.js";
import { cut } from "./file.js";
import { sameArc } from "./trees.js";

// The sentence of the other file for each of ours: by sent_id if that is there, otherwise by its place; null if the words are not the same.
// ours: views; content: of the other file. Gives views.
export function aligned(ours, content) {
  const theirs = cut(content).blocks.map((block) => viewOf(block.text));
  const named = new Map(theirs.filter((view) => view.sentId).map((view) => [view.sentId, view]));
  return ours.map((view, i) => {
    const other = (view.sentId && named.get(view.sentId)) ?? (view.sentId && named.size ? null : theirs[i]);
    return other && !other.isBroken && !view.isBroken && formsOf(other) === formsOf(view) ? other : null;
  });
}

// How far two files agree: sentences that differ, and of all words that both have, how many have the same head, and the same label too.
export function agreement(ours, theirs) {
  const found = { sentences: 0, words: 0, heads: 0, arcs: 0 };
  ours.forEach(({ arcs }, i) => {
    if (!theirs[i]) return;
    const heads = arcs.filter((arc, word) => arc.head === theirs[i].arcs[word].head).length;
    const same = arcs.filter((arc, word) => sameArc(arc, theirs[i].arcs[word])).length;
    found.sentences += same < arcs.length;
    found.words += arcs.length;
    found.heads += heads;
    found.arcs += same;
  });
  return found;
}

function formsOf(view) {
  return view.words.map((word) => word.form).join("\t");
}
