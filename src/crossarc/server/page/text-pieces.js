// A long text goes to the service in pieces.

const PIECE = 40_000; // characters of a request

// Each piece of a text is a text of its own to the service; here all are one, and names of sentences must differ.
export function renumbered(conllu, number, goesOn) {
  const renamed = conllu.replace(/^# sent_id = .*$/m, `# sent_id = ${number}`).replace(/^# newpar .*$/m, "# newpar");
  return goesOn ? renamed.replace(/^# newdoc.*\n/m, "") : renamed;
}

// Pieces with the number of lines before each, cut at blank lines.
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
