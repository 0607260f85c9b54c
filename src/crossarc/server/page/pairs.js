// FEATS, MISC and DEPS of the selected word as lists of pairs, to be edited. Fields stay where they are while they are
// written in: only what they say is changed.

import { KINDS, columnOf, pairsOf } from "./column-lists.js";
import { editCell } from "./editing.js";
import { inventory } from "./inventory.js";
import { byId, setField } from "./messages.js";
import { page, view } from "./state.js";

const OPTIONS = { "feats-0": "offered-features", "deps-1": "offered-deprel" };

export function renderPairs() {
  const word = view().words[(page.selected ?? 0) - 1];
  byId("word-panel").hidden = !word;
  if (!word) return;
  byId("word-name").textContent = `${word.id} ${word.form}`;
  for (const column of Object.keys(KINDS)) fill(byId(`${column}-pairs`), column, word);
  byId("offered-features").replaceChildren(...[...inventory().feats.keys()].map((value) => Object.assign(document.createElement("option"), { value })));
}

// A line for each pair, and an empty one.
function fill(list, column, word) {
  const pairs = [...pairsOf(word[column], column), ["", ""]];
  while (list.children.length > pairs.length) list.lastChild.remove();
  while (list.children.length < pairs.length) list.append(line(column, list.children.length));
  [...list.children].forEach((item, i) => {
    item.querySelectorAll("input").forEach((input, side) => {
      setField(input, pairs[i][side], `${page.current} ${word.id}`);
      input.setAttribute("aria-label", `${column.toUpperCase()} of ${word.form}: ${input.placeholder} ${i + 1}`);
    });
    item.querySelector("button").hidden = i === pairs.length - 1;
    item.querySelector("button").setAttribute("aria-label", `Delete ${pairs[i].join(KINDS[column].sign)}`);
  });
  list.dataset.word = word.id;
}

function line(column, i) {
  const item = document.createElement("li");
  KINDS[column].names.forEach((name, side) => {
    const input = Object.assign(document.createElement("input"), { type: "text", id: `${column}-pair-${i}-${side}`, placeholder: name, spellcheck: false, autocomplete: "off", dir: "auto" });
    const options = OPTIONS[`${column}-${side}`];
    if (options) input.setAttribute("list", options);
    item.append(input);
  });
  item.append(Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: "✕" }));
  return item;
}

// What the lines of a list say becomes the column, when each name has its value.
function commit(list, column) {
  const pairs = [...list.children].map((item) => {
    const pair = [...item.querySelectorAll("input")].map((input) => input.value);
    return column === "feats" && pair[0].includes("=") ? pair[0].split("=") : pair; // a whole feature was chosen
  });
  const isWhole = ([name, value]) => !name.trim() || value.trim();
  if (column === "misc" || pairs.every(isWhole)) editCell(list.dataset.word, column, columnOf(pairs, column));
}

for (const column of Object.keys(KINDS)) {
  const list = byId(`${column}-pairs`);
  list.addEventListener("change", () => commit(list, column));
  list.addEventListener("click", (event) => {
    if (event.target.tagName !== "BUTTON") return;
    event.target.closest("li").remove();
    commit(list, column);
    list.replaceChildren(); // numbered anew
    renderPairs();
  });
}
