// A tree as SVG: arcs above the words, below them empty nodes, other arcs of the graph, and what is forbidden or suggested.

import { LEVEL, layout, mirrored, pathOf } from "./layout.js";
import { percent } from "./probability.js";
import { isRightToLeft } from "./script.js";
import { FORM, LABEL, NODE, SHARE, TAG, element, emptyDrawing, graphArcs, marksOf, measure, shareOf, textElement, wordGroup } from "./svg.js";

const TOP = 12;
const UNDER = 16; // between two forbidden arcs

// view: as in conllu.js; arcs: with what the parser thinks of them (opinions.js); marks: {fixed, isParsed, selected, changed: a set
// of words, suggested: [{word, head, label, labelled}]}
export function draw(view, given, marks) {
  const { fixed, suggested } = marks;
  const words = view.words.map((word) => 12 + Math.max(measure(word.form, FORM), measure(word.upos, TAG)));
  const arcs = given.map((arc, i) => ({ ...arc, word: i + 1, share: shareOf(arc, fixed[i + 1], marks.isParsed) }));
  for (const arc of arcs) arc.width = 10 + measure(arc.label, LABEL) + (arc.share ? 4 + measure(arc.share, SHARE) : 0);
  const found = layout(words, arcs.filter((arc) => arc.head !== null && arc.head !== arc.word));
  const plan = isRightToLeft(view.text) ? mirrored(found) : found;
  const nodes = nodePlaces(view, plan);
  const under = [
    ...graphArcs(view),
    ...Object.entries(fixed).flatMap(([word, { notHeads }]) => notHeads.map((head) => ({ word: Number(word), head, sign: "✕", kind: "forbidden" }))),
    ...suggested.map((arc) => ({ ...arc, sign: `${arc.label}${arc.labelled === null ? "" : ` ${percent(arc.labelled)}`}?`, kind: "suggested" })),
  ];

  const base = TOP + 10 + plan.levels * LEVEL + 14;
  const bottom = base + 40 + (view.tokens.length ? 22 : 0);
  const deep = bottom + (nodes.size ? 38 : 0);
  const width = Math.max(plan.width, ...view.nodes.map((node) => nodes.get(node.id) + halfOf(node) + 22));
  const size = { width: Math.ceil(width), height: deep + 8 + (under.length ? 8 + under.length * UNDER : 0) };
  const svg = emptyDrawing(view, size, TOP + 20);
  const lines = element("g", { "aria-hidden": "true" });
  const labels = element("g", { "aria-hidden": "true" });
  for (const arc of [...plan.arcs.values()].sort((a, b) => a.level - b.level)) {
    const height = TOP + 10 + (plan.levels - arc.level) * LEVEL;
    lines.append(arcElement(arc, height, base, marks));
    labels.append(labelElement(arc, height, marks));
  }
  svg.append(lines, labels);
  view.words.forEach((_, i) => svg.append(wordElement(view, i + 1, arcs, plan, words, base, marks)));
  for (const token of view.tokens) svg.append(tokenElement(token, plan, words, base));
  const ends = new Map([...view.words.map((word, i) => [word.id, { x: plan.x[i + 1], y: bottom }]), ...[...nodes].map(([id, x]) => [id, { x, y: deep }])]);
  under.forEach((arc, i) => svg.append(underElement(arc, ends, deep + 8 + (i + 1) * UNDER)));
  for (const node of view.nodes) svg.append(nodeElement(node, nodes.get(node.id), bottom));
  return svg;
}

function arcElement(arc, height, base, marks) {
  const path = pathOf(arc, height, base);
  const group = element("g", { class: `arc ${marksOf(arc, marks)}`, "data-arc": arc.word });
  group.append(
    element("path", { class: "halo", d: path }),
    element("path", { class: "line", d: path }),
    element("path", { class: "head", d: `M${arc.to} ${base + 1}l-3.6 -8h7.2z` }),
    element("path", { class: "grip", d: path }),
  );
  return group;
}

