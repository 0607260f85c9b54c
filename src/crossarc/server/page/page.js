// The page: mouse, keyboard and buttons, and what each of them does.

import { changeSentence, travel } from "./changes.js";
import { actions, answerHead, chooseTree, fixedNow, reparse, takeBack } from "./corrections.js";
import { downloadFile, downloadDrawing } from "./download.js";
import { editComments, edits } from "./editing.js";
import { openFromFolder, saveOver, saveToFolder } from "./folder.js";
import { agreement, aligned } from "./comparing.js";
import { formatOf, withTabs } from "./file.js";
import { listenToKeys } from "./keys.js";
import { valuesOf } from "./inventory.js";
import { learn, stopLearning } from "./learn.js";
import * as list from "./list.js";
import { forgetKept, open, openFile, openKept, parseTyped, read, start, startOver, step } from "./load.js";
import * as menu from "./menu.js";
import { byId, complain } from "./messages.js";
import { arcsWithOpinion, opinionOf } from "./opinions.js";
import { judgeAll, judgeCurrent, parseSentences, withoutTrees } from "./parsing.js";
import { accepted, setNote, setState } from "./progress.js";
import { listenToPointer } from "./pointer.js";
import { isRightToLeft } from "./script.js";
import { current, page, sentences, view } from "./state.js";
import { isColumn, leastCertain, legend, listenToWorkspace, render, select, suggestions, wordNode } from "./workspace.js";

const drawing = byId("drawing");

listenToWorkspace({ takeBack, chooseTree, fixed: fixedNow, judge: judgeCurrent });

// first: what gets the focus, "keep" or "label"
function openMenu(word, first) {
  select(word);
  const bound = Object.fromEntries(Object.entries({ ...actions, take: takeSuggestion }).map(([name, action]) => [name, (...rest) => action(word, ...rest)]));
  menu.openMenu({
    view: view(),
    arc: { ...arcsWithOpinion(current())[word - 1], word },
    constraint: fixedNow()[word],
    likely: opinionOf(current())?.heads?.[word - 1] ?? [],
    labels: valuesOf("deprel"),
    suggested: suggestionFor(word),
    word: wordNode(word).getBoundingClientRect(),
    first,
    actions: bound,
    closed: () => wordNode(word)?.focus({ preventScroll: true }),
  });
}

function suggestionFor(word) {
  return suggestions(current()).find((arc) => arc.word === word);
}

// The suggested arc to a word in the place of the one that is there.
function takeSuggestion(word) {
  const arc = suggestionFor(word);
  if (arc) actions.head(word, arc.head, arc.label);
}

listenToPointer(drawing, {
  isAsking: () => page.asking !== null,
  answer: answerHead,
  open: openMenu,
  take: takeSuggestion,
  node: (id) => (page.asking && page.isAskingExtra ? answerHead(id) : showCells(id)),
  drop: (word, head) => {
    select(word);
    if (head !== word) actions.head(word, head);
  },
});

listenToKeys([byId("workspace"), byId("list")], {
  isRightToLeft: () => isRightToLeft(view().text),
  isColumn,
  isAsking: () => page.asking !== null,
  answer: answerHead,
  words: () => view().words.length,
  headOf: (word) => view().arcs[word - 1].head,
  firstChildOf: (word) => view().arcs.findIndex((arc) => arc.head === word) + 1,
  selected: () => page.selected,
  select,
  open: openMenu,
  take: takeSuggestion,
  act: (action, word) => {
    page.selected = word;
    actions[action](word);
  },
  edit,
  cells: showCells,
  leastCertain,
  zoom,
  setState: (state) => {
    setState(state);
    wordNode(page.selected ?? 1)?.focus({ preventScroll: true });
  },
  note: () => byId("note-field").focus(),
  chooseTree,
  step,
});

// way: "in", "out" or "fit"
function zoom(way) {
  const now = page.zoom || drawing.firstChild.getBoundingClientRect().width / drawing.firstChild.viewBox.baseVal.width;
  page.zoom = { in: Math.min(2.5, now * 1.2), out: Math.max(0.3, now / 1.2), fit: 0 }[way];
  render();
}

// The columns of a row in the table.
function showCells(row) {
  if (Number.isInteger(row)) page.selected = row;
  byId("table").open = true;
  render();
  byId("columns").querySelector(`input[data-row="${row}"]`).focus();
}

// name: of an edit of words or sentences, or "addHead"
function edit(name, word = page.selected) {
  page.selected = word;
  if (name === "addHead") actions.ask(word, true);
  else edits[name](word);
}

function cancelAsking() {
  page.asking = null;
  render();
}

byId("cancel-asking").addEventListener("click", () => {
  const word = page.asking;
  cancelAsking();
  wordNode(word)?.focus({ preventScroll: true });
});

byId("trees").addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const all = [...byId("trees").children];
  chooseTree((all.indexOf(document.activeElement) + by + all.length) % all.length);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && page.asking) cancelAsking();
  const key = event.key.toLowerCase();
  if (key === "s" && (event.ctrlKey || event.metaKey) && page.file?.folder) {
    event.preventDefault();
    document.activeElement?.blur(); // what was being written is part of it
    saveToFolder();
    return;
  }
  if (!(event.ctrlKey || event.metaKey) || !page.file || event.target.closest("textarea, input")) return;
  if (key === "z" || key === "y") {
    event.preventDefault();
    travel(key === "y" || event.shiftKey ? "redo" : "undo");
  }
});

