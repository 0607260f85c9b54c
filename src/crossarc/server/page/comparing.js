// Another file of the same sentences, to compare with: two annotators, or what a file was before.

import { viewOf } from "./conllu.js";
import { cut } from "./file.js";

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

function formsOf(view) {
  return view.words.map((word) => word.form).join("\t");
}
