// A sentence of CoNLL-U as data: its comments, and its rows of ten columns. What is not changed is written as it came.

import { formatProblems, graphProblems, treeProblems } from "./problems.js";

export const COLUMNS = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

// The comments and rows of a sentence without errors in its format.
export function parse(text) {
  const comments = [];
  const rows = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) comments.push(line);
    else rows.push(Object.fromEntries(line.split("\t").map((value, i) => [COLUMNS[i], value])));
  }
  return { comments, rows };
}

export function format({ comments, rows }) {
  return [...comments, ...rows.map((row) => COLUMNS.map((name) => row[name]).join("\t"))].join("\n");
}

export const isWord = (row) => /^[0-9]+$/.test(row.id);
export const isToken = (row) => row.id.includes("-");
export const isEmptyNode = (row) => row.id.includes(".");

// The first and last word of a multiword token.
export function spanOf(row) {
  return row.id.split("-").map(Number);
}

// What a comment says: "# name = value".
export function metadata({ comments }, name) {
  for (const comment of comments) {
    const [found, ...value] = comment.slice(1).split("=");
    if (value.length && found.trim() === name) return value.join("=").trim();
  }
  return null;
}

// The sentence with that comment in the place of the old one, or at the end of the comments; null takes it away.
export function withMetadata(sentence, name, value) {
  const is = (comment) => comment.includes("=") && comment.slice(1).split("=")[0].trim() === name;
  const comments = sentence.comments.filter((comment) => !is(comment));
  const at = sentence.comments.findIndex(is);
  if (value !== null) comments.splice(at < 0 ? comments.length : at, 0, `# ${name} = ${value}`);
  return { ...sentence, comments };
}

// The sentence as people write it: its comment "# text", or its tokens with spaces between them.
export function textOf(sentence) {
  return metadata(sentence, "text") ?? spelled(sentence.rows);
}

// The tokens of some rows, with spaces where MISC does not say that there is none.
export function spelled(rows) {
  let text = "";
  let covered = 0;
  for (const row of rows) {
    if (isEmptyNode(row) || (isWord(row) && Number(row.id) <= covered)) continue;
    if (isToken(row)) covered = spanOf(row)[1];
    text += row.form + (row.misc.split("|").includes("SpaceAfter=No") ? "" : " ");
  }
  return text.trimEnd();
}

// All that the page shows of a sentence. If its format has errors: only those, and its lines.
export function viewOf(text) {
  const lines = text.split("\n");
  const inFormat = formatProblems(lines);
  if (inFormat.length) {
    const sentId = metadata({ comments: lines.filter((line) => line.startsWith("#")) }, "sent_id");
    return { isBroken: true, text: excerptOf(text), sentId, problems: inFormat, words: [], tokens: [], nodes: [], arcs: [] };
  }
  const sentence = parse(text);
  const words = sentence.rows.filter(isWord);
  return {
    ...sentence,
    isBroken: false,
    text: textOf(sentence),
    sentId: metadata(sentence, "sent_id"),
    words,
    tokens: sentence.rows.filter(isToken).map((row) => ({ first: spanOf(row)[0], last: spanOf(row)[1], form: row.form })),
    nodes: sentence.rows.filter(isEmptyNode),
    arcs: words.map(({ head, deprel }) => ({ head: head === "_" ? null : Number(head), label: deprel })),
    problems: [...treeProblems(words), ...graphProblems(sentence.rows)],
  };
}

// Words of a sentence whose lines cannot be read as columns.
function excerptOf(text) {
  const named = text.match(/^# text = (.*)$/m);
  if (named) return named[1];
  const rows = text.split("\n").filter((line) => !line.startsWith("#"));
  return rows.map((line) => line.split("\t")[1] ?? line).join(" ").slice(0, 200);
}

// Whether every word has a head.
export function hasTree(view) {
  return !view.isBroken && view.arcs.every((arc) => arc.head !== null);
}

export function hasNoArc(view) {
  return !view.isBroken && view.arcs.every((arc) => arc.head === null);
}
