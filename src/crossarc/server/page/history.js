// What a person has said about a sentence, with undo and redo. A state is
// {wishes: {word: {head, label, notHeads}}, choice: which of the best trees}; states are never changed.

export class History {
  #states;
  #now = 0;

  constructor(wishes = {}) {
    this.#states = [{ wishes, choice: 0 }];
  }

  get state() {
    return this.#states[this.#now];
  }

  get isEmpty() {
    return !this.canUndo && !Object.keys(this.state.wishes).length;
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
  const { notHeads = [] } = state.wishes[word] ?? {};
  return withWish(state, word, { head, label, notHeads: notHeads.filter((other) => other !== head) });
}

// The word must have another head.
export function forbid(state, word, head) {
  const { notHeads = [] } = state.wishes[word] ?? {};
  return withWish(state, word, { notHeads: [...notHeads.filter((other) => other !== head), head] });
}

export function allowHead(state, word, head) {
  const wish = state.wishes[word] ?? {};
  return withWish(state, word, { ...wish, notHeads: (wish.notHeads ?? []).filter((other) => other !== head) });
}

export function letGo(state, word) {
  return withWish(state, word, {});
}

export function choose(state, choice) {
  return { ...state, choice };
}

// What the service wants to hear.
export function constraintsOf(wishes, sentence = 1) {
  return Object.entries(wishes).map(([word, wish]) => ({
    sentence,
    word: Number(word),
    head: wish.head ?? null,
    label: wish.label ?? null,
    not_heads: wish.notHeads ?? [],
  }));
}

function withWish(state, word, wish) {
  const wishes = { ...state.wishes };
  if (wish.head === undefined && wish.label === undefined && !wish.notHeads?.length) delete wishes[word];
  else wishes[word] = wish;
  return { wishes, choice: 0 };
}
