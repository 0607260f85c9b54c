// A tree with one word on each line and its arcs at the side: for sentences of any length.

import { layers, spans } from "./layout.js";
import { percent } from "./probability.js";
import { nameOf } from "./sentences.js";
import { FORM, TAG, element, emptyDrawing, graphArcs, marksOf, measure, shareOf, textElement, wordGroup } from "./svg.js";

const ROW = 30; // between two lines
const TOP = 44; // of the first line
const STEP = 13; // between two arcs, if there is room
const SIDE = 320; // for all arcs
const OUT = 6; // from the middle of a line to where arcs go out

// As draw in drawing.js.
export function drawColumn(view, given, marks) {
  const arcs = given.map((arc, i) => ({ ...arc, word: i + 1, share: shareOf(arc, marks.fixed[i + 1], marks.isParsed) }));
  const placed = arcs.filter((arc) => arc.head > 0 && arc.head !== arc.word);
  layers(spans(placed, true)).forEach((layer, i) => {
    placed[i].level = layer;
  });
  const items = rowsOf(view);
  const y = new Map(items.map((row, i) => [row.id, TOP + i * ROW]));
  const deepest = 1 + Math.max(0, ...placed.map((arc) => arc.level));
  const step = Math.min(STEP, SIDE / deepest);
  const x = 18 + step * deepest;
  const wide = (font, of) => Math.max(20, ...items.map((row) => measure(of(row), font)));
  const columns = { form: x + 10, tag: x + 24 + wide(FORM, (row) => row.form), label: x + 40 + wide(FORM, (row) => row.form) + wide(TAG, (row) => row.upos) };
  const svg = emptyDrawing(view, { width: Math.ceil(columns.label + 330), height: TOP + items.length * ROW }, 26);
  const lines = element("g", { "aria-hidden": "true" });
  for (const arc of placed.sort((a, b) => b.level - a.level)) lines.append(arcElement(arc, y, x, step, marks));
  for (const arc of arcs.filter((arc) => arc.head === 0)) lines.append(line(arc, `M6 ${y.get(String(arc.word))}H${x}`, x, y, marks));
  svg.append(lines);
  for (const row of items) svg.append(row.id.includes(".") ? nodeElement(row, y, columns) : wordElement(view, Number(row.id), arcs, y, columns, marks));
  for (const arc of arcs) if (arc.head !== null) svg.append(labelElement(arc, y, columns, marks));
  for (const remark of remarks(view, marks)) svg.append(remarkElement(remark, view, arcs, y, columns));
  return svg;
}

// Words, with empty nodes among them.
function rowsOf({ rows }) {
  return rows.filter((row) => !row.id.includes("-"));
}

function arcElement(arc, y, x, step, marks) {
  const [from, to] = [y.get(String(arc.head)), y.get(String(arc.word))];
  const side = x - step * arc.level;
  const out = from + (to > from ? OUT : -OUT);
  return line(arc, `M${x} ${out}H${side}V${to}H${x}`, x, y, marks);
}

function line(arc, path, x, y, marks) {
  const group = element("g", { class: `arc ${marksOf(arc, marks)}`, "data-arc": arc.word });
  group.append(
    element("path", { class: "halo", d: path }),
    element("path", { class: "line", d: path }),
    element("path", { class: "head", d: `M${x + 1} ${y.get(String(arc.word))}l-8 -3.6v7.2z` }),
    element("path", { class: "grip", d: path }),
  );
  return group;
}

function wordElement(view, i, arcs, y, columns, marks) {
  const { form, upos } = view.words[i - 1];
  const at = y.get(String(i));
  const group = wordGroup(view, i, arcs, marks);
  group.append(
    element("rect", { class: "field", x: columns.form - 6, y: at - 14, width: columns.label - columns.form, height: 28 }),
    textElement(form, { class: "form start", x: columns.form, y: at + 5 }),
    textElement(upos === "_" ? "" : upos, { class: "tag start", x: columns.tag, y: at + 4 }),
  );
  return group;
}

function nodeElement({ id, form, upos }, y, columns) {
  const group = element("g", { class: "node", "data-node": id, role: "button", tabindex: -1, "aria-label": `empty node ${id} ${form}` });
  group.append(
    element("rect", { class: "field", x: columns.form - 6, y: y.get(id) - 13, width: columns.label - columns.form, height: 26 }),
    textElement(form === "_" ? id : form, { class: "form start", x: columns.form, y: y.get(id) + 5 }),
    textElement(upos === "_" ? id : upos, { class: "tag start", x: columns.tag, y: y.get(id) + 4 }),
  );
  return group;
}

function labelElement(arc, y, columns, marks) {
  const at = y.get(String(arc.word));
  const group = element("g", { class: `label ${marksOf(arc, marks)}`, "data-arc": arc.word });
  const text = textElement(arc.label, { class: "start", x: columns.label + 4, y: at + 4 });
  const share = element("tspan", { class: "share", dx: 5 });
  share.textContent = arc.share;
  text.append(share);
  group.append(element("rect", { class: "plate", x: columns.label, y: at - 10, width: widthOf(arc), height: 20, rx: 5 }), text);
  return group;
}

const widthOf = (arc) => 14 + measure(arc.label + arc.share, FORM) * 0.82;

// What is said of a word beside its arc: tokens, other heads of the graph, what is forbidden or suggested.
function remarks(view, { fixed, suggested }) {
  return [
    ...view.tokens.map(({ first, last, form }) => ({ word: first, kind: "token", text: `${first}–${last} ${form}` })),
    ...graphArcs(view).map(({ word, head, sign }) => ({ word, kind: "graph", text: `+ ${sign} of ${nodeName(view, head)}` })),
    ...Object.entries(fixed).flatMap(([word, { notHeads }]) => notHeads.map((head) => ({ word, kind: "forbidden", text: `✕ ${nodeName(view, head)}` }))),
    ...suggested.map(({ word, head, label, labelled }) => ({ word, kind: "suggested", text: `${label} of ${nodeName(view, head)}${labelled === null ? "" : ` ${percent(labelled)}`}?` })),
  ];
}

function nodeName(view, head) {
  return String(head).includes(".") ? head : nameOf(view, Number(head));
}

function remarkElement({ word, kind, text }, view, arcs, y, columns) {
  const arc = arcs[Number(word) - 1];
  const x = columns.label + (arc && arc.head !== null ? widthOf(arc) + 10 : 4);
  const group = element("g", { class: kind, "aria-hidden": "true", ...(kind === "suggested" ? { "data-suggested": word } : {}) });
  group.append(textElement(text, { class: `start ${kind}`, x, y: y.get(String(word)) + 4 }));
  return group;
}
