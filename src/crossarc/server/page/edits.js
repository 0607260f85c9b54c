// All that was changed in a file, with undo and redo. A sentence is {key, text, fixed, parsed}: a number that stays the same,
// its CoNLL-U, what a person has said of its arcs (constraints.js), and whether its tree is the parser's. An edit puts some
// sentences in the place of others: {at, old, new, what}. Neither is ever changed.

export class Edits {
  constructor(sentences, log = [], now = log.length) {
    this.sentences = [...sentences];
    this.log = log;
    this.now = 0;
    while (this.now < now) this.redo();
  }

  get canUndo() {
    return this.now > 0;
  }

  get canRedo() {
    return this.now < this.log.length;
  }

  // Do something new; what was undone is forgotten.
  push(edit) {
    this.log = [...this.log.slice(0, this.now), edit];
    return this.redo();
  }

  // Take the last edit back, and say which one; null if there is none.
  undo() {
    if (!this.canUndo) return null;
    const edit = this.log[--this.now];
    this.sentences.splice(edit.at, edit.new.length, ...edit.old);
    return edit;
  }

  redo() {
    if (!this.canRedo) return null;
    const edit = this.log[this.now++];
    this.sentences.splice(edit.at, edit.old.length, ...edit.new);
    return edit;
  }
}

// The edit that gives several sentences other contents at once: from the first to the last of them.
export function together(sentences, changed, what) {
  const places = sentences.flatMap((sentence, i) => (changed.has(sentence.key) ? [i] : []));
  const [at, end] = [places[0], places.at(-1) + 1];
  const old = sentences.slice(at, end);
  return { at, old, new: old.map((sentence) => changed.get(sentence.key) ?? sentence), what };
}
