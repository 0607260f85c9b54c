// What a person has said about a sentence, with undo and redo. A state is
// {constraints: {word: {head, label, notHeads, notLabels}}, choice: which of the best trees}; states are never changed.

// What is said of a word of which nothing is said.
export const FREE = { notHeads: [], notLabels: [] };

export class History {
  #states;
  #now = 0;

  constructor(constraints = {}) {
    this.#states = [{ constraints, choice: 0 }];
  }

  get state() {
    return this.#states[this.#now];
  }

  get isEmpty() {
    return !this.canUndo && !Object.keys(this.state.constraints).length;
  }

  get canUndo() {
    return this.#now > 0;
  }

  get canRedo() {
    return this.#now < this.#states.length - 1;
  }

  push(state) {
    this.#states = [...this.#states.slice(0, this.#now + 1), state];
    this.#now += 1;
  }

  undo() {
    if (this.canUndo) this.#now -= 1;
  }

  redo() {
    if (this.canRedo) this.#now += 1;
  }

  // Take steps back for good, to a state from before: they led nowhere.
  dropTo(state) {
    this.#now = Math.max(0, this.#states.lastIndexOf(state, this.#now));
    this.#states = this.#states.slice(0, this.#now + 1);
  }
}

// The head of a word, and its label if there is one, must be these.
export function require(state, word, head, label) {
  const { notHeads, notLabels } = constraintOn(state, word);
  return withConstraint(state, word, { head, label, notHeads: without(notHeads, head), notLabels: without(notLabels, label) });
}

// The word must have another head.
export function forbid(state, word, head) {
  const { notHeads, notLabels } = constraintOn(state, word);
  return withConstraint(state, word, { notHeads: [...without(notHeads, head), head], notLabels });
}

export function allowHead(state, word, head) {
  const constraint = constraintOn(state, word);
  return withConstraint(state, word, { ...constraint, notHeads: without(constraint.notHeads, head) });
}

export function allowLabel(state, word, label) {
  const constraint = constraintOn(state, word);
  return withConstraint(state, word, { ...constraint, notLabels: without(constraint.notLabels, label) });
}

export function letGo(state, word) {
  return withConstraint(state, word, FREE);
}

export function choose(state, choice) {
  return { ...state, choice };
}

// The constraints of a sentence as api/parse takes them.
export function constraintsForService(constraints, sentence = 1) {
  return Object.entries(constraints).map(([word, { head = null, label = null, notHeads, notLabels }]) => ({
    sentence,
    word: Number(word),
    head,
    label,
    not_heads: notHeads,
    not_labels: notLabels,
  }));
}

function constraintOn(state, word) {
  return state.constraints[word] ?? FREE;
}

function without(values, value) {
  return values.filter((other) => other !== value);
}

function withConstraint(state, word, constraint) {
  const { head, label, notHeads, notLabels } = constraint;
  const constraints = { ...state.constraints };
  if (head === undefined && label === undefined && !notHeads.length && !notLabels.length) delete constraints[word];
  else constraints[word] = constraint;
  return { constraints, choice: 0 };
}
