// The open sentence: its text, its drawing, what the parser thinks of it, what was said of it.

import { allowHead, allowLabel, letGo } from "./constraints.js";
import { hasNoArc } from "./conllu.js";
import { drawColumn } from "./column.js";
import { agreement } from "./comparing.js";
import { doubtsOf } from "./doubts.js";
import { draw } from "./drawing.js";
import { UPOS, inventory } from "./inventory.js";
import { beside, listed } from "./list.js";
import { byId, setField } from "./messages.js";
import { arcsWithOpinion, opinionOf } from "./opinions.js";
import { BINS, percent } from "./probability.js";
import { renderPairs } from "./pairs.js";
import { renderProgress } from "./progress.js";
import { descriptions, nameOf } from "./sentences.js";
import { current, model, page, sentences, view } from "./state.js";
import { renderTable } from "./table.js";
import { sameArc } from "./trees.js";

const TAP = matchMedia("(pointer: coarse)").matches ? "tap" : "click";
const HINT = `Drag a word to its head, or ${TAP} an arc or a word.`;

const LONG = 40; // words of a sentence that has one on each line

let doing; // what the buttons of the workspace do

// takeBack(constraints without it), chooseTree(i), fixed(): what is said of the sentence, judge(): ask the parser
export function listenToWorkspace(page) {
  doing = page;
}

export function showOpinion() {
  doing.judge();
}

export function render() {
  const sentence = current();
  if (!sentence) return;
  if (page.selected > view().words.length) page.selected = view().words.length || null;
  renderHeading(sentence);
  renderDrawing(sentence);
  renderTrees(sentence);
  renderCorrections(sentence);
  renderPlace();
  renderTable();
  renderPairs();
  renderProgress();
  renderHint();
  renderStructure();
}

// Buttons for words are there when a word is selected.
function renderStructure() {
  byId("structure-of").textContent = page.selected === null ? "No word is selected" : `Word: ${nameOf(view(), page.selected)}`;
  for (const button of byId("structure").querySelectorAll("[data-edit]")) button.disabled = page.selected === null && button.dataset.edit !== "joinSentences";
}

function renderHint() {
  const hints = byId("hints");
  hints.hidden = view().isBroken;
  hints.classList.toggle("asking", page.asking !== null);
  byId("cancel-asking").hidden = page.asking === null;
  byId("hint").textContent = page.asking
    ? `Which word is ${page.isAskingExtra ? "another" : "the"} head of “${nameOf(view(), page.asking)}”? ${TAP === "tap" ? "Tap" : "Click"} it, or the root at the top.`
    : HINT;
}

function renderHeading(sentence) {
  const { text, sentId, problems, isBroken } = view(sentence);
  byId("sentence-text").textContent = text;
  byId("sentence-id").textContent = sentId ?? "";
  byId("whose").hidden = !sentence.parsed;
  byId("reparse").textContent = sentence.parsed ? "Parse again" : hasNoArc(view(sentence)) ? "Parse this sentence" : "Replace with the parser’s tree";
  byId("reparse").disabled = isBroken || !page.model;
  const doubts = isBroken ? [] : doubtsOf(view(sentence).words, inventory(), { deprel: model()?.labels ?? [], upos: UPOS });
  view(sentence).doubts = doubts;
  byId("suggest-text").textContent = `show where ${page.compared?.name ?? "the parser"} disagrees`;
  renderComparison();
  byId("problems").replaceChildren(...problems.map(problemItem));
  byId("as-doubts").hidden = !doubts.length;
  byId("doubts-count").textContent = doubts.length === 1 ? "1 value to check" : `${doubts.length} values to check`;
  byId("doubts").replaceChildren(...doubts.map(doubtItem));
  setField(byId("lines"), sentence.text, sentence.key);
  byId("as-lines").open ||= isBroken;
  for (const id of ["structure", "table", "as-comments"]) byId(id).hidden = isBroken;
  if (!isBroken) setField(byId("comments"), view(sentence).comments.join("\n"), sentence.key);
}

