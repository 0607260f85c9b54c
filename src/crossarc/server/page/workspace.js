// The open sentence: its drawing, its best trees, what was said of it.

import { BINS, draw } from "./drawing.js";
import { allowHead, allowLabel, letGo } from "./history.js";
import { byId } from "./messages.js";
import { form, page, seen, shown, state, tree } from "./state.js";

const HINT = matchMedia("(pointer: coarse)").matches
  ? "Drag a word to its head, or tap an arc or a word."
  : "Drag a word to its head, or click an arc.";

let doing; // what the buttons of the workspace do

// page: takeBack(state without it), chooseTree(i)
export function listenToWorkspace(page) {
  doing = page;
}

export function render() {
  const focused = byId("drawing").contains(document.activeElement);
  const marks = { constraints: seen().constraints, selected: page.selected, changed: page.changed };
  const svg = draw(page.current.data, tree(), marks);
  if (page.asking) svg.classList.add("asking");
  byId("drawing").replaceChildren(svg);
  byId("drawing").setAttribute("aria-busy", String(seen() !== state()));
  if (focused) wordNode(page.selected ?? 1)?.focus({ preventScroll: true });
  renderTrees();
  renderCorrections();
  const all = shown();
  const at = all.indexOf(page.current);
  byId("steps").hidden = all.length === 1;
  byId("position").textContent = `${at + 1} of ${all.length}`;
  byId("before").disabled = at === 0;
  byId("after").disabled = at === all.length - 1;
  byId("undo").disabled = !page.current.history.canUndo;
  byId("redo").disabled = !page.current.history.canRedo;
  const hint = byId("hint");
  hint.classList.toggle("asking", page.asking !== null);
  hint.textContent = page.asking
    ? `What is the head of “${form(page.asking)}”? Click a word, or the root at the top. Esc: never mind.`
    : HINT;
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

function renderTrees() {
  const { trees } = page.current.data;
  const buttons = trees.map((one, i) => {
    const share = one.probability === null ? "" : ` · ${treeShare(one.probability)}`;
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${i + 1}${share}` });
    button.setAttribute("role", "radio");
    button.setAttribute("aria-label", `Tree ${i + 1}${share}`);
    button.setAttribute("aria-checked", String(i === seen().choice));
    button.tabIndex = i === seen().choice ? 0 : -1;
    button.addEventListener("click", () => doing.chooseTree(i));
    return button;
  });
  const focused = byId("trees").contains(document.activeElement);
  byId("trees").replaceChildren(...buttons);
  byId("best").hidden = trees.length === 1;
  if (focused) buttons[seen().choice].focus();
}

function treeShare(probability) {
  if (probability < 0.001) return "<0.1 %";
  return `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`;
}

function renderCorrections() {
  const items = Object.entries(state().constraints).flatMap(([key, constraint]) => {
    const word = Number(key);
    const all = [
      ...constraint.notHeads.map((head) => chip(`not ${form(word)} ← ${form(head)}`, "no", allowHead(state(), word, head))),
      ...constraint.notLabels.map((label) => chip(`not ${form(word)}: ${label}`, "no", allowLabel(state(), word, label))),
    ];
    if (constraint.head !== undefined || constraint.label !== undefined) {
      const head = constraint.head === undefined ? "" : ` ← ${form(constraint.head)}`;
      const label = constraint.label === undefined ? "" : `: ${constraint.label}`;
      all.push(chip(`${form(word)}${head}${label}`, "", letGo(state(), word)));
    }
    return all;
  });
  byId("corrections").replaceChildren(...items);
}

function chip(text, className, without) {
  const item = Object.assign(document.createElement("li"), { textContent: text, className });
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "✕" });
  button.setAttribute("aria-label", `Take back: ${text}`);
  button.addEventListener("click", () => doing.takeBack(without));
  item.append(button);
  return item;
}

export function legend() {
  byId("legend").append(
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
