// A tree with one word on each line and its arcs at the side: for sentences of any length.

import { layers, spans } from "./layout.js";
import { percent } from "./probability.js";
import { isRightToLeft } from "./script.js";
import { nameOf } from "./sentences.js";
import { FORM, TAG, element, emptyDrawing, graphArcs, marksOf, measure, shareOf, textElement, wordGroup } from "./svg.js";

const ROW = 30; // between two lines
const TOP = 44; // of the first line
const STEP = 13; // between two arcs, if there is room
const SIDE = [90, 320]; // for all arcs: at least, and at most
const NARROW = 600; // of a page
const OUT = 6; // from the middle of a line to where arcs go out

// As draw in drawing.js. room: how wide the page is; arcs take a third of it.
export function drawColumn(view, given, marks, room) {
  const arcs = given.map((arc, i) => ({ ...arc, word: i + 1, share: shareOf(arc, marks.fixed[i + 1], marks.isParsed) }));
  const placed = arcs.filter((arc) => arc.head > 0 && arc.head !== arc.word);
  layers(spans(placed, true)).forEach((layer, i) => {
    placed[i].level = layer;
  });
  const plan = planOf(view, placed, room);
  const svg = emptyDrawing(view, { width: plan.width, height: plan.height }, 26);
  const lines = element("g", { "aria-hidden": "true" });
  for (const arc of placed.sort((a, b) => b.level - a.level)) lines.append(arcElement(arc, plan, marks));
  for (const arc of arcs.filter((arc) => arc.head === 0)) lines.append(line(arc, `M${plan.at(6)} ${plan.y(arc.word)}H${plan.at(plan.x)}`, plan, marks));
  svg.append(lines);
  for (const row of rowsOf(view)) svg.append(row.id.includes(".") ? nodeElement(row, plan) : wordElement(view, Number(row.id), arcs, plan, marks));
  for (const arc of arcs) if (arc.head !== null) svg.append(labelElement(arc, plan, marks));
  for (const remark of remarks(view, marks)) svg.append(remarkElement(remark, arcs, plan));
  return svg;
}

// Where lines and columns are: as if from left to right; at(x) is where that is in the drawing.
function planOf(view, placed, room) {
  const rows = rowsOf(view);
  const lines = new Map(rows.map((row, i) => [row.id, TOP + i * ROW]));
  const deepest = 1 + Math.max(0, ...placed.map((arc) => arc.level));
  const step = Math.min(STEP, Math.max(SIDE[0], Math.min(SIDE[1], room / 3)) / deepest);
  const x = Math.ceil(18 + step * deepest);
  const widths = rows.map((row) => [measure(row.form, FORM), measure(row.upos, TAG)]);
  const widest = [0, 1].map((i) => Math.max(20, ...widths.map((both) => both[i])));
  // On a narrow page labels stand right behind their words, so that they are in sight.
  const columns = new Map(rows.map((row, i) => [row.id, columnsFrom(x + 10, ...(room < NARROW ? widths[i] : widest))]));
  const width = Math.ceil(columnsFrom(x + 10, ...widest).label + 330);
  const isMirrored = isRightToLeft(view.text);
  return {
    x,
    step,
    columns: (id) => columns.get(String(id)),
    width,
    height: TOP + rows.length * ROW,
    y: (id) => lines.get(String(id)),
    at: (place) => (isMirrored ? width - place : place),
    box: (place, wide) => ({ x: isMirrored ? width - place - wide : place, width: wide }),
    start: isMirrored ? "end" : "start", // where texts are anchored
    arrow: isMirrored ? 8 : -8,
  };
}

// Words, with empty nodes among them.
function rowsOf({ rows }) {
  return rows.filter((row) => !row.id.includes("-"));
}

function columnsFrom(form, wide, wideTag) {
  return { form, tag: form + 14 + wide, label: form + 30 + wide + wideTag };
}

function arcElement(arc, plan, marks) {
  const [from, to] = [plan.y(arc.head), plan.y(arc.word)];
  const out = from + (to > from ? OUT : -OUT);
  const [x, side] = [plan.at(plan.x), plan.at(plan.x - plan.step * arc.level)];
  return line(arc, `M${x} ${out}H${side}V${to}H${x}`, plan, marks);
}

function line(arc, path, plan, marks) {
  const group = element("g", { class: `arc ${marksOf(arc, marks)}`, "data-arc": arc.word });
  group.append(
    element("path", { class: "halo", d: path }),
    element("path", { class: "line", d: path }),
    element("path", { class: "head", d: `M${plan.at(plan.x + 1)} ${plan.y(arc.word)}l${plan.arrow} -3.6v7.2z` }),
    element("path", { class: "grip", d: path }),
  );
  return group;
}

function wordElement(view, i, arcs, plan, marks) {
  const { form, upos } = view.words[i - 1];
  const group = wordGroup(view, i, arcs, marks);
  group.append(...row(form, upos === "_" ? "" : upos, i, 28, plan));
  return group;
}

function nodeElement({ id, form, upos }, plan) {
  const group = element("g", { class: "node", "data-node": id, role: "button", tabindex: -1, "aria-label": `empty node ${id} ${form}` });
  group.append(...row(form === "_" ? id : form, upos === "_" ? id : upos, id, 26, plan));
  return group;
}

// A form and its tag in their columns.
function row(form, tag, id, height, { columns, y, at, box, start }) {
  const places = columns(id);
  return [
    element("rect", { class: "field", ...box(places.form - 6, places.label - places.form), y: y(id) - height / 2, height }),
    textElement(form, { class: `form ${start}`, x: at(places.form), y: y(id) + 5 }),
    textElement(tag, { class: `tag ${start}`, x: at(places.tag), y: y(id) + 4 }),
  ];
}

function labelElement(arc, { columns, y, at, box, start }, marks) {
  const group = element("g", { class: `label ${marksOf(arc, marks)}`, "data-arc": arc.word });
  const { label } = columns(arc.word);
  const text = textElement(arc.label, { class: start, x: at(label + 4), y: y(arc.word) + 4 });
  const share = element("tspan", { class: "share", dx: 5 });
  share.textContent = arc.share;
  text.append(share);
  group.append(element("rect", { class: "plate", ...box(label, widthOf(arc)), y: y(arc.word) - 10, height: 20, rx: 5 }), text);
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

function remarkElement({ word, kind, text }, arcs, { columns, y, at, start }) {
  const arc = arcs[Number(word) - 1];
  const x = columns(word).label + (arc && arc.head !== null ? widthOf(arc) + 10 : 4);
  const group = element("g", { class: kind, "aria-hidden": "true", ...(kind === "suggested" ? { "data-suggested": word } : {}) });
  group.append(textElement(text, { class: `${start} ${kind}`, x: at(x), y: y(word) + 4 }));
  return group;
}
