// The list of sentences.

import { uncertainty } from "./sentences.js";

const FULL = 1; // nats for each word that fill the bar

const list = document.getElementById("list");
const count = document.getElementById("count");

export function show(sentences, current, total) {
  count.textContent = total ? `${sentences.length.toLocaleString("en")} sentences so far` : counted(sentences.length);
  list.replaceChildren(...sentences.map((sentence) => item(sentence, sentence === current)));
}

// Mark the sentence that is open, and what is known of it now.
export function update(sentence, current) {
  list.querySelector('[aria-current="true"]')?.removeAttribute("aria-current");
  list.querySelector(`[data-sentence="${sentence.number}"]`)?.parentElement.replaceWith(item(sentence, sentence === current));
}

export function scrollTo(sentence) {
  list.querySelector(`[data-sentence="${sentence.number}"]`)?.scrollIntoView({ block: "nearest" });
}

function counted(n) {
  return n === 1 ? "1 sentence" : `${n.toLocaleString("en")} sentences`;
}

function item(sentence, open) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.sentence = sentence.number;
  if (open) button.setAttribute("aria-current", "true");
  button.append(span("number", String(sentence.number)), span("words", sentence.first.text));
  const unsure = span("unsure", "");
  const value = uncertainty(sentence);
  if (value !== null) {
    const bar = span("bar", "");
    bar.style.setProperty("--share", Math.min(value / FULL, 1));
    unsure.title = "How unsure the parser is: entropy of all trees for each word, in nats";
    unsure.append(value.toFixed(2), bar);
  }
  if (!sentence.history.isEmpty) unsure.append(span("corrected", "edited"));
  button.append(unsure);
  const li = document.createElement("li");
  li.append(button);
  return li;
}

function span(className, textContent) {
  return Object.assign(document.createElement("span"), { className, textContent });
}