function renderComparison() {
  byId("stop-comparing").hidden = byId("agreement").hidden = !page.compared;
  if (!page.compared) return;
  const all = sentences();
  const found = agreement(all.map((sentence) => view(sentence)), all.map((sentence) => page.compared.others.get(sentence.key)));
  const share = (n) => percent(found.words ? n / found.words : 0);
  const differ = { 0: "no sentence differs", 1: "1 sentence differs" }[found.sentences] ?? `${found.sentences.toLocaleString("en")} sentences differ`;
  byId("agreement").textContent = `${differ}; same head: ${share(found.heads)} of the words, same head and label: ${share(found.arcs)}`;
}

function problemItem({ word, line, message }) {
  const item = document.createElement("li");
  if (word) item.append(wordButton(word, message));
  else item.append(line === undefined ? message : `Line ${line + 1}: ${message}`);
  return item;
}

function doubtItem({ word, message }) {
  const item = document.createElement("li");
  item.append(wordButton(word, `${nameOf(view(), word)}: ${message}`));
  return item;
}

// What is said of a word; a click goes to it.
function wordButton(word, textContent) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent, dir: "ltr" });
  button.addEventListener("click", () => select(word));
  return button;
}

function renderDrawing(sentence) {
  const drawing = byId("drawing");
  const focused = drawing.contains(document.activeElement) ? document.activeElement.dataset.word : null;
  const marks = { fixed: sentence.fixed, isParsed: sentence.parsed, selected: page.selected, changed: page.changed, suggested: suggestions(sentence) };
  drawing.hidden = view(sentence).isBroken;
  if (!drawing.hidden) {
    const svg = (isColumn(view(sentence)) ? drawColumn : draw)(view(sentence), arcsWithOpinion(sentence), marks, drawing.clientWidth);
    zoom(svg);
    if (page.asking) svg.classList.add("asking");
    drawing.replaceChildren(svg);
  }
  drawing.setAttribute("aria-busy", String(page.pending !== null));
  if (focused) wordNode(Math.min(focused, view(sentence).words.length))?.focus({ preventScroll: true });
}

// Whether there is one word on each line: as the person wants it, or for long sentences.
export function isColumn({ words } = view()) {
  const wanted = byId("view").value;
  return wanted === "column" || (wanted === "auto" && words.length > LONG);
}

// As large as the person wants it; 0 is as wide as the page.
function zoom(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const factor = page.zoom || Math.min(1, Math.max(0.35, byId("drawing").clientWidth / width));
  svg.setAttribute("width", width * factor);
  svg.setAttribute("height", height * factor);
}

// The word whose arc the parser doubts most.
export function leastCertain() {
  const arcs = arcsWithOpinion(current());
  const known = arcs.map((arc, i) => ({ word: i + 1, share: arc.labelled })).filter(({ share }) => share !== null);
  if (known.length) select(known.reduce((a, b) => (b.share < a.share ? b : a)).word);
}

// The parser's arcs where they are not those of the sentence, if the person wants to see them.
export function suggestions(sentence) {
  const best = otherArcs(sentence);
  if (!byId("suggest").checked || !best) return [];
  const { arcs } = view(sentence);
  return best.flatMap((arc, i) => (arc.head === null || sameArc(arc, arcs[i]) ? [] : [{ labelled: null, ...arc, word: i + 1 }]));
}

// What the sentence is compared with: the other file, if there is one, or the parser's best tree.
function otherArcs(sentence) {
  if (page.compared) return page.compared.others.get(sentence.key)?.arcs;
  return opinionOf(sentence)?.trees[0].arcs;
}

