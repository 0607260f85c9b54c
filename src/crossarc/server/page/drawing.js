// A tree as SVG: arcs above the words, what is forbidden below them.

import { LEVEL, layout, pathOf } from "./layout.js";
import { nameOf } from "./sentences.js";

const SVG = "http://www.w3.org/2000/svg";
const FAMILY = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const FORM = `16px ${FAMILY}`;
const TAG = `10.5px ${FAMILY}`;
const LABEL = `12px ${FAMILY}`;
const SHARE = `600 10.5px ${FAMILY}`;
const TOP = 12;
const UNDER = 16; // between two forbidden arcs

export const BINS = [
  { name: "p1", from: 0, text: "under 50 %" },
  { name: "p2", from: 0.5, text: "50–75 %" },
  { name: "p3", from: 0.75, text: "75–90 %" },
  { name: "p4", from: 0.9, text: "90–98 %" },
  { name: "p5", from: 0.98, text: "98 % and more" },
];

export function colourOf(probability) {
  if (probability === null) return "p0";
  return BINS.findLast((bin) => probability >= bin.from).name;
}

// Rounded down, so that only what is certain is 100 %.
export function percent(probability) {
  if (probability < 0.01) return "<1%";
  return `${Math.floor(probability * 100 + 1e-9)}%`;
}

// sentence and tree as the service gives them; constraints as in history.js; selected: a word or null; changed: a set of words.
export function draw(sentence, tree, { constraints, selected, changed }) {
  const words = sentence.words.map((word) => 12 + Math.max(measure(word.form, FORM), measure(word.upos, TAG)));
  const arcs = tree.arcs.map((arc, i) => ({ ...arc, word: i + 1, share: shareOf(arc, constraints[i + 1]) }));
  for (const arc of arcs) arc.width = 10 + measure(arc.label, LABEL) + (arc.share ? 4 + measure(arc.share, SHARE) : 0);
  const plan = layout(words, arcs.filter((arc) => arc.head !== null));
  const forbidden = Object.entries(constraints).flatMap(([word, constraint]) =>
    constraint.notHeads.map((head) => ({ word: Number(word), head })),
  );

  const base = TOP + 10 + plan.levels * LEVEL + 14;
  const bottom = base + 40 + (sentence.tokens.length ? 22 : 0);
  const size = { width: Math.ceil(plan.width), height: bottom + 8 + (forbidden.length ? 8 + forbidden.length * UNDER : 0) };
  const svg = element("svg", { class: "tree", ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "group" });
  svg.setAttribute("aria-label", `Tree of: ${sentence.text}`);
  svg.append(element("rect", { class: "ground", ...size }));
  svg.append(element("rect", { class: "root-zone", width: size.width, height: TOP + 20, "data-word": 0 }));
  svg.append(textElement("the root", { x: size.width / 2, y: TOP + 6 }));

  const lines = element("g", { "aria-hidden": "true" });
  const labels = element("g", { "aria-hidden": "true" });
  for (const arc of [...plan.arcs.values()].sort((a, b) => a.level - b.level)) {
    const marks = { constraints, selected, changed };
    const height = TOP + 10 + (plan.levels - arc.level) * LEVEL;
    lines.append(arcElement(arc, height, base, marks));
    labels.append(labelElement(arc, height, marks));
  }
  svg.append(lines, labels);
  sentence.words.forEach((word, i) => svg.append(wordElement(word, i + 1, arcs, plan, words, base, sentence, { constraints, selected })));
  for (const token of sentence.tokens) svg.append(tokenElement(token, plan, words, base));
  forbidden.forEach((arc, i) => svg.append(forbiddenElement(arc, plan, bottom, bottom + 8 + (i + 1) * UNDER)));
  return svg;
}

// A file of its own: the drawing with its styles.
export async function standalone(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  for (const extra of copy.querySelectorAll(".root-zone, .root-zone + text, .grip, .field, .thread")) extra.remove();
  for (const word of copy.querySelectorAll("[tabindex]")) {
    for (const name of ["tabindex", "role", "aria-haspopup"]) word.removeAttribute(name);
  }
  copy.setAttribute("role", "img");
  const style = element("style", {});
  style.textContent = await (await fetch("page/drawing.css")).text();
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
}

function shareOf(arc, constraint) {
  if (arc.probability === null || constraint?.head !== undefined) return "";
  return percent(arc.probability);
}

function marksOf(arc, { constraints, selected, changed }) {
  return [
    constraints[arc.word]?.head === arc.head ? "kept p0" : colourOf(arc.probability),
    selected === arc.word ? "here" : "",
    changed.has(arc.word) ? "changed" : "",
  ].join(" ");
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

function wordElement(word, i, arcs, plan, widths, base, sentence, { constraints, selected }) {
  const x = plan.x[i];
  const group = element("g", {
    class: `word ${selected === i ? "here" : ""}`,
    "data-word": i,
    role: "button",
    tabindex: (selected ?? 1) === i ? 0 : -1,
    "aria-haspopup": "dialog",
    "aria-label": description(word, i, arcs[i - 1], sentence, constraints[i]),
  });
  const half = widths[i - 1] / 2;
  group.append(
    element("rect", { class: "field", x: x - half, y: base + 2, width: 2 * half, height: 38 }),
    textElement(word.form, { class: "form", x, y: base + 19 }),
    textElement(word.upos === "_" ? "" : word.upos, { class: "tag", x, y: base + 34 }),
  );
  return group;
}

function description(word, i, arc, sentence, constraint) {
  const head = arc.head === null ? "no head" : `${arc.label} of ${nameOf(sentence, arc.head)}`;
  const share = arc.probability === null ? "" : `, ${percent(arc.probability)}`;
  const said = constraint?.head !== undefined ? ", required" : "";
  return `${word.form}, word ${i} of ${sentence.words.length}: ${head}${share}${said}`;
}

// A line under words that are written as one.
function tokenElement(token, plan, widths, base) {
  const from = plan.x[token.first] - widths[token.first - 1] / 2 + 4;
  const to = plan.x[token.last] + widths[token.last - 1] / 2 - 4;
  const group = element("g", { "aria-hidden": "true" });
  group.append(
    element("path", { class: "bracket", d: `M${from} ${base + 41}v4H${to}v-4` }),
    textElement(token.form, { class: "token", x: (from + to) / 2, y: base + 57 }),
  );
  return group;
}

function forbiddenElement(arc, plan, base, depth) {
  const to = plan.x[arc.word];
  const from = arc.head === 0 ? to - 40 : plan.x[arc.head];
  const group = element("g", { class: "forbidden", "aria-hidden": "true" });
  group.append(
    element("path", { d: pathOf({ head: 1, from, to }, depth, base) }),
    textElement(arc.head === 0 ? "✕ root" : "✕", { x: (from + to) / 2, y: depth + 4.5 }),
  );
  return group;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function textElement(content, attributes) {
  const made = element("text", attributes);
  made.textContent = content;
  return made;
}

const canvas = document.createElement("canvas").getContext("2d");

function measure(text, font) {
  canvas.font = font;
  return canvas.measureText(text).width;
}
