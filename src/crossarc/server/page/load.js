// What is typed or opened becomes a file with sentences, and one of them is opened.

import { change, keepAll } from "./changes.js";
import { constraintsIn } from "./misc-column.js";
import { Edits } from "./edits.js";
import { cut, formatOf, withTabs } from "./file.js";
import { loadModels, watchIfLearning } from "./learn.js";
import { showFolder, showSaving } from "./folder.js";
import * as list from "./list.js";
import * as menu from "./menu.js";
import { byId, complain, say } from "./messages.js";
import { summarize } from "./opinions.js";
import { parseSentences, withoutTrees } from "./parsing.js";
import { isMostlyLatin, isRightToLeft } from "./script.js";
import * as service from "./service.js";
import { model, page, sentences, view } from "./state.js";
import * as store from "./store.js";
import { piecesOf, renumbered } from "./text-pieces.js";
import { render, showOpinion } from "./workspace.js";

const EXAMPLE = "A hearing is scheduled on the issue today. The old man the boats. I saw her duck under the table.";

// The models, and what was open last; for the first time, an example if the model reads it.
export async function start() {
  page.order = byId("order").value; // a browser may remember it
  await resume();
  try {
    await loadModels();
  } catch (error) {
    complain(error);
    return;
  }
  byId("parse").disabled = false;
  watchIfLearning().catch(complain);
  if (page.hasFolder) showFolder();
  if (page.file) {
    render();
    showOpinion();
  } else if (readsText() && model().language === "English") {
    byId("text").value = EXAMPLE;
    await openText(EXAMPLE, "example");
  }
}

async function resume() {
  try {
    const [last] = await store.files();
    if (last) await openKept(last.id);
    await showKept();
  } catch (error) {
    complain(cannotKeep(error));
  }
}

function cannotKeep(error) {
  return new Error(`This browser cannot store your work (${error?.message ?? error}): download it before you close the page.`);
}

function readsText() {
  return model().steps.includes("tokenizer");
}

// What was typed: the parser's trees for text, and for sentences of CoNLL-U that have none.
export async function parseTyped() {
  const typed = byId("text").value;
  if (!typed.trim()) return;
  await openContent(typed, "typed");
  if (!page.isLoading && page.file?.name === "typed" && model()) {
    const some = withoutTrees();
    if (some.length) await parseSentences(some, "sentences parsed");
  }
}

export async function openFile(file) {
  const content = await read(file);
  if (content !== null) await openContent(content, file.name);
}

// The content of a file; null if it is not in UTF-8, which is said.
export async function read(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    complain(new Error(`${file.name} is not in UTF-8. Save it in that encoding and open it again.`));
    return null;
  }
}

async function openContent(content, name) {
  const format = formatOf(content);
  byId("read-as").textContent = { conllu: "read as CoNLL-U", spaces: "read as CoNLL-U with spaces instead of tabs", text: "read as text" }[format];
  if (format === "text") await openText(content, name);
  else await openTreebank(format === "spaces" ? withTabs(content) : content, name);
}

// A treebank: its trees are what is shown. If the browser has it already, with the changes that were made to it.
// origin: of a file of the folder, its name and version there; after a save, the version is that of what was saved.
export async function openTreebank(content, name, origin = {}) {
  const isSame = (file) => (origin.folder ? file.folder === name && file.version === origin.version : !file.folder && file.name === name && file.content === content);
  const kept = (await store.files().catch(() => [])).find(isSame);
  if (kept) {
    await store.update(kept.id, { opened: Date.now() });
    await openKept(kept.id);
    await showKept();
    return;
  }
  const file = { name, content, parsed: false, ...origin };
  begin(file, null);
  await keepFile(file);
}

async function keepFile(file) {
  const opened = page.file;
  try {
    opened.id = await store.addFile(file);
    await store.claim(opened.id);
    if (page.file === opened) keepAll();
    await showKept();
  } catch (error) {
    complain(cannotKeep(error));
  }
}

// A file that is open in another window is opened as a copy: two windows cannot write the same log.
export async function openKept(id) {
  const reading = ++page.reading;
  const isOurs = await store.claim(id);
  if (reading !== page.reading) return; // another one was chosen meanwhile
  const own = isOurs ? id : await store.copy(id);
  const kept = await store.readFile(own);
  if (reading !== page.reading) return;
  begin(kept, own, kept.log, kept.now);
  if (isOurs) return;
  await store.claim(own);
  complain(new Error(`${kept.name} is open in another window. This is a copy: what you change here is not changed there.`));
}

