// The page: mouse, keyboard and buttons, and what each of them does.

import { actions, answerHead, chooseTree, correct, openMenu, travel } from "./corrections.js";
import { standalone } from "./drawing.js";
import { listenToKeys } from "./keys.js";
import { open, parseInput, showList, start, step } from "./load.js";
import { byId } from "./messages.js";
import { withConstraints } from "./misc-column.js";
import { listenToPointer } from "./pointer.js";
import { chosen, page, seen, shown, tree } from "./state.js";
import { legend, listenToWorkspace, render, select } from "./workspace.js";

const drawing = byId("drawing");

listenToWorkspace({ takeBack: correct, chooseTree });

listenToPointer(drawing, {
  isAsking: () => page.asking !== null,
  answer: answerHead,
  open: openMenu,
  drop: (word, head) => {
    select(word);
    if (head !== word) actions.head(word, head);
  },
});

listenToKeys(drawing, {
  isAsking: () => page.asking !== null,
  answer: answerHead,
  words: () => page.current.data.words.length,
  headOf: (word) => tree().arcs[word - 1].head,
  firstChildOf: (word) => tree().arcs.findIndex((arc) => arc.head === word) + 1,
  select,
  open: openMenu,
  act: (action, word) => {
    page.selected = word;
    actions[action](word);
  },
  chooseTree,
  step,
});

byId("trees").addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const n = page.current.data.trees.length;
  chooseTree((seen().choice + by + n) % n);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && page.asking) {
    page.asking = null;
    render();
  }
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || !page.current || event.target.closest("textarea, input")) return;
  if (key === "z" || key === "y") {
    event.preventDefault();
    travel(key === "y" || event.shiftKey ? "redo" : "undo");
  }
});

// ---- buttons ------------------------------------------------------------------------------------------------------

byId("input").addEventListener("submit", (event) => {
  event.preventDefault();
  page.file = "parsed";
  parseInput();
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("input").requestSubmit();
});
byId("model").addEventListener("change", () => parseInput());
byId("order").addEventListener("change", (event) => {
  page.order = event.target.value;
  showList(false);
  if (page.sentences.length) open(shown()[0]);
});
byId("list").addEventListener("click", (event) => {
  const button = event.target.closest("[data-sentence]");
  if (button) open(page.sentences[Number(button.dataset.sentence) - 1]);
});
byId("before").addEventListener("click", () => step(-1));
byId("after").addEventListener("click", () => step(1));
byId("undo").addEventListener("click", () => travel("undo"));
byId("redo").addEventListener("click", () => travel("redo"));
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (!file) return;
  byId("text").value = await file.text();
  page.file = file.name.replace(/\.[^.]*$/, "");
  parseInput();
});

byId("download-conllu").addEventListener("click", () => {
  const note = byId("note").checked;
  const trees = page.sentences.map((sentence) => {
    const { conllu } = chosen(sentence);
    return note ? withConstraints(conllu, sentence.seen.constraints) : conllu;
  });
  save(`${page.file}.conllu`, trees.join(""), "text/plain");
  page.saved = true;
});
byId("download-svg").addEventListener("click", async () => {
  save(`${page.file}-${page.current.number}.svg`, await standalone(drawing.firstChild), "image/svg+xml");
});

function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

addEventListener("beforeunload", (event) => {
  if (!page.saved) event.preventDefault();
});

legend();
start();
