// How probabilities are written: rounded down, so that only what is certain is 100 %; as in drawings and files.

export function percent(probability) {
  if (probability < 0.01) return "<1%";
  return `${Math.floor(probability * 100 + 1e-9)}%`;
}

export const BINS = [
  { name: "p1", from: 0, text: "under 50%" },
  { name: "p2", from: 0.5, text: "50–75%" },
  { name: "p3", from: 0.75, text: "75–90%" },
  { name: "p4", from: 0.9, text: "90–98%" },
  { name: "p5", from: 0.98, text: "98% or more" },
];

export function colourOf(probability) {
  if (probability === null) return "p0";
  return BINS.findLast((bin) => probability >= bin.from).name;
}
