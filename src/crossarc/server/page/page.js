// The page: what is typed is parsed, a sentence is opened, what a person says of its tree is parsed around.

import { BINS, draw, nameOf, standalone } from "./drawing.js";
import { History, allowHead, choose, constraintsOf, forbid, letGo, require } from "./history.js";
import { formatOf, normal, piecesOf } from "./input.js";
import { listenToKeys } from "./keys.js";
import * as list from "./list.js";
import { putIn, takeOut } from "./misc.js";
import * as menu from "./menu.js";
import { listenToPointer } from "./pointer.js";
import * as service from "./service.js";

const TREES = 5;
const HINT = matchMedia("(pointer: coarse)").matches
  ? "Tap an arc or a word to correct it."
  : "Drag a word to its head, or click an arc.";
const EXAMPLE = "A hearing is scheduled on the issue today. The old man the boats. I saw her duck under the table.";
const TAGGED = [
  ["A", "DET"], ["hearing", "NOUN"], ["is", "AUX"], ["scheduled", "VERB"], ["on", "ADP"], ["the", "DET"],
  ["issue", "NOUN"], ["today", "NOUN"], [".", "PUNCT"],
].map(([form, tag], i) => `${i + 1}\t${form}\t_\t${tag}\t_\t_\t_\t_\t_\t_`).join("\n");

const byId = (id) => document.getElementById(id);
const page = {
  models: new Map(),
  model: "", // the name of the one that has parsed
  sentences: [], // {number, base, first, data, seen, history, asked}: CoNLL-U; what the service said first and last; to what
  current: null,
  selected: null, // a word of the current sentence
  changed: new Set(), // words with another head or label than before
  asking: null, // the word whose head is being chosen
  file: "parsed",
  saved: true,
  reading: 0, // the input that is being parsed, so that an older one stops
};

// ---- the model and the text ---------------------------------------------------------------------------------------

async function start() {
  legend();
  try {
    const { models, default: first } = await service.models();
    for (const model of models) {
      page.models.set(model.name, model);
      byId("model").append(new Option(model.name, model.name, false, model.name === first));
    }
    page.model = first;
    byId("text").value = readsText() ? EXAMPLE : `${TAGGED}\n`;
    await parseInput();
  } catch (error) {
    complain(error);
  }
}

function model() {
  return page.models.get(page.model);
}

function readsText() {
  return model().steps.includes("tokenizer");
}

async function parseInput() {
  if (!page.saved && !confirm("Your corrections have not been downloaded. Parse anew without them?")) {
    byId("model").value = page.model;
    return;
  }
  page.model = byId("model").value;
  const reading = ++page.reading;
  const text = normal(byId("text").value);
  const format = formatOf(text);
  complain(null);
  byId("read-as").textContent = text.trim() ? `read as ${format === "conllu" ? "CoNLL-U" : "text"}` : "";
  Object.assign(page, { sentences: [], current: null, saved: true });
  menu.close();
  byId("desk").hidden = byId("sentences").hidden = true;
  for (const piece of piecesOf(text)) {
    const { text, wishes } = format === "conllu" ? takeOut(piece.text) : { text: piece.text, wishes: [] };
    let found;
    try {
      const constraints = wishes.flatMap((said, i) => constraintsOf(said, i + 1));
      found = await service.parse({ text, format, model: model().name, constraints });
    } catch (error) {
      if (error.line) error.line += piece.lines;
      if (reading === page.reading) complain(error);
      break;
    }
    if (reading !== page.reading) return;
    for (const [i, data] of found.entries()) {
      if (format === "text") renumber(data, page.sentences.length + 1, piece.lines > 0);
      const history = new History(wishes[i]);
      const number = page.sentences.length + 1;
      page.sentences.push({ number, base: data.trees[0].conllu, first: data, data, seen: history.state, history, asked: 0 });
    }
    showList(true);
    if (!page.current && page.sentences.length) open(shown()[0]);
  }
  showList(false);
  if (page.current) render();
  say(`${page.sentences.length} sentences parsed`);
}

