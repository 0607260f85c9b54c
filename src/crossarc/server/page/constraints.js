// What a person has said about the arcs of a sentence: {word: {head, label, notHeads, notLabels}}, never changed.

// What is said of a word of which nothing is said.
export const FREE = { notHeads: [], notLabels: [] };

// The head of a word, and its label if there is one, must be these.
export function require(fixed, word, head, label) {
  const { notHeads, notLabels } = fixed[word] ?? FREE;
  return withConstraint(fixed, word, { head, label, notHeads: without(notHeads, head), notLabels: without(notLabels, label) });
}

// The word must have another head.
export function forbid(fixed, word, head) {
  const { notHeads, notLabels } = fixed[word] ?? FREE;
  return withConstraint(fixed, word, { notHeads: [...without(notHeads, head), head], notLabels });
}

export function allowHead(fixed, word, head) {
  const constraint = fixed[word] ?? FREE;
  return withConstraint(fixed, word, { ...constraint, notHeads: without(constraint.notHeads, head) });
}

export function allowLabel(fixed, word, label) {
  const constraint = fixed[word] ?? FREE;
  return withConstraint(fixed, word, { ...constraint, notLabels: without(constraint.notLabels, label) });
}

export function letGo(fixed, word) {
  return withConstraint(fixed, word, FREE);
}

// All arcs of a tree required, but that to one word.
export function requireAllBut(fixed, arcs, word) {
  return arcs.reduce((all, { head, label }, i) => (i + 1 === word || head === null ? all : require(all, i + 1, head, label)), fixed);
}

// The constraints of a sentence as api/parse takes them; labels that the model does not know are not for it.
export function constraintsForService(fixed, labels, sentence = 1) {
  return Object.entries(fixed).map(([word, { head = null, label = null, notHeads, notLabels }]) => ({
    sentence,
    word: Number(word),
    head,
    label: labels.includes(label) ? label : null,
    not_heads: notHeads,
    not_labels: notLabels.filter((label) => labels.includes(label)),
  }));
}

function without(values, value) {
  return values.filter((other) => other !== value);
}

function withConstraint(fixed, word, constraint) {
  const { head, label, notHeads, notLabels } = constraint;
  const next = { ...fixed };
  if (head === undefined && label === undefined && !notHeads.length && !notLabels.length) delete next[word];
  else next[word] = constraint;
  return next;
}
