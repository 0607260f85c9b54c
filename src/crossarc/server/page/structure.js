// Words, tokens, empty nodes and sentences are split, joined, put in and taken out; ids, heads and DEPS follow. A sentence is
// {comments, rows} as in conllu.js; what cannot be done throws an Error that says why.

import { isEmptyNode, isToken, isWord, metadata, spanOf, spelled, withMetadata } from "./conllu.js";
import { compareIds } from "./problems.js";
import { movedDeps } from "./trees.js";

const BLANK = { lemma: "_", upos: "_", xpos: "_", feats: "_", head: "_", deprel: "_", deps: "_", misc: "_" };

// A word in several; asToken: what it was written as stays a token, with these words in it.
export function splitWord(sentence, word, forms, asToken) {
  if (forms.length < 2) throw new Error("Write the parts with a space between them.");
  const { items, tokens } = takeApart(sentence);
  const at = items.findIndex((item) => item.was.includes(String(word)));
  const old = items[at].row;
  const covering = tokens.find((token) => token.first <= at && at <= token.last);
  const close = !asToken && !covering;
  const parts = forms.map((form, i) => {
    const isLast = i === forms.length - 1;
    const misc = isLast && close ? old.misc : close ? "SpaceAfter=No" : covering && i === 0 ? old.misc : "_";
    if (i === 0) return { row: { ...old, form, misc }, was: [String(word)] };
    return { row: { ...BLANK, form, misc, head: old.head === "_" ? "_" : String(word), deprel: old.head === "_" ? "_" : "dep" }, was: [] };
  });
  const more = parts.length - 1;
  const moved = tokens.map((token) => ({ ...token, first: token.first + (token.first > at ? more : 0), last: token.last + (token.last >= at ? more : 0) }));
  if (asToken && !covering) moved.push({ row: { ...BLANK, form: old.form, misc: old.misc }, first: at, last: at + more });
  return putTogether(sentence, [...items.slice(0, at), ...parts, ...items.slice(at + 1)], moved);
}

// A word and the next one in one; its columns are those of the one that is nearer to the root.
export function joinWords(sentence, word) {
  const { items, tokens } = takeApart(sentence);
  const at = items.findIndex((item) => item.was.includes(String(word)));
  const next = items.findIndex((item) => item.was.includes(String(word + 1)));
  if (next < 0) throw new Error("There is no word after this one.");
  const [a, b] = [items[at].row, items[next].row];
  const outer = depth(sentence, b) < depth(sentence, a) ? b : a;
  const covering = tokens.find((token) => token.first === at && token.last === next);
  const isClose = a.misc.split("|").includes("SpaceAfter=No") || tokens.some((token) => token.first <= at && next <= token.last);
  const lemma = a.lemma === "_" || b.lemma === "_" ? outer.lemma : a.lemma + (isClose ? "" : " ") + b.lemma;
  const form = covering ? covering.row.form : a.form + (isClose ? "" : " ") + b.form;
  const joined = { row: { ...outer, form, lemma, misc: covering ? covering.row.misc : b.misc }, was: [String(word), String(word + 1)] };
  const rest = [...items.slice(0, at), joined, ...items.slice(at + 1, next), ...items.slice(next + 1)];
  const moved = tokens.filter((token) => token !== covering).map((token) => ({ ...token, first: token.first - (token.first >= next), last: token.last - (token.last >= next) }));
  return putTogether(sentence, rest, moved);
}

// How many arcs there are from the root to a word; in a cycle, as many as words.
function depth({ rows }, row) {
  let [arcs, at] = [0, row];
  while (at && at.head !== "0" && at.head !== "_" && arcs < rows.length) [arcs, at] = [arcs + 1, rows.find((other) => other.id === at.head)];
  return arcs;
}

// A word more, after this one (0: before all).
export function insertWord(sentence, after, form) {
  const { items, tokens } = takeApart(sentence);
  const found = items.findLastIndex((item) => item.was.some((id) => Number(id.split(".")[0]) <= after));
  const at = after === 0 ? items.filter((item) => item.was[0].startsWith("0.")).length : found + 1;
  const head = items.some((item) => item.row.head !== "_" && !item.isNode) ? String(after || 1) : "_";
  const one = { row: { ...BLANK, form, head, deprel: head === "_" ? "_" : "dep" }, was: [] };
  const moved = tokens.map((token) => ({ ...token, first: token.first + (token.first >= at), last: token.last + (token.last >= at) }));
  return respelled(sentence, putTogether(sentence, [...items.slice(0, at), one, ...items.slice(at)], moved));
}

