// The small menu of an arc: keep it, forbid it, give it another label or another head.

import { percent } from "./drawing.js";
import { nameOf } from "./sentences.js";

const menu = document.getElementById("menu");
let onClose = () => {};

export function isOpen() {
  return !menu.hidden;
}

// arc: {word, head, label, probability, labels}; likely: [[head, probability], ...]; actions: what each choice does;
// place: {x, y} on the page; first: what gets the focus, "keep" or "label".
export function openMenu({ sentence, arc, constraint, likely, labels, place, first = "keep", actions, closed }) {
  close();
  onClose = closed;
  const name = (word) => nameOf(sentence, word);
  menu.setAttribute("aria-label", `The arc to ${name(arc.word)}`);
  const share = arc.probability === null || constraint?.head !== undefined ? "" : `, ${percent(arc.probability)}`;
  const title = paragraph(arc.head === null ? `${name(arc.word)} has no head` : `${name(arc.word)} ← ${name(arc.head)}: ${arc.label}${share}`);
  title.className = "title";

  const row = node("div", { className: "row" });
  const keep = button("Keep", "R", () => actions.keep());
  row.append(keep, button("Forbid", "F", () => actions.forbid()));
  if (constraint) row.append(button("Let go", "Del", () => actions.letGo()));

  const label = node("label", { textContent: "Label" });
  const select = labelSelect(arc, labels);
  select.addEventListener("change", () => done(() => actions.relabel(select.value)));
  label.append(select);

  const heads = node("div", { className: "heads" });
  heads.append(paragraph("Another head", "quiet"));
  for (const [head, probability] of likely) {
    if (head === arc.head) continue;
    const other = node("button", { type: "button" });
    other.append(node("span", { textContent: name(head) }), node("span", { textContent: percent(probability), className: "quiet" }));
    other.addEventListener("click", () => done(() => actions.head(head)));
    heads.append(other);
  }
  heads.append(button("Choose a word …", "H", () => actions.ask()));

  menu.replaceChildren(title, row, label, heads);
  menu.hidden = false;
  put(place);
  (first === "label" ? select : keep).focus();
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

function labelSelect(arc, labels) {
  const select = node("select", {});
  const likely = new Map(arc.labels ?? []);
  const group = (name, options) => {
    const made = node("optgroup", { label: name });
    for (const [value, text] of options) made.append(node("option", { value, textContent: text, selected: value === arc.label }));
    if (options.length) select.append(made);
  };
  if (!likely.has(arc.label)) group("now", [[arc.label, arc.label]]);
  group("likely", [...likely].map(([value, share]) => [value, `${value}  ${percent(share)}`]));
  const others = labels.filter((value) => !likely.has(value) && value !== arc.label).sort();
  group("all others", others.map((value) => [value, value]));
  return select;
}

// Near the place, but within the window; on a phone the style puts it at the bottom.
function put({ x, y }) {
  const box = menu.getBoundingClientRect();
  const left = Math.min(Math.max(8, x - box.width / 2), document.documentElement.clientWidth - box.width - 8);
  const below = y + 14 + box.height <= innerHeight - 8;
  const top = below ? y + 14 : Math.max(8, y - box.height - 14);
  menu.style.left = `${left + scrollX}px`;
  menu.style.top = `${top + scrollY}px`;
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

const KEYS = { r: "R", f: "F", h: "H", Delete: "Del", Backspace: "Del" };

menu.addEventListener("keydown", (event) => {
  event.stopPropagation();
  if (event.key === "Escape") close();
  else if (event.key === "Tab") stayInside(event);
  else if (event.target.tagName !== "SELECT" && KEYS[event.key]) {
    event.preventDefault();
    menu.querySelector(`button[title="${KEYS[event.key]}"]`)?.click();
  }
});

function stayInside(event) {
  const all = [...menu.querySelectorAll("button, select")];
  const next = all.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  all.at(next % all.length).focus();
}

document.addEventListener("pointerdown", (event) => {
  if (!menu.contains(event.target)) close();
});
