// What was typed, pasted or opened: text or CoNLL-U, cut into pieces that are parsed one after the other.

const PIECE = 40_000; // characters

export function formatOf(text) {
  const line = text.split("\n").find((line) => line.trim() && !line.startsWith("#")) ?? "";
  return line.split("\t").length >= 8 ? "conllu" : "text";
}

export function normal(text) {
  return text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
}

// Pieces with the number of lines before each, cut at blank lines, where every sentence ends.
export function piecesOf(text) {
  const pieces = [];
  let start = 0;
  let lines = 0;
  const take = (end) => {
    const piece = text.slice(start, end);
    if (piece.trim()) pieces.push({ text: piece, lines });
    lines += piece.split("\n").length - 1;
    start = end;
  };
  for (const match of text.matchAll(/\n[^\S\n]*\n/g)) {
    const end = match.index + match[0].length;
    if (end - start >= PIECE) take(end);
  }
  take(text.length);
  return pieces;
}
