// The labels that are offered: those of the file first, then those of the model.

import { model, sentences, view } from "./state.js";

export function labelsOffered() {
  const counts = new Map();
  for (const sentence of sentences()) {
    for (const { label } of view(sentence).arcs) if (label !== "_") counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const ofFile = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  return [...new Set([...ofFile, ...(model()?.labels ?? [])])];
}