// A word less; its dependents go to its head.
export function deleteWord(sentence, word) {
  const { items, tokens } = takeApart(sentence);
  if (items.filter((item) => !item.isNode).length === 1) throw new Error("A sentence must have a word.");
  const at = items.findIndex((item) => item.was.includes(String(word)));
  const moved = tokens
    .map((token) => ({ ...token, first: token.first - (token.first > at), last: token.last - (token.last >= at) }))
    .filter((token) => token.first < token.last);
  const rest = items.filter((_, i) => i !== at);
  const { head } = items[at].row;
  return respelled(sentence, putTogether(sentence, rest, moved, new Map([[String(word), head === "_" ? "0" : head]])));
}

// Words first to last, written as one.
export function addToken(sentence, first, last, form) {
  if (sentence.rows.some((row) => isToken(row) && spanOf(row)[0] <= last && first <= spanOf(row)[1])) {
    throw new Error("There is a multiword token over these words already.");
  }
  if (last <= first || !sentence.rows.some((row) => row.id === String(last))) throw new Error("A multiword token needs two words at least.");
  const at = sentence.rows.findIndex((row) => row.id === String(first));
  const row = { ...BLANK, id: `${first}-${last}`, form, misc: sentence.rows.find((one) => one.id === String(last)).misc };
  const rows = sentence.rows.map((one) => (isWord(one) && first <= Number(one.id) && Number(one.id) <= last ? withoutSpace(one) : one));
  return respelled(sentence, { ...sentence, rows: [...rows.slice(0, at), row, ...rows.slice(at)] });
}

function withoutSpace(row) {
  const misc = row.misc.split("|").filter((item) => item !== "SpaceAfter=No").join("|");
  return { ...row, misc: misc || "_" };
}

export function removeToken(sentence, id) {
  return respelled(sentence, { ...sentence, rows: sentence.rows.filter((row) => row.id !== id) });
}

// An empty node after a word.
export function addEmptyNode(sentence, after) {
  const { items, tokens } = takeApart(sentence);
  const found = items.findLastIndex((item) => item.was.some((id) => Number(id.split(".")[0]) <= after));
  const moved = tokens.map((token) => ({ ...token, first: token.first + (token.first > found), last: token.last + (token.last > found) }));
  const node = { row: { ...BLANK, form: "_" }, was: [], isNode: true };
  return putTogether(sentence, [...items.slice(0, found + 1), node, ...items.slice(found + 1)], moved);
}

export function removeEmptyNode(sentence, id) {
  const { items, tokens } = takeApart(sentence);
  const at = items.findIndex((item) => item.was.includes(id));
  const moved = tokens.map((token) => ({ ...token, first: token.first - (token.first > at), last: token.last - (token.last >= at) }));
  return putTogether(sentence, items.filter((_, i) => i !== at), moved);
}

// Two sentences: up to the word before this one, and from it. Words whose head is in the other one become roots.
export function splitSentence(sentence, word) {
  const isBefore = (row) => (isToken(row) ? spanOf(row)[0] : Number(row.id.split(".")[0])) < word;
  const parts = [sentence.rows.filter(isBefore), sentence.rows.filter((row) => !isBefore(row))];
  if (parts.some((rows) => !rows.some(isWord))) throw new Error("A sentence must have a word: choose a word after the first.");
  if (parts[0].some((row) => isToken(row) && spanOf(row)[1] >= word)) throw new Error("A multiword token cannot be in two sentences.");
  const name = metadata(sentence, "sent_id");
  return parts.map((rows, i) => {
    const { items, tokens } = takeApart({ rows });
    const outside = new Map(parts[1 - i].filter((row) => !isToken(row)).map((row) => [row.id, "0"]));
    const comments = i === 0 ? sentence.comments : [];
    let part = putTogether({ comments, rows }, items, tokens, outside);
    if (i === 1 && name !== null) part = withMetadata(part, "sent_id", `${name}-2`);
    return metadata(sentence, "text") === null ? part : withMetadata(part, "text", spelled(part.rows));
  });
}