// Each piece of a text is a text of its own to the service; here all are one, and names of sentences must differ.
function renumber(data, number, goesOn) {
  data.sent_id = String(number);
  for (const tree of data.trees) {
    tree.conllu = tree.conllu.replace(/^# sent_id = .*$/m, `# sent_id = ${number}`).replace(/^# newpar .*$/m, "# newpar");
    if (goesOn) tree.conllu = tree.conllu.replace(/^# newdoc.*\n/m, "");
  }
}

function complain(error) {
  const problem = byId("problem");
  problem.hidden = !error;
  if (!error) return;
  const line = error.line ? `Line ${error.line}: ` : "";
  const sentence = error.sentence ? `sentence ${error.sentence}: ` : "";
  problem.textContent = `${line}${sentence}${error.message}`;
}

function say(text) {
  byId("status").textContent = text;
}

// ---- sentences ----------------------------------------------------------------------------------------------------

function shown() {
  return list.ordered(page.sentences, byId("order").value);
}

function showList(going) {
  byId("sentences").hidden = !page.sentences.length;
  list.show(shown(), page.current, going);
}

function open(sentence) {
  const before = page.current;
  Object.assign(page, { current: sentence, selected: null, changed: new Set(), asking: null });
  byId("desk").hidden = false;
  if (before) list.update(before, sentence);
  list.update(sentence, sentence);
  list.scrollTo(sentence);
  render();
  byId("drawing").scrollLeft = 0;
  if (!sentence.asked && model().k_best) reparse(() => {}, false);
}

function step(by) {
  const all = shown();
  const next = all[all.indexOf(page.current) + by];
  if (next) open(next);
}

// ---- the tree -----------------------------------------------------------------------------------------------------

// What the person has said last.
function state() {
  return page.current.history.state;
}

// What the tree on the page is the answer to: the same, unless an answer is awaited.
function seen() {
  return page.current.seen;
}

function tree() {
  return chosen(page.current);
}

function chosen({ data, seen }) {
  return data.trees[seen.choice] ?? data.trees[0];
}

function arcTo(word) {
  return { ...tree().arcs[word - 1], word };
}

function render() {
  const focused = byId("drawing").contains(document.activeElement);
  const svg = draw(page.current.data, tree(), { wishes: seen().wishes, selected: page.selected, changed: page.changed });
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

function form(word) {
  return nameOf(page.current.data, word);
}

function wordNode(word) {
  return byId("drawing").querySelector(`.word[data-word="${word}"]`);
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
    button.addEventListener("click", () => chooseTree(i));
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
  const items = Object.entries(state().wishes).flatMap(([key, wish]) => {
    const word = Number(key);
    const all = wish.notHeads.map((head) => chip(`not ${form(word)} ← ${form(head)}`, "no", allowHead(state(), word, head)));
    if (wish.head !== undefined || wish.label !== undefined) {
      const head = wish.head === undefined ? "" : ` ← ${form(wish.head)}`;
      const label = wish.label === undefined ? "" : `: ${wish.label}`;
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
  button.addEventListener("click", () => correct(without));
  item.append(button);
  return item;
}

function legend() {
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

// ---- corrections --------------------------------------------------------------------------------------------------

function correct(next) {
  page.asking = null;
  page.current.history.push(next);
  page.saved = false;
  reparse(({ history, seen }) => history.dropTo(seen));
}

function chooseTree(i) {
  if (i >= page.current.data.trees.length || i === seen().choice || seen() !== state()) return;
  const before = tree();
  page.current.history.push(choose(state(), i));
  page.current.seen = state();
  page.saved = false;
  noteChanges(before);
  finishChange();
}

// Parse the current sentence with what is said of it; goBack if that is impossible.
async function reparse(goBack, marked = true) {
  const sentence = page.current;
  const before = tree();
  const wanted = state();
  const asked = ++sentence.asked;
  const request = { text: sentence.base, format: "conllu", model: model().name, constraints: constraintsOf(wanted.wishes) };
  render();
  try {
    const [data] = await service.parse({ ...request, k: model().k_best ? TREES : 1 });
    if (asked !== sentence.asked) return;
    Object.assign(sentence, { data, seen: wanted });
    complain(null);
  } catch (error) {
    if (asked !== sentence.asked) return;
    goBack(sentence);
    complain(error);
  }
  if (sentence !== page.current) return;
  if (marked) noteChanges(before);
  finishChange();
}

function noteChanges(before) {
  const words = tree().arcs.map((_, i) => i + 1);
  const same = (a, b) => a.head === b.head && a.label === b.label;
  page.changed = new Set(words.filter((word) => !same(before.arcs[word - 1], tree().arcs[word - 1])));
  const n = page.changed.size;
  say(n === 0 ? "Nothing else changed" : `${n} ${n === 1 ? "arc" : "arcs"} changed`);
}

function finishChange() {
  list.update(page.current, page.current);
  render();
}

function travel(way) {
  const { history } = page.current;
  if (way === "undo" ? !history.canUndo : !history.canRedo) return;
  const before = tree();
  history[way]();
  page.saved = false;
  if (state().wishes !== seen().wishes) {
    reparse(() => history[way === "undo" ? "redo" : "undo"]());
    return;
  }
  page.current.seen = state();
  noteChanges(before);
  finishChange();
}

const actions = {
  keep: (word) => {
    const arc = arcTo(word);
    if (arc.head !== null) correct(require(state(), word, arc.head, arc.label));
  },
  forbid: (word) => {
    const arc = arcTo(word);
    if (arc.head !== null) correct(forbid(state(), word, arc.head));
  },
  relabel: (word, label) => correct(require(state(), word, arcTo(word).head, label)),
  head: (word, head) => correct(require(state(), word, head)),
  letGo: (word) => {
    if (state().wishes[word]) correct(letGo(state(), word));
  },
  ask: (word) => {
    page.asking = word;
    render();
    say(byId("hint").textContent);
  },
};

function openMenu(word, place, first) {
  select(word);
  const { data } = page.current;
  const bound = Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, (...rest) => action(word, ...rest)]));
  menu.openMenu({
    sentence: data,
    arc: arcTo(word),
    wish: state().wishes[word],
    likely: data.heads?.[word - 1] ?? [],
    labels: model().labels,
    place: place ?? placeOf(word),
    first,
    actions: bound,
    closed: () => wordNode(word)?.focus({ preventScroll: true }),
  });
}

function placeOf(word) {
  const box = wordNode(word).getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.bottom };
}

function select(word) {
  page.selected = word;
  render();
  wordNode(word).focus({ preventScroll: true });
  wordNode(word).scrollIntoView({ block: "nearest", inline: "nearest" });
}

function answerHead(head) {
  const word = page.asking;
  page.asking = null;
  if (head === word) render();
  else actions.head(word, head);
}

// ---- mouse and keyboard -------------------------------------------------------------------------------------------

const drawing = byId("drawing");

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
byId("order").addEventListener("change", () => {
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
    return note ? putIn(conllu, sentence.seen.wishes) : conllu;
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

start();
