// A file as sentences, and back: what nobody has changed is written byte for byte as it came.

// {bom, eol, blocks}: whether there is a byte order mark; how lines end; and of each sentence its text and, exactly as it
// came, with the blank lines around it, raw. The raws make the file.
export function cut(content) {
  const bom = content.startsWith("\ufeff");
  const body = bom ? content.slice(1) : content;
  const eol = body.includes("\r\n") ? "\r\n" : "\n";
  const blocks = [];
  let raw = "";
  let line = 1; // of the file, where raw begins
  let isOver = false; // whether raw has a sentence and a blank line after it
  const take = () => {
    const before = /^(?:[^\S\n]*\n)*/.exec(raw)[0];
    const text = raw.slice(before.length).replaceAll("\r\n", "\n").replace(/\n\s*$/, "").replace(/\r$/, "");
    blocks.push({ raw, text, line: line + newlines(before) });
    line += newlines(raw);
    raw = "";
  };
  for (const [one] of body.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const isBlank = !one.trim();
    if (isOver && !isBlank) take();
    raw += one;
    isOver = isBlank && raw.trim() !== "";
  }
  if (raw.trim()) take();
  return { bom, eol, blocks };
}

function newlines(text) {
  return text.split("\n").length - 1;
}

// The content of a file whose sentences are now these: [{text, original}], original: the block it was, if there was one.
export function join({ bom, eol }, sentences) {
  const pieces = sentences.map(({ text, original }, i) => {
    const isLast = i === sentences.length - 1;
    const piece = original?.text === text ? original.raw : text.replaceAll("\n", eol) + tailOf(original, eol);
    return isLast || /\n[^\S\n]*\n$/.test(piece) ? piece : piece.replace(/\s*$/, "") + eol + eol;
  });
  return (bom ? "\ufeff" : "") + pieces.join("");
}

// The blank lines after a sentence.
function tailOf(original, eol) {
  if (!original) return eol + eol;
  const tail = /\s*$/.exec(original.raw)[0];
  return tail.includes("\n") ? tail : eol + eol;
}

// Text or CoNLL-U; "spaces" is CoNLL-U with spaces where tabs should be.
export function formatOf(content) {
  const line = content.replace(/^\ufeff/, "").split("\n").find((line) => line.trim() && !line.startsWith("#")) ?? "";
  if (line.split("\t").length >= 8) return "conllu";
  return /^\s*1(-[0-9]+)?\s/.test(line) && line.trim().split(/ +/).length === 10 ? "spaces" : "text";
}

// CoNLL-U whose columns were separated by spaces, with tabs.
export function withTabs(content) {
  return content.replace(/^(?!#)[^\S\n]*(\S+(?: +\S+){9})[^\S\n]*$/gm, (_, row) => row.replace(/ +/g, "\t"));
}
