// Columns that are lists: FEATS and MISC as names and values, DEPS as heads and labels.

import { compareIds } from "./problems.js";

export const KINDS = {
  feats: { sign: "=", names: ["Name", "Value"] },
  misc: { sign: "=", names: ["Name", "Value"] },
  deps: { sign: ":", names: ["Head", "Label"] },
};

// What stands in a column: [[name, value], ...].
export function pairsOf(text, column) {
  if (text === "_") return [];
  return text.split("|").map((item) => {
    const at = item.indexOf(KINDS[column].sign);
    return at < 0 ? [item, ""] : [item.slice(0, at), item.slice(at + 1)];
  });
}

// The column that says this; FEATS in the order that Universal Dependencies wants, DEPS in that of their heads.
export function columnOf(pairs, column) {
  const { sign } = KINDS[column];
  const items = pairs
    .map((pair) => pair.map((part) => part.trim()))
    .filter(([name]) => name)
    .map(([name, value]) => (value || sign === ":" ? name + sign + value : name));
  if (column === "feats") items.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  if (column === "deps") items.sort((a, b) => compareIds(a.split(":")[0], b.split(":")[0]));
  return items.join("|") || "_";
}