// ---- buttons ------------------------------------------------------------------------------------------------------

byId("input").addEventListener("submit", (event) => {
  event.preventDefault();
  parseTyped();
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("input").requestSubmit();
});
byId("model").addEventListener("change", (event) => {
  page.model = event.target.value;
  list.refresh();
  render();
  judgeCurrent();
});
byId("order").addEventListener("change", async (event) => {
  page.order = event.target.value;
  if (page.order === "uncertainty") await judgeAll();
  if (sentences().length) open(list.shown()[0]);
});
byId("list").addEventListener("click", (event) => {
  const button = event.target.closest("[data-sentence]");
  if (button) open(sentences().find((sentence) => sentence.key === Number(button.dataset.sentence)));
});
byId("before").addEventListener("click", () => step(-1));
byId("after").addEventListener("click", () => step(1));
byId("undo").addEventListener("click", () => travel("undo"));
byId("redo").addEventListener("click", () => travel("redo"));
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (file) openFile(file);
});
byId("folder-files").addEventListener("change", (event) => event.target.value && openFromFolder(event.target.value));
byId("save").addEventListener("click", () => saveToFolder());
byId("save-over").addEventListener("click", saveOver);
byId("open-again").addEventListener("click", () => openFromFolder(page.file.folder));
byId("kept").addEventListener("change", (event) => openKept(Number(event.target.value)));
byId("forget").addEventListener("click", forgetKept);
byId("start-over").addEventListener("click", startOver);
byId("parse-missing").addEventListener("click", async () => {
  await parseSentences(withoutTrees(), "sentences parsed");
  byId("missing").hidden = !withoutTrees().length;
});
byId("reparse").addEventListener("click", () => reparse(fixedNow(), "the parser’s tree"));
byId("looks").addEventListener("click", (event) => {
  if (event.target.dataset.zoom) zoom(event.target.dataset.zoom);
});
byId("view").addEventListener("change", render);
byId("least").addEventListener("click", leastCertain);
byId("states").addEventListener("click", (event) => {
  if (event.target.dataset.state) setState(event.target.dataset.state);
});
byId("note-field").addEventListener("change", (event) => setNote(event.target.value));
byId("note-field").addEventListener("keydown", (event) => {
  if (event.key === "Enter") wordNode(page.selected ?? 1)?.focus(); // what was written is a change
});
byId("learn").addEventListener("click", learn);
byId("stop-learning").addEventListener("click", stopLearning);

// What is typed, and what is chosen beside it; only sentences of which that is true are in the list.
async function search() {
  page.query = [byId("show").value, byId("search").value].join(" ").trim();
  if (page.query.includes("is:disagrees")) await judgeAll();
  list.refresh();
  if (current()) list.scrollTo(current());
  render();
}
byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && list.shown().length) open(list.shown()[0]);
});
byId("show").addEventListener("change", async () => {
  await search();
  if (list.shown().length) open(list.shown()[0]);
});
byId("structure").addEventListener("click", (event) => {
  if (event.target.dataset.edit) edit(event.target.dataset.edit);
});
byId("table").addEventListener("toggle", render);
byId("comments").addEventListener("change", (event) => editComments(event.target.value));
byId("suggest").addEventListener("change", render);
byId("compare").addEventListener("click", () => byId("other-file").click());
byId("other-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  const content = file ? await read(file) : null;
  if (content === null) return;
  const format = formatOf(content);
  if (format === "text") complain(new Error(`${file.name} is not in CoNLL-U: there is nothing to compare with.`));
  else compareWith(file.name, format === "spaces" ? withTabs(content) : content);
});
byId("stop-comparing").addEventListener("click", () => compareWith(null));

// Another file in the place of the parser's opinion; null: none.
function compareWith(name, content) {
  const all = sentences();
  const others = name ? aligned(all.map((sentence) => view(sentence)), content) : [];
  page.compared = name ? { name, others: new Map(all.map((sentence, i) => [sentence.key, others[i]])) } : null;
  const missing = others.filter((other) => !other).length;
  complain(missing ? new Error(`${missing} of ${all.length} sentences are not in ${name}, or have other words there.`) : null);
  byId("suggest").checked = Boolean(name);
  byId("show").value = name && agreement(all.map((sentence) => view(sentence)), others).sentences ? "is:different" : "";
  byId("show").dispatchEvent(new Event("change"));
  render();
}
byId("lines").addEventListener("change", (event) => {
  const text = event.target.value.replaceAll("\r\n", "\n").replace(/\s+$/, "");
  if (text && text !== current().text) changeSentence({ text, parsed: false }, "lines");
});
byId("download-conllu").addEventListener("click", () => downloadFile());
byId("download-accepted").addEventListener("click", () => downloadFile(accepted(), "-accepted"));
byId("download-svg").addEventListener("click", downloadDrawing);

legend();
start();
