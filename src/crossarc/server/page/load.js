// What is typed becomes sentences, and one of them is opened.

import { reparse } from "./corrections.js";
import { History, constraintsForService } from "./history.js";
import { formatOf, normal, piecesOf } from "./input.js";
import * as list from "./list.js";
import * as menu from "./menu.js";
import { byId, complain, say } from "./messages.js";
import { takeConstraints } from "./misc-column.js";
import * as service from "./service.js";
import { model, page, shown } from "./state.js";
import { render } from "./workspace.js";

const EXAMPLE = "A hearing is scheduled on the issue today. The old man the boats. I saw her duck under the table.";
const TAGGED = [
  ["A", "DET"], ["hearing", "NOUN"], ["is", "AUX"], ["scheduled", "VERB"], ["on", "ADP"], ["the", "DET"],
  ["issue", "NOUN"], ["today", "NOUN"], [".", "PUNCT"],
].map(([form, tag], i) => `${i + 1}\t${form}\t_\t${tag}\t_\t_\t_\t_\t_\t_`).join("\n");

// The models, and an example.
export async function start() {
  try {
    const { models, default: first } = await service.models();
    for (const model of models) {
      page.models.set(model.name, model);
      byId("model").append(new Option(model.name, model.name, false, model.name === first));
    }
    page.model = first;
    page.order = byId("order").value; // a browser may remember it
    byId("text").value = readsText() ? EXAMPLE : `${TAGGED}\n`;
    await parseInput();
  } catch (error) {
    complain(error);
  }
}

function readsText() {
  return model().steps.includes("tokenizer");
}

export async function parseInput() {
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
  byId("workspace").hidden = byId("sentences").hidden = true;
  for (const piece of piecesOf(text)) {
    const { text, constraints } = format === "conllu" ? takeConstraints(piece.text) : { text: piece.text, constraints: [] };
    let found;
    try {
      const all = constraints.flatMap((own, i) => constraintsForService(own, i + 1));
      found = await service.parse({ text, format, model: model().name, constraints: all });
    } catch (error) {
      if (error.line) error.line += piece.lines;
      if (reading === page.reading) complain(error);
      break;
    }
    if (reading !== page.reading) return;
    for (const [i, data] of found.entries()) {
      if (format === "text") renumber(data, page.sentences.length + 1, piece.lines > 0);
      const history = new History(constraints[i]);
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

export function showList(going) {
  byId("sentences").hidden = !page.sentences.length;
  list.show(shown(), page.current, going);
}

export function open(sentence) {
  const before = page.current;
  Object.assign(page, { current: sentence, selected: null, changed: new Set(), asking: null });
  byId("workspace").hidden = false;
  if (before) list.update(before, sentence);
  list.update(sentence, sentence);
  list.scrollTo(sentence);
  render();
  byId("drawing").scrollLeft = 0;
  if (!sentence.asked && model().k_best) reparse(() => {}, false);
}

export function step(by) {
  const all = shown();
  const next = all[all.indexOf(page.current) + by];
  if (next) open(next);
}
