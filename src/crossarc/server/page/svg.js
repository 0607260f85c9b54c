// What all drawings of trees are made of: elements of SVG, their measures, and what they say of words and arcs.

import { colourOf, percent } from "./probability.js";
import { isRightToLeft } from "./script.js";
import { nameOf } from "./sentences.js";

const SVG = "http://www.w3.org/2000/svg";
const FAMILY = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
export const FORM = `16px ${FAMILY}`;
export const TAG = `10.5px ${FAMILY}`;
export const NODE = `italic 13px ${FAMILY}`;
export const LABEL = `12px ${FAMILY}`;
export const SHARE = `600 10.5px ${FAMILY}`;

export function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function textElement(content, attributes) {
  const made = element("text", attributes);
  made.textContent = content;
  return made;
}

const canvas = document.createElement("canvas").getContext("2d");

export function measure(text, font) {
  canvas.font = font;
  return canvas.measureText(text).width;
}

// An empty drawing of that size, with the zone at its top that stands for the root.
export function emptyDrawing(view, size, zone) {
  const svg = element("svg", { class: "tree", ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "group" });
  svg.setAttribute("aria-label", `Tree of: ${view.text}`);
  svg.append(element("rect", { class: "ground", ...size }));
  svg.append(element("rect", { class: "root-zone", width: size.width, height: zone, "data-word": 0 }));
  const isMirrored = isRightToLeft(view.text);
  svg.append(textElement("the root", { class: isMirrored ? "end" : "start", x: isMirrored ? size.width - 10 : 10, y: zone - 10 }));
  return svg;
}

// Under a constraint, the parser's own arc is certain: there is nothing to say.
export function shareOf(arc, constraint, isParsed) {
  if (arc.labelled === null || (isParsed && constraint?.head !== undefined)) return "";
  return percent(arc.labelled);
}

export function marksOf(arc, { fixed, isParsed, selected, changed }) {
  const isKept = fixed[arc.word]?.head === arc.head;
  return [
    isKept ? "kept" : "",
    isKept && isParsed ? "p0" : colourOf(arc.labelled),
    selected === arc.word ? "here" : "",
    changed.has(arc.word) ? "changed" : "",
  ].join(" ");
}

// A word that can be focused, and says all of itself; problems and doubts are its tooltip.
export function wordGroup(view, i, arcs, { fixed, selected }) {
  const of = (some) => (some ?? []).filter((one) => one.word === i).map((one) => one.message);
  const [problems, doubts] = [of(view.problems), of(view.doubts)];
  const remarks = [...problems, ...doubts];
  const group = element("g", {
    class: `word ${selected === i ? "here" : ""} ${problems.length ? "wrong" : doubts.length ? "doubtful" : ""}`,
    "data-word": i,
    role: "button",
    tabindex: (selected ?? 1) === i ? 0 : -1,
    "aria-haspopup": "dialog",
    "aria-label": description(view.words[i - 1], i, arcs[i - 1], view, fixed[i]) + remarks.map((message) => `; ${message}`).join(""),
  });
  if (remarks.length) group.append(tooltip(remarks.join("\n")));
  return group;
}

function tooltip(text) {
  const title = element("title", {});
  title.textContent = text;
  return title;
}

function description(word, i, arc, view, constraint) {
  const head = arc.head === null ? "no head" : `${arc.label} of ${nameOf(view, arc.head)}`;
  const share = arc.labelled === null ? "" : `, ${percent(arc.labelled)}`;
  const said = constraint?.head !== undefined ? ", required" : "";
  return `${word.form}, word ${i} of ${view.words.length}: ${head}${share}${said}`;
}

// The arcs of DEPS that the tree does not have.
export function graphArcs(view) {
  const known = new Set(["0", ...view.words.map((word) => word.id), ...view.nodes.map((node) => node.id)]);
  return [...view.words, ...view.nodes].flatMap((row) =>
    row.deps.split("|").flatMap((arc) => {
      const [, head, label] = /^([^:]*):?(.*)$/.exec(arc);
      if (!known.has(head) || head === row.head || head === row.id) return [];
      return [{ word: row.id, head: head === "0" ? 0 : head, sign: label, kind: "graph" }];
    }),
  );
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