function labelElement(arc, height, marks) {
  const group = element("g", { class: `label ${marksOf(arc, marks)}`, "data-arc": arc.word });
  const plate = { x: arc.at - arc.width / 2 + 1, y: height - 9, width: arc.width - 2, height: 18, rx: 5 };
  const text = textElement(arc.label, { x: arc.at, y: height + 4 });
  if (arc.share) {
    const share = element("tspan", { class: "share", dx: 4 });
    share.textContent = arc.share;
    text.append(share);
  }
  group.append(element("rect", { class: "plate", ...plate }), text);
  return group;
}

function wordElement(view, i, arcs, plan, widths, base, marks) {
  const word = view.words[i - 1];
  const x = plan.x[i];
  const half = widths[i - 1] / 2;
  const group = wordGroup(view, i, arcs, marks);
  group.append(
    element("rect", { class: "field", x: x - half, y: base + 2, width: 2 * half, height: 38 }),
    textElement(word.form, { class: "form", x, y: base + 19 }),
    textElement(word.upos === "_" ? "" : word.upos, { class: "tag", x, y: base + 34 }),
  );
  return group;
}

// A line under words that are written as one.
function tokenElement(token, plan, widths, base) {
  const [left, right] = [token.first, token.last].sort((a, b) => plan.x[a] - plan.x[b]);
  const from = plan.x[left] - widths[left - 1] / 2 + 4;
  const to = plan.x[right] + widths[right - 1] / 2 - 4;
  const group = element("g", { "aria-hidden": "true" });
  group.append(
    element("path", { class: "bracket", d: `M${from} ${base + 41}v4H${to}v-4` }),
    textElement(token.form, { class: "token", x: (from + to) / 2, y: base + 57 }),
  );
  return group;
}

// An arc below the words: of the graph, one that is forbidden, or one that the parser suggests.
function underElement({ word, head, sign, kind }, ends, depth) {
  const to = ends.get(String(word));
  const from = head === 0 ? { x: to.x - 40, y: depth } : ends.get(String(head));
  const group = element("g", { class: kind, "aria-hidden": "true", ...(kind === "suggested" ? { "data-suggested": word } : {}) });
  group.append(
    element("path", { d: `M${from.x} ${from.y}V${depth}H${to.x}V${to.y}` }),
    element("path", { class: "tip", d: `M${to.x} ${to.y}l-3 7h6z` }),
    textElement(head === 0 ? `${sign} root` : sign, { x: (from.x + to.x) / 2, y: depth + 4.5 }),
  );
  return group;
}

// Where empty nodes stand: below the words, after theirs, one beside the other.
function nodePlaces(view, plan) {
  const places = new Map();
  const way = Math.sign((plan.x[2] ?? Infinity) - plan.x[1]); // of the text
  view.nodes.forEach((node, i) => {
    const [after, count] = node.id.split(".").map(Number);
    const [before, next] = [after === 0 ? plan.x[1] - way * 30 : plan.x[after], plan.x[after + 1] ?? plan.x[after] + way * 60];
    const previous = view.nodes[i - 1];
    const x = count === 1 ? (before + next) / 2 : places.get(previous.id) + way * (halfOf(previous) + halfOf(node) + 4);
    places.set(node.id, Math.max(halfOf(node) + 4, x));
  });
  return places;
}

// Half the width of an empty node.
function halfOf({ id, form }) {
  return Math.max(18, 6 + measure(form === "_" ? id : form, NODE) / 2);
}

function nodeElement({ id, form, upos }, x, top) {
  const half = halfOf({ id, form });
  const group = element("g", { class: "node", "data-node": id, role: "button", tabindex: -1, "aria-label": `empty node ${id} ${form}` });
  group.append(
    element("rect", { class: "field", x: x - half, y: top + 2, width: 2 * half, height: 34 }),
    textElement(form === "_" ? id : form, { class: "form", x, y: top + 18 }),
    textElement(upos === "_" ? id : upos, { class: "tag", x, y: top + 31 }),
  );
  return group;
}
