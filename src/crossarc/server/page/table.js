// The ten columns of the open sentence, to be edited. Arrow keys and Enter go from row to row.

import { COLUMNS, isEmptyNode, isToken } from "./conllu.js";
import { editCell, edits, problemsOfCell } from "./editing.js";
import { valuesOf } from "./inventory.js";
import { byId, setField } from "./messages.js";
import { current, page, view } from "./state.js";
import { render } from "./workspace.js";

const OFFERED = ["upos", "xpos", "deprel", "lemma"]; // columns whose known values are offered

const table = byId("columns");

// If the rows are the same, the fields stay where they are, so that someone can go on writing.
export function renderTable() {
  if (!byId("table").open || view().isBroken) return table.replaceChildren();
  const ids = view().rows.map((row) => row.id).join(" ");
  if (table.dataset.rows !== ids || !table.tBodies.length) table.replaceChildren(head(), body());
  table.dataset.rows = ids;
  view().rows.forEach((row, i) => update(table.tBodies[0].rows[i], row));
  byId("offered").replaceChildren(...OFFERED.map(options));
}

function update(line, row) {
  line.className = [isToken(row) ? "token" : isEmptyNode(row) ? "node" : "", page.selected === Number(row.id) ? "here" : ""].join(" ");
  for (const input of line.querySelectorAll("input")) {
    const { column } = input.dataset;
    const problem = problemsAt(row, column);
    setField(input, row[column], current().key);
    input.size = Math.min(30, Math.max(3, row[column].length));
    input.setAttribute("aria-label", `${column.toUpperCase()} of ${row.id} ${row.form}`);
    input.setAttribute("aria-invalid", String(problem !== ""));
    input.title = problem;
  }
}

function head() {
  const made = document.createElement("thead");
  const row = made.insertRow();
  for (const name of COLUMNS) row.append(Object.assign(document.createElement("th"), { textContent: name.toUpperCase(), scope: "col" }));
  row.insertCell(); // above the buttons
  return made;
}

function body() {
  const made = document.createElement("tbody");
  for (const row of view().rows) {
    const line = made.insertRow();
    line.append(Object.assign(document.createElement("th"), { textContent: row.id, scope: "row" }));
    for (const column of COLUMNS.slice(1)) line.insertCell().append(cell(row, column));
    line.insertCell().append(remove(row));
  }
  return made;
}

function cell(row, column) {
  const input = Object.assign(document.createElement("input"), { type: "text", spellcheck: false, autocomplete: "off", dir: "auto" });
  Object.assign(input.dataset, { row: row.id, column });
  if (OFFERED.includes(column)) input.setAttribute("list", `offered-${column}`);
  return input;
}

// What is wrong with a cell, or asked back about it.
function problemsAt(row, column) {
  const found = [...view().problems, ...(view().doubts ?? [])].filter((one) => one.word === Number(row.id) && one.column === column);
  return found.map((one) => one.message).join("; ");
}

function remove(row) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: "✕", title: "Delete this row" });
  button.setAttribute("aria-label", `Delete row ${row.id} ${row.form}`);
  button.addEventListener("click", () => edits.removeRow(row.id));
  return button;
}

function options(column) {
  const list = Object.assign(document.createElement("datalist"), { id: `offered-${column}` });
  list.append(...valuesOf(column).slice(0, 300).map((value) => Object.assign(document.createElement("option"), { value })));
  return list;
}

function cellOf(row, column) {
  return table.querySelector(`input[data-row="${row}"][data-column="${column}"]`);
}

table.addEventListener("change", ({ target }) => {
  byId("cell-problem").textContent = "";
  editCell(target.dataset.row, target.dataset.column, target.value);
});

// As one types
table.addEventListener("input", ({ target }) => {
  const problem = problemsOfCell(target.dataset.row, target.dataset.column, target.value);
  target.setAttribute("aria-invalid", String(problem !== ""));
  byId("cell-problem").textContent = target.title = problem;
});

// The row that is written in is that of the selected word. (Not when it gets the focus: what moves then would be missed by the mouse.)
for (const kind of ["click", "keyup"]) table.addEventListener(kind, selectRow);

function selectRow({ target }) {
  const word = Number(target.dataset.row);
  if (!Number.isInteger(word) || word === page.selected) return;
  page.selected = word;
  render();
}

table.addEventListener("keydown", (event) => {
  const { row, column } = event.target.dataset;
  const by = { ArrowUp: -1, ArrowDown: 1, Enter: event.shiftKey ? -1 : 1 }[event.key];
  if (event.key === "Escape") event.target.value = view().rows.find((one) => one.id === row)[column];
  if (!by || !column || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  const rows = view().rows.map((one) => one.id);
  const next = rows[rows.indexOf(row) + by];
  const before = current();
  event.target.blur(); // what was written is an edit
  if (next !== undefined && current().key === before.key) cellOf(next, column)?.focus();
});