// Two sentences as one. The roots of the second depend on the root of the first.
export function joinSentences(first, second) {
  const n = first.rows.filter(isWord).length;
  const root = first.rows.find((row) => isWord(row) && row.head === "0")?.id ?? null;
  const shift = (id) => (id === "0" || id === "_" ? id : id.replace(/^[0-9]+/, (word) => Number(word) + n).replace(/-([0-9]+)$/, (_, word) => `-${Number(word) + n}`));
  const rows = second.rows.map((row) => {
    const isRoot = isWord(row) && row.head === "0" && root !== null;
    const deps = mapped(row.deps, (id) => (id === "0" && root !== null ? root : shift(id)), isRoot ? "parataxis" : null);
    return { ...row, id: shift(row.id), head: isRoot ? root : shift(row.head), deprel: isRoot ? "parataxis" : row.deprel, deps };
  });
  const own = second.comments.filter((comment) => !/^# *(sent_id|text) *=/.test(comment));
  const joined = { comments: [...first.comments, ...own], rows: [...first.rows, ...rows] };
  if (metadata(first, "text") === null) return joined;
  const after = first.rows.at(-1).misc.split("|").includes("SpaceAfter=No") ? "" : " ";
  return withMetadata(joined, "text", metadata(first, "text") + after + (metadata(second, "text") ?? spelled(second.rows)));
}

// One column of a row. The text of the sentence goes along if it was the spelling of its tokens; so does an arc of DEPS that was the tree's.
export function withCell(sentence, id, column, value) {
  const clean = value.replace(/[\t\n\r]+/g, " ").trim() || "_";
  const rows = sentence.rows.map((row) => (row.id === id ? rowWithCell(row, column, clean) : row));
  return respelled(sentence, { ...sentence, rows });
}

function rowWithCell(row, column, value) {
  const changed = { ...row, [column]: value };
  const isOfArc = (column === "head" || column === "deprel") && isWord(row) && changed.head !== "_" && changed.deprel !== "_";
  return isOfArc ? { ...changed, deps: movedDeps(row, changed.head, changed.deprel) } : changed;
}

// The sentence afterwards, with a text that is its spelling if it was so before.
function respelled(before, after) {
  const text = metadata(before, "text");
  return text === null || text !== spelled(before.rows) ? after : withMetadata(after, "text", spelled(after.rows));
}

// Words and empty nodes in a row, each with the ids it had; tokens by the places of their first and last word.
function takeApart({ rows }) {
  const items = rows.filter((row) => !isToken(row)).map((row) => ({ row, was: [row.id], isNode: isEmptyNode(row) }));
  const place = (word) => items.findIndex((item) => item.was[0] === String(word));
  const tokens = rows.filter(isToken).map((row) => ({ row, first: place(spanOf(row)[0]), last: place(spanOf(row)[1]) }));
  return { items, tokens };
}

// Rows of these, numbered anew; others: what takes the place of ids that are no more.
function putTogether(sentence, items, tokens, others = new Map()) {
  const ids = new Map([["0", "0"]]);
  let [word, node] = [0, 0];
  const numbered = items.map((item) => {
    if (!item.isNode) [word, node] = [word + 1, -1];
    node += 1;
    const id = item.isNode ? `${word}.${node}` : String(word);
    item.was.forEach((old) => ids.set(old, id));
    return { ...item, id };
  });
  const rename = (id) => ids.get(id) ?? ids.get(others.get(id)) ?? null;
  const rows = numbered.map((item) => renamed(item, rename));
  for (const token of [...tokens].sort((a, b) => b.first - a.first)) {
    rows.splice(token.first, 0, { ...token.row, id: `${numbered[token.first].id}-${numbered[token.last].id}` });
  }
  return { ...sentence, rows };
}

function renamed({ row, id, isNode }, rename) {
  const deps = mapped(row.deps, (head) => (rename(head) === id && head !== row.id ? null : rename(head)));
  if (isNode || row.head === "_") return { ...row, id, deps };
  const head = rename(row.head);
  if (head === id) return { ...row, id, head: "0", deprel: "root", deps };
  const isNewRoot = head === "0" && row.head !== "0";
  return { ...row, id, head: head ?? "0", deprel: isNewRoot || head === null ? "root" : row.deprel, deps };
}

// DEPS with other ids; arcs to nowhere fall away. label: that of arcs from the root.
function mapped(deps, rename, label = null) {
  if (deps === "_") return "_";
  const arcs = deps.split("|").flatMap((arc) => {
    const [, head, own] = /^([^:]*):?(.*)$/.exec(arc);
    const to = rename(head);
    if (to === null || to === undefined) return [];
    return [`${to}:${head === "0" && label ? label : to === "0" && head !== "0" ? "root" : own}`];
  });
  return [...new Set(arcs)].sort((a, b) => compareIds(a.split(":")[0], b.split(":")[0])).join("|") || "_";
}
