// The states of sentences: accept and go on, doubt, remark; and how far the file is.

import { changeSentence } from "./changes.js";
import { shown } from "./list.js";
import { open } from "./load.js";
import { byId, complain, setField } from "./messages.js";
import { noteOf, stateOf, withNote, withState } from "./states.js";
import { current, page, sentences, view } from "./state.js";

// The open sentence is in that state now; then the next one of the list is opened. What is accepted is no longer the parser's.
export function setState(state) {
  if (view().isBroken) return complain(new Error("A sentence with errors cannot be accepted: mend it first."));
  const all = shown();
  const at = all.findIndex((sentence) => sentence.key === page.current);
  const next = all[at + 1];
  const sentence = current();
  changeSentence({ text: withState(sentence.text, state), parsed: state === "accepted" ? false : sentence.parsed }, state);
  if (state !== "open" && next) open(sentences().find((other) => other.key === next.key));
}

export function setNote(note) {
  if (!view().isBroken && note.trim() !== noteOf(view())) changeSentence({ text: withNote(current().text, note) }, "note");
}

export function accepted() {
  return sentences().filter((sentence) => stateOf(view(sentence)) === "accepted");
}

// Sentences that are open, and whose tree nobody has made: the parser may find another.
export function openRest() {
  return sentences().filter((sentence) => {
    const seen = view(sentence);
    return stateOf(seen) === "open" && !seen.isBroken && (sentence.parsed || seen.arcs.every((arc) => arc.head === null));
  });
}

export function renderProgress() {
  const state = stateOf(view());
  for (const button of byId("states").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.state === state));
  byId("states").hidden = byId("note-field").parentElement.hidden = view().isBroken;
  setField(byId("note-field"), noteOf(view()), page.current);
  const done = accepted().length;
  const all = sentences().length;
  byId("done").textContent = `${done.toLocaleString("en")} of ${all.toLocaleString("en")} accepted`;
  Object.assign(byId("done-bar"), { value: done, max: all });
  byId("download-accepted").disabled = byId("learn").disabled = page.isLoading || !done;
}