// Show a file, with what was changed in it.
function begin({ name, content, parsed, folder = null, version = null }, id, log = [], now = 0) {
  menu.close();
  document.activeElement?.blur(); // what is being written belongs to the file that was open
  page.reading += 1;
  page.version += 1;
  const { bom, eol, blocks } = cut(content);
  page.file = { id, name, bom, eol, folder, version, originals: new Map(blocks.map((block, i) => [i + 1, block])) };
  page.edits = new Edits(blocks.map((block, i) => sentenceOf(block, i + 1, parsed)), log, now);
  Object.assign(page, { current: null, pending: null, asking: null, isLoading: false, compared: null });
  complain(null);
  say("");
  showFile();
  byId("typing").open = !sentences().length || name === "typed" || parsed;
  if (sentences().length) open(list.shown()[0]);
  else byId("workspace").hidden = true;
}

function sentenceOf(block, key, parsed) {
  return { key, text: block.text, fixed: constraintsIn(block.text), parsed };
}

function showFile() {
  showSaving();
  byId("name").textContent = page.file.name;
  list.refresh();
  const missing = withoutTrees().length;
  byId("missing").hidden = !missing || page.isLoading;
  byId("missing-count").textContent = missing === 1 ? "1 sentence has no tree." : `${missing} sentences have no tree.`;
}

// Text is cut, tagged and parsed by the service, piece by piece. What comes back is the file.
async function openText(text, name) {
  if (!model()) return complain(new Error("The service is not running, so that text cannot be parsed."));
  begin({ name: `${name.replace(/\.[^.]*$/, "")}.conllu`, content: "", parsed: true }, null);
  page.isLoading = true;
  if (model().language === "English" && !isMostlyLatin(text)) byId("read-as").textContent = "read as text; it does not look like English, the language of the model";
  const { reading } = page;
  let content = "";
  for (const piece of piecesOf(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"))) {
    let found;
    try {
      found = await service.parse({ text: piece.text, format: "text", model: page.model });
    } catch (error) {
      if (error.line) error.line += piece.lines;
      if (reading === page.reading) complain(error);
      break;
    }
    if (reading !== page.reading) return;
    for (const data of found) content += append(data, piece.lines > 0);
    list.refresh();
    if (page.current === null && sentences().length) open(list.shown()[0]);
    else if (page.current !== null) render();
  }
  page.isLoading = false;
  if (!sentences().length) return;
  showFile();
  render();
  say(sentences().length === 1 ? "1 sentence parsed" : `${sentences().length} sentences parsed`);
  await keepFile({ name: page.file.name, content, parsed: true });
}

// A sentence more; as it stands in the file.
function append(data, goesOn) {
  const key = page.file.originals.size + 1;
  const raw = renumbered(data.trees[0].conllu, key, goesOn);
  const block = { raw, text: raw.trimEnd(), line: 0 };
  const sentence = sentenceOf(block, key, true);
  page.file.originals.set(key, block);
  page.edits.sentences.push(sentence);
  summarize(sentence, data);
  page.version += 1;
  return raw;
}

// The files that the browser has.
export async function showKept() {
  const files = await store.files();
  const options = files.map((file) => {
    const edits = file.now === 0 ? "" : file.now === 1 ? ", 1 change" : `, ${file.now} changes`;
    return new Option(`${file.name} (${new Date(file.opened).toLocaleDateString()}${edits})`, file.id, false, file.id === page.file?.id);
  });
  byId("kept").replaceChildren(...options);
  byId("kept-files").hidden = !files.length;
}

export async function forgetKept() {
  const { id, name } = page.file;
  if (!confirm(`Delete ${name} and its changes from this browser?`)) return;
  await store.forget(id);
  location.reload();
}

// All sentences as they came; that can be undone.
export function startOver() {
  const { originals } = page.file;
  const fresh = [...originals].map(([key, block]) => sentenceOf(block, key, sentences().find((one) => one.key === key)?.parsed ?? false));
  change({ at: 0, old: [...sentences()], new: fresh, what: "started over" });
}

export function open(sentence) {
  Object.assign(page, { current: sentence.key, selected: null, changed: new Set(), asking: null, pending: null });
  byId("workspace").hidden = false;
  list.refresh();
  list.scrollTo(sentence);
  render();
  const drawing = byId("drawing");
  drawing.scrollTo({ top: 0, left: isRightToLeft(view(sentence).text) ? drawing.scrollWidth : 0, behavior: "instant" });
  showOpinion();
}

export function step(by) {
  const next = list.beside(by);
  if (next) open(next);
}
