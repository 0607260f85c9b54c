import assert from "node:assert/strict";
import { test } from "node:test";

import { viewOf } from "../../src/crossarc/server/page/conllu.js";
import { noteOf, stateOf, withNote, withState } from "../../src/crossarc/server/page/states.js";

const TEXT = "# sent_id = a\n1\tx\t_\t_\t_\t_\t0\troot\t_\t_";

test("states and notes are comments, and leave no trace when they are taken back", () => {
  assert.equal(stateOf(viewOf(TEXT)), "open");
  const accepted = withState(TEXT, "accepted");
  assert.equal(accepted, TEXT.replace("\n", "\n# state = accepted\n"));
  assert.equal(stateOf(viewOf(accepted)), "accepted");
  assert.equal(withState(accepted, "open"), TEXT);
  const noted = withNote(TEXT, " why\nnot? ");
  assert.equal(noteOf(viewOf(noted)), "why not?");
  assert.equal(withNote(noted, ""), TEXT);
});

test("other values of such comments, and sentences with errors, are open", () => {
  assert.equal(stateOf(viewOf(TEXT.replace("sent_id", "state"))), "open");
  assert.equal(stateOf(viewOf("no columns")), "open");
  assert.equal(noteOf(viewOf("no columns")), "");
});
