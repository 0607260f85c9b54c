// The small menu of an arc: keep it, forbid it, give it another label or another head.

import { percent } from "./probability.js";
import { nameOf } from "./sentences.js";

const LIKELY = 4; // labels that have a button

const menu = document.getElementById("menu");
let onClose = () => {};

// arc: {word, head, label, labelled, labels}; likely: [[head, probability], ...]; labels: all that are offered; suggested: another arc, or
// undefined; actions: what each choice does; word: the place of the word in the window; first: what gets the focus, "keep" or "label".
export function openMenu({ view, arc, constraint, likely, labels, suggested, word, first = "keep", actions, closed }) {
  close();
  onClose = closed;
  const name = (word) => nameOf(view, word);
  menu.setAttribute("aria-label", `The arc to ${name(arc.word)}`);
  const share = arc.labelled === null ? "" : `, ${percent(arc.labelled)}`;
  const title = paragraph(arc.head === null ? `${name(arc.word)} has no head` : `${name(arc.word)} ← ${name(arc.head)}: ${arc.label}${share}`);
  title.className = "title";
  title.dir = "ltr"; // words that are written from right to left are isolated in it

  const row = node("div", { className: "row" });
  const keep = button("Keep", "R", () => actions.keep());
  row.append(keep, button("Forbid", "F", () => actions.forbid()));
  if (constraint) row.append(button("Undo this constraint", "Del", () => actions.letGo()));
  row.hidden = arc.head === null;

  const [label, input] = labelField(arc, labels, actions);
  const heads = headButtons(arc, likely, name, actions);
  menu.replaceChildren(title, row, ...takeButton(suggested, name, actions), label, heads);
  menu.hidden = false;
  put(word);
  (first === "label" ? input : arc.head === null ? heads.querySelector("button") : keep).focus();
}

export function close() {
  if (menu.hidden) return;
  menu.hidden = true;
  onClose();
}

function done(action) {
  close();
  action();
}

function takeButton(suggested, name, actions) {
  return suggested ? [button(`Take ${suggested.label} of ${name(suggested.head)}`, "T", () => actions.take())] : [];
}

// Any text can be a label; likely ones have buttons, all known ones are offered.
function labelField(arc, labels, actions) {
  const field = node("div", { className: "labels" });
  const label = node("label", { textContent: "Label" });
  const input = node("input", { type: "text", id: "label", placeholder: arc.label, autocomplete: "off", spellcheck: false });
  input.setAttribute("list", "label-options");
  input.addEventListener("change", () => {
    if (menu.hidden) return; // it was closed without an answer
    const value = input.value.trim().replace(/\s+/g, "_");
    if (value) done(() => actions.relabel(value));
  });
  label.append(input);
  const options = node("datalist", { id: "label-options" });
  options.append(...labels.map((value) => node("option", { value })));
  const row = node("div", { className: "row" });
  for (const [value, share] of (arc.labels ?? []).filter(([value]) => value !== arc.label).slice(0, LIKELY)) {
    const other = button(`${value} ${percent(share)}`, "", () => actions.relabel(value));
    other.dataset.label = value;
    row.append(other);
  }
  field.append(label, options, row);
  return [field, input];
}

function headButtons(arc, likely, name, actions) {
  const heads = node("div", { className: "heads" });
  heads.append(paragraph("Another head", "quiet"));
  for (const [head, probability] of likely) {
    if (head === arc.head) continue;
    const other = node("button", { type: "button" });
    other.append(node("span", { textContent: name(head), dir: "auto" }), node("span", { textContent: percent(probability), className: "quiet" }));
    other.addEventListener("click", () => done(() => actions.head(head)));
    heads.append(other);
  }
  heads.append(button("Choose a word …", "H", () => actions.ask()));
  return heads;
}

// Under the word, which stays in sight; on a phone the style puts it at the bottom of the window.
function put(word) {
  const box = menu.getBoundingClientRect();
  const left = Math.min(Math.max(8, word.left + word.width / 2 - box.width / 2), document.documentElement.clientWidth - box.width - 8);
  menu.style.left = `${left + scrollX}px`;
  menu.style.top = `${word.bottom + 8 + scrollY}px`;
  menu.scrollIntoView({ block: "nearest" });
  const covered = word.bottom + 8 - menu.getBoundingClientRect().top;
  if (getComputedStyle(menu).position === "fixed" && covered > 0) scrollBy({ top: covered, behavior: "instant" });
}

function button(text, key, action) {
  const made = node("button", { type: "button", textContent: text, title: key });
  made.addEventListener("click", () => done(action));
  return made;
}

function paragraph(text, className = "") {
  return node("p", { textContent: text, className });
}

function node(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

const KEYS = { r: "R", f: "F", h: "H", t: "T", Delete: "Del", Backspace: "Del" };

menu.addEventListener("keydown", (event) => {
  event.stopPropagation();
  if (event.key === "Escape") close();
  else if (event.key === "Tab") stayInside(event);
  else if (event.target.tagName !== "INPUT" && KEYS[event.key]) {
    event.preventDefault();
    menu.querySelector(`button[title="${KEYS[event.key]}"]`)?.click();
  }
});

function stayInside(event) {
  const all = [...menu.querySelectorAll("button, input")].filter((one) => one.offsetParent);
  const next = all.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  all.at(next % all.length).focus();
}

document.addEventListener("pointerdown", (event) => {
  if (!menu.contains(event.target)) close();
});
