// Constraints in the MISC column of CoNLL-U, as crossarc parse --constraints misc reads them:
// Head=3, Rel=nsubj, NotHead=5,6 and NotRel=obj.

import { FREE } from "./constraints.js";

const WORD = /^([1-9][0-9]*)\t(?:[^\t\n]*\t){8}[^\t\n]*$/gm;
const CONSTRAINT = /^(Head|Rel|NotHead|NotRel)=(.+)$/;

// A sentence of CoNLL-U with these constraints in MISC.
export function withConstraints(conllu, constraints) {
  return withMisc(conllu, (word) => (constraints[word] ? itemsOf(constraints[word]) : []));
}

// Those of a sentence: {word: {head, label, notHeads, notLabels}}.
export function constraintsIn(block) {
  const constraints = {};
  for (const [line, word] of block.matchAll(WORD)) {
    const items = miscOf(line).map((item) => CONSTRAINT.exec(item)).filter((item) => item);
    if (items.length) constraints[word] = items.reduce(withItem, FREE);
  }
  return constraints;
}

function withItem(constraint, [, name, value]) {
  if (name === "Head") return { ...constraint, head: Number(value) };
  if (name === "Rel") return { ...constraint, label: value };
  const values = value.split(",");
  if (name === "NotHead") return { ...constraint, notHeads: [...constraint.notHeads, ...values.map(Number)] };
  return { ...constraint, notLabels: [...constraint.notLabels, ...values] };
}

function itemsOf({ head, label, notHeads, notLabels }) {
  const items = [];
  if (head !== undefined) items.push(`Head=${head}`);
  if (label !== undefined) items.push(`Rel=${label}`);
  if (notHeads.length) items.push(`NotHead=${notHeads.join(",")}`);
  if (notLabels.length) items.push(`NotRel=${notLabels.join(",")}`);
  return items;
}

function withMisc(text, itemsFor) {
  return text.replace(WORD, (line, word) => {
    const items = [...miscOf(line).filter((item) => !CONSTRAINT.test(item)), ...itemsFor(word)];
    return line.slice(0, line.lastIndexOf("\t") + 1) + (items.join("|") || "_");
  });
}

function miscOf(line) {
  const misc = line.slice(line.lastIndexOf("\t") + 1);
  return misc === "_" ? [] : misc.split("|");
}
