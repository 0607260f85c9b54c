// What is asked back: values of a sentence that the treebank has nowhere else, or that have the wrong form. They may be right.

const FEATURE = /^[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9]*(,[A-Z0-9][A-Za-z0-9]*)*$/;
const ENOUGH = 200; // words of a treebank that has its tags and labels, more or less
const NAMES = { upos: "UPOS", xpos: "XPOS", deprel: "DEPREL", feats: "FEATS" };

// words: of the sentence; inventory: column -> value -> how often in the file, this sentence included; known: labels and tags that are
// known from elsewhere. Each doubt is {word, column, message}.
export function doubtsOf(words, inventory, known = { deprel: [], upos: [] }) {
  const size = [...inventory.form.values()].reduce((a, b) => a + b, 0);
  return words.flatMap((row) => [...featureDoubts(row), ...(size < ENOUGH ? [] : rareValues(row, words, inventory, known))]);
}

function featureDoubts({ id, feats }) {
  if (feats === "_") return [];
  const items = feats.split("|");
  const say = (message) => ({ word: Number(id), column: "feats", message });
  const wrong = items.filter((item) => !FEATURE.test(item)).map((item) => say(`FEATS: ${item} is not of the form Name=Value`));
  const names = items.map((item) => item.split("=")[0].toLowerCase());
  if (new Set(names).size < names.length) wrong.push(say("FEATS: a feature stands twice"));
  else if (names.some((name, i) => i > 0 && names[i - 1] > name)) wrong.push(say("FEATS: features are not in alphabetical order"));
  return wrong;
}

function rareValues(row, words, inventory, known) {
  return Object.keys(NAMES).flatMap((column) => {
    const values = column === "feats" ? row.feats.split("|") : [row[column]];
    return values
      .filter((value) => value !== "_" && !known[column]?.includes(value))
      .filter((value) => (inventory[column].get(value) ?? 0) <= countIn(words, column, value))
      .map((value) => {
        const likely = nearest(value, [...inventory[column].keys(), ...(known[column] ?? [])].filter((other) => other !== value));
        const hint = likely ? `; did you mean ${likely}?` : "";
        return { word: Number(row.id), column, message: `${NAMES[column]} ${value} is in no other sentence${hint}` };
      });
  });
}

function countIn(words, column, value) {
  return words.filter((word) => (column === "feats" ? word.feats.split("|") : [word[column]]).includes(value)).length;
}

// A value that differs by a letter or two, or null.
export function nearest(value, others) {
  const limit = value.length < 4 ? 1 : 2;
  let best = null;
  for (const other of others) {
    const d = Math.abs(other.length - value.length) > limit ? Infinity : distance(value.toLowerCase(), other.toLowerCase());
    if (d <= limit && (best === null || d < best.d)) best = { d, other };
  }
  return best?.other ?? null;
}

// How many letters must be changed, put in or taken out (Levenshtein).
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}
