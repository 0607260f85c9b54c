// The parser's trees for sentences that ask for them, and its opinion of all sentences.

import { change } from "./changes.js";
import { hasNoArc, hasTree } from "./conllu.js";
import { constraintsForService } from "./constraints.js";
import { together } from "./edits.js";
import * as list from "./list.js";
import { byId, complain, say } from "./messages.js";
import { ask, opinionOf, summarize, summaryOf } from "./opinions.js";
import * as service from "./service.js";
import { current, model, page, sentences, view } from "./state.js";
import { withTree } from "./trees.js";
import { render } from "./workspace.js";

const PIECE = 40_000; // characters of a request
const FEW = 60; // sentences of a request

export function withoutTrees() {
  return sentences().filter((sentence) => hasNoArc(view(sentence)));
}

// Pieces of some sentences, each small enough for a request.
function piecesOf(some) {
  const pieces = [[]];
  let size = 0;
  for (const sentence of some) {
    if (pieces.at(-1).length >= FEW || (size + sentence.text.length > PIECE && pieces.at(-1).length)) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1).push(sentence);
    size += sentence.text.length;
  }
  return pieces;
}

// What the service says of some sentences, piece by piece: done(sentence, data). False if it was stopped or refused.
async function askAll(some, options, done) {
  const { reading } = page;
  let count = 0;
  for (const piece of piecesOf(some)) {
    const text = piece.map((sentence) => `${sentence.text}\n\n`).join("");
    const constraints = piece.flatMap((sentence, i) => constraintsForService(options.judge ? {} : sentence.fixed, model().labels, i + 1));
    let found;
    try {
      found = await service.parse({ text, format: "conllu", model: page.model, constraints, ...options });
    } catch (error) {
      error.line = null; // it is one of the piece
      if (reading === page.reading) complain(error);
      return false;
    }
    if (reading !== page.reading) return false;
    piece.forEach((sentence, i) => done(sentence, found[i]));
    count += piece.length;
    byId("progress").textContent = count < some.length ? `${count.toLocaleString("en")} of ${some.length.toLocaleString("en")} …` : "";
  }
  return true;
}

// The parser's trees for these sentences, as one edit.
export async function parseSentences(some, what) {
  if (!some.length) return;
  byId("drawing").setAttribute("aria-busy", "true");
  const changed = new Map();
  const before = new Map(some.map((sentence) => [sentence.key, sentence]));
  await askAll(some, {}, (sentence, data) => {
    const next = { ...sentence, text: withTree(sentence.text, data.trees[0].conllu, sentence.fixed), parsed: true };
    changed.set(sentence.key, next);
    summarize(next, data);
  });
  for (const sentence of sentences()) {
    if (changed.has(sentence.key) && before.get(sentence.key) !== sentence) changed.delete(sentence.key); // edited meanwhile
  }
  byId("progress").textContent = "";
  if (changed.size) change(together(sentences(), changed, what));
  else render();
  say(`${changed.size} ${changed.size === 1 ? "sentence" : "sentences"} parsed`);
}

// What the parser thinks of every sentence that it was not asked about yet.
export async function judgeAll() {
  const some = sentences().filter((sentence) => !view(sentence).isBroken && !summaryOf(sentence));
  if (!some.length) return;
  await askAll(some, { judge: true }, summarize);
  list.refresh();
  render();
}

// What it thinks of the open one.
export async function judgeCurrent() {
  const sentence = current();
  if (!sentence || !model() || opinionOf(sentence) || view(sentence).isBroken) return;
  if (!hasTree(view(sentence)) && !model().k_best) return;
  try {
    await ask(sentence);
  } catch (error) {
    if (sentence === current()) complain(error);
    return;
  }
  if (sentence !== current()) return;
  list.refresh();
  render();
}
