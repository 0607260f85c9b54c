// The list of sentences: in the order of the text, or the least certain first.

const FULL = 1; // nats for each word that fill the bar

const list = document.getElementById("list");
const count = document.getElementById("count");

// How unsure the parser is: nats for each word, so that long sentences are not first.
export function uncertainty(sentence) {
  return sentence.first.entropy === null ? null : sentence.first.entropy / Math.max(1, sentence.first.words.length);
}

export function ordered(sentences, order) {
  if (order === "file") return [...sentences];
  return [...sentences].sort((a, b) => (uncertainty(b) ?? 0) - (uncertainty(a) ?? 0) || a.number - b.number);
}

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