function renderPlace() {
  const all = listed();
  const at = all.findIndex((sentence) => sentence.key === page.current);
  byId("steps").hidden = all.length === 1 && at === 0;
  byId("position").textContent = `${at < 0 ? "–" : (at + 1).toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
  const focused = document.activeElement;
  byId("before").disabled = !beside(-1);
  byId("after").disabled = !beside(1);
  byId("undo").disabled = !page.edits.canUndo;
  byId("redo").disabled = !page.edits.canRedo;
  byId("download-conllu").disabled = page.isLoading;
  if (focused.disabled) wordNode(page.selected ?? 1)?.focus({ preventScroll: true }); // the keyboard stays where the work is
}

export function wordNode(word) {
  return byId("drawing").querySelector(`.word[data-word="${word}"]`);
}

export function select(word) {
  page.selected = word;
  render();
  wordNode(word).focus({ preventScroll: true });
  wordNode(word).scrollIntoView({ block: "nearest", inline: "nearest" });
}

// The parser's best trees, each by what it has other than the one that is shown.
function renderTrees(sentence) {
  const { trees } = opinionOf(sentence) ?? { trees: [] };
  const { arcs } = view(sentence);
  const described = descriptions(view(sentence), hasNoArc(view(sentence)) ? null : arcs, trees.map((tree) => tree.arcs));
  const buttons = trees.map((tree, i) => {
    const isShown = tree.arcs.every((arc, j) => sameArc(arc, arcs[j]));
    return treeButton(i, isShown, tree.probability === null ? "" : treeShare(tree.probability), described[i]);
  });
  const focused = byId("trees").contains(document.activeElement);
  byId("trees").replaceChildren(...buttons);
  byId("best").hidden = !trees.length || (trees.length === 1 && buttons[0].getAttribute("aria-checked") === "true");
  const checked = buttons.find((button) => button.getAttribute("aria-checked") === "true") ?? buttons[0];
  if (checked) checked.tabIndex = 0;
  if (focused) checked?.focus();
}

function treeButton(i, isShown, share, different) {
  const button = Object.assign(document.createElement("button"), { type: "button", tabIndex: -1 });
  const text = (className, textContent) => Object.assign(document.createElement("span"), { className, textContent });
  const what = text("different", different);
  what.dir = "ltr"; // words that are written from right to left are isolated in it
  button.append(text("share", [String(i + 1), share].filter(Boolean).join(" · ")), what);
  button.setAttribute("role", "radio");
  button.setAttribute("aria-label", `Tree ${i + 1} of the parser ${share}: ${different}`);
  button.setAttribute("aria-checked", String(isShown));
  button.addEventListener("click", () => doing.chooseTree(i));
  return button;
}

function treeShare(probability) {
  if (probability < 0.001) return "<0.1%";
  const down = (digits) => (Math.floor(probability * 100 * 10 ** digits + 1e-9) / 10 ** digits).toFixed(digits);
  return `${down(probability < 0.1 ? 1 : 0)}%`;
}

function renderCorrections(sentence) {
  if (view(sentence).isBroken) return byId("corrections").replaceChildren();
  const form = (word) => nameOf(view(sentence), word);
  const fixed = doing.fixed();
  const items = Object.entries(fixed).flatMap(([key, constraint]) => {
    const word = Number(key);
    const all = [
      ...constraint.notHeads.map((head) => chip(`not ${form(word)} ← ${form(head)}`, "no", allowHead(fixed, word, head))),
      ...constraint.notLabels.map((label) => chip(`not ${form(word)}: ${label}`, "no", allowLabel(fixed, word, label))),
    ];
    if (constraint.head !== undefined || constraint.label !== undefined) {
      const head = constraint.head === undefined ? "" : ` ← ${form(constraint.head)}`;
      const label = constraint.label === undefined ? "" : `: ${constraint.label}`;
      all.push(chip(`${form(word)}${head}${label}`, "", letGo(fixed, word)));
    }
    return all;
  });
  byId("corrections").replaceChildren(...items);
}

function chip(text, className, without) {
  const item = Object.assign(document.createElement("li"), { className });
  item.append(Object.assign(document.createElement("span"), { textContent: text, dir: "ltr" }));
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "✕", title: "Undo this constraint" });
  button.setAttribute("aria-label", `Undo this constraint: ${text}`);
  button.addEventListener("click", () => doing.takeBack(without));
  item.append(button);
  return item;
}

export function legend() {
  byId("legend").append(
    Object.assign(document.createElement("li"), { textContent: "probability of arc and label:" }),
    ...BINS.map((bin) => {
      const item = document.createElement("li");
      const sample = new DOMParser().parseFromString(
        `<svg xmlns="http://www.w3.org/2000/svg" class="tree" width="18" height="6" aria-hidden="true"><g class="${bin.name}"><path class="line" d="M0 3H18"/></g></svg>`,
        "image/svg+xml",
      );
      item.append(sample.documentElement, bin.text);
      return item;
    }),
  );
}
