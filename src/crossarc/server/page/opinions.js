// What the parser thinks of sentences: its own trees, and how probable it finds the arcs that are there.

import { constraintsForService } from "./constraints.js";
import * as service from "./service.js";
import { model, page, view } from "./state.js";
import { sameArc } from "./trees.js";

const TREES = 5;
const REMEMBERED = 300;

const known = new Map(); // of sentences that were looked at: all that the service says
const summaries = new Map(); // of all that were asked for: what the list shows

function nameOf(sentence) {
  return JSON.stringify([page.model, sentence.text, sentence.parsed ? sentence.fixed : {}]);
}

// What the service said of the sentence as it is now; undefined if it was not asked.
export function opinionOf(sentence) {
  return known.get(nameOf(sentence));
}

export function remember(sentence, data) {
  known.set(nameOf(sentence), data);
  if (known.size > REMEMBERED) known.delete(known.keys().next().value);
  summarize(sentence, data);
}

// {unsure: nats for each word, least: the lowest probability of an arc with its label, disagrees: words with another arc}
export function summaryOf(sentence) {
  return summaries.get(nameOf(sentence)) ?? null;
}

export function summarize(sentence, data) {
  const { arcs } = view(sentence);
  const theirs = data.trees[0].arcs;
  const probabilities = arcsWithOpinion(sentence, data).map((arc) => arc.labelled).filter((share) => share !== null);
  summaries.set(nameOf(sentence), {
    unsure: data.entropy === null ? null : data.entropy / Math.max(1, arcs.length),
    least: probabilities.length ? Math.min(...probabilities) : null,
    disagrees: arcs.filter((arc, i) => arc.head !== null && !sameArc(arc, theirs[i])).length,
  });
}

// The arcs of the sentence, each with what the parser thinks of it.
export function arcsWithOpinion(sentence, data = opinionOf(sentence)) {
  const { arcs } = view(sentence);
  const same = data?.trees.find((tree) => tree.arcs.every((arc, i) => sameArc(arc, arcs[i])));
  return arcs.map((arc, i) => {
    const found = same?.arcs[i] ?? data?.given?.[i] ?? data?.trees.map((tree) => tree.arcs[i]).find((other) => sameArc(other, arc));
    const its = data?.trees.find((tree) => tree.arcs[i].head === arc.head)?.arcs[i];
    return { ...arc, probability: found?.probability ?? null, labelled: found?.labelled ?? null, labels: its?.labels ?? null };
  });
}

export function request(sentence, fixed) {
  const constraints = constraintsForService(fixed, model().labels);
  return { text: `${sentence.text}\n\n`, format: "conllu", model: page.model, constraints, k: model().k_best ? TREES : 1 };
}

// Ask about one sentence, unless that is known.
export async function ask(sentence) {
  const before = opinionOf(sentence);
  if (before || view(sentence).isBroken) return before;
  const [data] = await service.parse({ ...request(sentence, sentence.parsed ? sentence.fixed : {}), judge: true });
  remember(sentence, byProbability(data));
  return opinionOf(sentence);
}

// The best trees in the order of the probabilities that are shown.
export function byProbability(data) {
  if (data.trees.some((tree) => tree.probability === null)) return data;
  return { ...data, trees: [...data.trees].sort((a, b) => b.probability - a.probability) };
}
