// How far the work on a sentence is, and what there is to remark: kept in comments of CoNLL-U ("# state = accepted", "# note = ...").
// A sentence without such a comment is open.

import { format, metadata, parse, withMetadata } from "./conllu.js";

const STATES = ["open", "accepted", "unsure"];

export function stateOf(sentence) {
  const found = sentence.isBroken ? null : metadata(sentence, "state");
  return STATES.includes(found) ? found : "open";
}

export function noteOf(sentence) {
  return sentence.isBroken ? "" : (metadata(sentence, "note") ?? "");
}

// The text of a sentence in that state.
export function withState(text, state) {
  return format(withMetadata(parse(text), "state", state === "open" ? null : state));
}

export function withNote(text, note) {
  return format(withMetadata(parse(text), "note", note.replace(/\s+/g, " ").trim() || null));
}
