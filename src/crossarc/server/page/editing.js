// Whatever a person does to words, tokens and sentences; each is one edit.

import { change, changeSentence } from "./changes.js";
import { columnOf, pairsOf } from "./column-lists.js";
import { format, parse, viewOf } from "./conllu.js";
import { require } from "./constraints.js";
import { doubtsOf } from "./doubts.js";
import { UPOS, inventory } from "./inventory.js";
import { complain } from "./messages.js";
import { formatProblems } from "./problems.js";
import { askFor } from "./question.js";
import { current, model, newKey, page, placeOf, sentences, view } from "./state.js";
import * as structure from "./structure.js";
import { render, select } from "./workspace.js";

// The open sentence becomes what make(sentence) says; words are counted anew, so nothing is said of arcs any more.
function restructure(what, make, word = page.selected) {
  attempt(() => {
    changeSentence({ text: format(make(parse(current().text))), fixed: {}, parsed: false }, what);
    if (word) select(Math.min(word, view().words.length));
  });
}

// What cannot be done is said, and nothing is changed.
function attempt(action) {
  try {
    action();
    complain(null);
  } catch (error) {
    complain(error);
  }
}

const formOf = (word) => view().words[word - 1].form;

export const edits = {
  splitWord: async (word) => {
    const covered = view().tokens.some(({ first, last }) => first <= word && word <= last);
    const answer = await askFor(`Split “${formOf(word)}”: write its parts with spaces between them`, {
      value: formOf(word),
      check: covered ? "" : "these parts are written as one token",
    });
    if (answer) restructure("word split", (sentence) => structure.splitWord(sentence, word, answer.text.split(/\s+/), answer.isChecked), word);
  },
  joinWords: (word) => restructure("words joined", (sentence) => structure.joinWords(sentence, word), word),
  insertWord: async (word) => {
    const answer = await askFor(`A new word after “${formOf(word)}”`, { check: "before it instead" });
    const after = answer?.isChecked ? word - 1 : word;
    if (answer?.text) restructure("word inserted", (sentence) => structure.insertWord(sentence, after, answer.text), after + 1);
  },
  deleteWord: (word) => restructure("word deleted", (sentence) => structure.deleteWord(sentence, word), word),
  token: async (word) => {
    const token = view().tokens.find(({ first, last }) => first <= word && word <= last);
    if (token) {
      restructure("multiword token taken apart", (sentence) => structure.removeToken(sentence, `${token.first}-${token.last}`), word);
      return;
    }
    const most = view().words.length - word + 1;
    if (most < 2) return complain(new Error("There is no word after this one."));
    const joined = (n) => view().words.slice(word - 1, word - 1 + n).map((one) => one.form).join("");
    const answer = await askFor(`How “${formOf(word)}” and what follows are written as one token`, {
      value: joined(2),
      count: { text: "Number of words", least: 2, most, value: joined },
    });
    if (answer?.text) restructure("multiword token made", (sentence) => structure.addToken(sentence, word, word + answer.count - 1, answer.text), word);
  },
  emptyNode: (word) => restructure("empty node inserted", (sentence) => structure.addEmptyNode(sentence, word), word),
  emptyNodeBefore: (word) => restructure("empty node inserted", (sentence) => structure.addEmptyNode(sentence, word - 1), word),
  removeRow: (id) =>
    restructure("row deleted", (sentence) => {
      if (id.includes("-")) return structure.removeToken(sentence, id);
      return id.includes(".") ? structure.removeEmptyNode(sentence, id) : structure.deleteWord(sentence, Number(id));
    }),
  splitSentence: (word) =>
    attempt(() => {
      const sentence = current();
      const [first, second] = structure.splitSentence(parse(sentence.text), word).map(format);
      const halves = [
        { ...sentence, text: first, fixed: {}, parsed: false },
        { key: newKey(), text: second, fixed: {}, parsed: false },
      ];
      change({ at: placeOf(sentence), old: [sentence], new: halves, what: "sentence split" });
    }),
  joinSentences: () =>
    attempt(() => {
      const at = placeOf(current());
      const both = sentences().slice(at, at + 2);
      if (both.length < 2) throw new Error("There is no sentence after this one.");
      if (both.some((sentence) => view(sentence).isBroken)) throw new Error("A sentence with errors cannot be joined: mend it first.");
      const text = format(structure.joinSentences(...both.map((sentence) => parse(sentence.text))));
      change({ at, old: both, new: [{ ...both[0], text, fixed: {}, parsed: false }], what: "sentences joined" });
    }),
};

// A cell of the table. An arc that is written there is the person's.
export function editCell(id, column, value) {
  const sentence = current();
  const changed = structure.withCell(parse(sentence.text), id, column, value);
  const text = format(changed);
  if (text === sentence.text) return;
  const [problem] = formatProblems(text.split("\n"));
  if (problem) return refuse(problem);
  let { fixed } = sentence;
  const row = changed.rows.find((one) => one.id === id);
  if ((column === "head" || column === "deprel") && /^[0-9]+$/.test(id) && /^[0-9]+$/.test(row.head)) {
    fixed = require(fixed, Number(id), Number(row.head), row.deprel);
  }
  changeSentence({ text, fixed }, `${column.toUpperCase()} of ${row.form}`);
}

// What would make the sentence unreadable is not taken.
function refuse({ message }) {
  complain(new Error(message));
  document.activeElement?.blur();
  render();
}

// What would be wrong with a cell if it said this: structure, or a value that is asked back.
export function problemsOfCell(id, column, value) {
  const text = format(structure.withCell(parse(current().text), id, column, value));
  const [problem] = formatProblems(text.split("\n"));
  if (problem) return problem.message;
  const changed = viewOf(text);
  const found = [...changed.problems, ...doubtsOf(changed.words, inventory(), { deprel: model()?.labels ?? [], upos: UPOS })];
  return found.filter((one) => one.word === Number(id) && one.column === column).map((one) => one.message).join("; ");
}

// All comments of the sentence, as lines.
export function editComments(lines) {
  const comments = lines.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => (line.startsWith("#") ? line : `# ${line}`));
  const text = format({ ...parse(current().text), comments });
  if (text !== current().text) changeSentence({ text }, "comments");
}

// One more head of a word, in DEPS; the arc of the tree is there too.
export function addHead(word, head) {
  const { deps, head: own, deprel } = view().words[word - 1];
  const pairs = deps === "_" && own !== "_" ? [[own, deprel]] : pairsOf(deps, "deps");
  if (!pairs.some(([other]) => other === head)) pairs.push([head, head === "0" ? "root" : "dep"]);
  editCell(String(word), "deps", columnOf(pairs, "deps"));
}
