// What can be told of sentences.

import { isRightToLeft } from "./script.js";

// The word, with its place if there is another one like it.
export function nameOf(view, word) {
  if (word === 0) return "the root";
  const form = isolated(view.words[word - 1].form);
  return view.words.filter((other) => other.form === view.words[word - 1].form).length > 1 ? `${form} (${word})` : form;
}

// A name that is written from right to left does not turn what stands around it.
function isolated(form) {
  return isRightToLeft(form) ? `\u2068${form}\u2069` : form;
}

const MENTIONED = 3; // differences of a tree

// The k best trees, each by what it has other than the one that is shown (null: there is none) or, if that says less, than a better one: "like
// 1, but telescope ← saw".
export function descriptions(view, shown, trees) {
  return trees.map((tree, i) => {
    const others = trees.slice(0, i).map((other, j) => ({ prefix: `like ${j + 1}, but `, found: differences(view, other, tree) }));
    if (shown) others.unshift({ prefix: "", found: differences(view, shown, tree) });
    if (!others.length) return "";
    const { prefix, found } = others.reduce((a, b) => (b.found.length < a.found.length ? b : a));
    if (!found.length) return "as shown";
    return prefix + found.slice(0, MENTIONED).join(", ") + (found.length > MENTIONED ? ` and ${found.length - MENTIONED} more` : "");
  });
}

// What the second tree has other than the first: "telescope ← saw" for another head, "telescope: obl" for another label.
export function differences(view, first, second) {
  return second.flatMap((arc, i) => {
    const word = nameOf(view, i + 1);
    if (arc.head !== first[i].head) return [`${word} ← ${nameOf(view, arc.head)}`];
    return arc.label === first[i].label ? [] : [`${word}: ${arc.label}`];
  });
}
