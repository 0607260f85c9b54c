// The list of sentences. Only what can be seen of it is in the page, so that it may be long.

import { hasNoArc } from "./conllu.js";
import { summaryOf } from "./opinions.js";
import { percent } from "./probability.js";
import { matches, termsOf } from "./search.js";
import { isChanged, page, placeOf, sentences, view } from "./state.js";
import { noteOf, stateOf } from "./states.js";
import { hasCrossingArcs, sameArc } from "./trees.js";

const HEIGHT = 62; // pixels of an item
const SPARE = 6; // items above and below those that are seen
const FULL = 1; // nats for each word that fill the bar

const list = document.getElementById("list");
const count = document.getElementById("count");
let items = []; // the sentences of the list, in its order

// The sentences that are wanted, in the order that is wanted.
export function shown() {
  const all = wanted();
  if (page.order === "file") return all;
  const place = new Map(all.map((sentence, i) => [sentence, i]));
  const unsure = new Map(all.map((sentence) => [sentence, summaryOf(sentence)?.unsure ?? -1]));
  return all.sort((a, b) => unsure.get(b) - unsure.get(a) || place.get(a) - place.get(b));
}

// The sentences of the list, as it is now.
export function listed() {
  return items;
}

// The sentence that is so many places further in the list. If the open one is not in it: the nearest that is, in the order of the file.
export function beside(by) {
  const at = items.findIndex((sentence) => sentence.key === page.current);
  if (at >= 0) return items[at + by];
  const places = new Map(sentences().map((sentence, i) => [sentence.key, i]));
  const isFurther = (sentence) => (places.get(sentence.key) - places.get(page.current)) * by > 0;
  return by > 0 ? items.find(isFurther) : items.findLast(isFurther);
}

// The sentences that were searched for.
function wanted() {
  const terms = termsOf(page.query);
  return terms.length ? sentences().filter((sentence) => matches(terms, factsOf(sentence))) : [...sentences()];
}

function factsOf(sentence) {
  const seen = view(sentence);
  return {
    text: seen.text,
    words: seen.words,
    sentId: seen.sentId,
    state: stateOf(seen),
    note: noteOf(seen),
    changed: isChanged(sentence),
    disagrees: summaryOf(sentence)?.disagrees > 0,
    different: isDifferent(sentence, seen),
    crossing: hasCrossingArcs(seen.arcs),
    error: seen.problems.length > 0,
    parsed: sentence.parsed,
    treeless: hasNoArc(seen),
  };
}

// Whether the other file has another tree for it.
function isDifferent(sentence, { arcs }) {
  const other = page.compared?.others.get(sentence.key);
  return Boolean(other?.arcs.some((arc, i) => !sameArc(arc, arcs[i])));
}

export function refresh() {
  items = shown();
  count.textContent = page.isLoading ? `${number(sentences().length)} sentences so far` : counted(sentences().length);
  if (page.query.trim()) count.textContent = `${number(items.length)} of ${counted(sentences().length)}`;
  document.getElementById("sentences").hidden = !sentences().length;
  fill();
}

// Put the items that can be seen into the page.
function fill() {
  const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - SPARE);
  const last = Math.min(items.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + SPARE);
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.sentence : null;
  const rows = items.slice(first, last).map((sentence, i) => item(sentence, first + i));
  list.replaceChildren(...rows);
  if (rows.length) {
    rows[0].style.marginTop = `${first * HEIGHT}px`;
    rows.at(-1).style.marginBottom = `${(items.length - last) * HEIGHT}px`;
  }
  if (focused) list.querySelector(`[data-sentence="${focused}"]`)?.focus({ preventScroll: true });
}

list.addEventListener("scroll", fill);

export function scrollTo(sentence) {
  const place = items.findIndex((other) => other.key === sentence.key);
  if (place < 0) return;
  const top = place * HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
  fill();
}

function number(n) {
  return n.toLocaleString("en");
}

function counted(n) {
  return n === 1 ? "1 sentence" : `${number(n)} sentences`;
}

function item(sentence, place) {
  const { text, problems } = view(sentence);
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.sentence = sentence.key;
  if (sentence.key === page.current) button.setAttribute("aria-current", "true");
  const words = span("words", text);
  words.dir = "auto";
  button.append(span("number", number(placeOf(sentence) + 1)), words, remarks(sentence, problems));
  const li = document.createElement("li");
  li.setAttribute("aria-setsize", items.length);
  li.setAttribute("aria-posinset", place + 1);
  li.append(button);
  return li;
}

// What there is to say of a sentence beside its words.
function remarks(sentence, problems) {
  const found = span("unsure", "");
  const summary = summaryOf(sentence);
  if (summary && summary.unsure !== null) {
    const bar = span("bar", "");
    bar.style.setProperty("--share", Math.min(summary.unsure / FULL, 1));
    found.title = "How unsure the parser is: entropy of all trees for each word, in nats";
    if (summary.least !== null) found.title += `; the least certain arc has ${percent(summary.least)}`;
    found.append(summary.unsure.toFixed(2), bar);
  }
  if (problems.length) found.append(span("wrong", problems.length === 1 ? "1 error" : `${problems.length} errors`));
  const state = stateOf(view(sentence));
  if (state !== "open") found.append(Object.assign(span(`state ${state}`, state === "accepted" ? "✓" : "?"), { title: state }));
  if (noteOf(view(sentence))) found.append(span("noted", "note"));
  if (sentence.parsed && !Object.keys(sentence.fixed).length) found.append(span("corrected", "parsed"));
  else if (isChanged(sentence)) found.append(span("corrected", "edited"));
  return found;
}

function span(className, textContent) {
  return Object.assign(document.createElement("span"), { className, textContent });
}
