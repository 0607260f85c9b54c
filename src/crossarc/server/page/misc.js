// Corrections in CoNLL-U: Head=3, Rel=nsubj and NotHead=5,6 in MISC, as crossarc parse --constraints misc reads them.

const WORD = /^([1-9][0-9]*)\t(?:[^\t\n]*\t){8}[^\t\n]*$/gm;
const WISH = /^(Head|Rel|NotHead)=/;

// The sentences of a CoNLL-U text, without what is said in MISC, and that.
export function takeOut(text) {
  const blocks = text.split(/\n\n+/).filter((block) => block);
  return { text: withMisc(text, () => []), wishes: blocks.map(wishesIn) };
}

// A sentence of CoNLL-U with these wishes in MISC.
export function putIn(conllu, wishes) {
  return withMisc(conllu, (word) => (wishes[word] ? itemsOf(wishes[word]) : []));
}

function wishesIn(block) {
  const wishes = {};
  for (const [line, word] of block.matchAll(WORD)) {
    const items = new Map(miscOf(line).filter((item) => WISH.test(item)).map((item) => item.split("=")));
    if (!items.size) continue;
    wishes[word] = { notHeads: items.has("NotHead") ? items.get("NotHead").split(",").map(Number) : [] };
    if (items.has("Head")) wishes[word].head = Number(items.get("Head"));
    if (items.has("Rel")) wishes[word].label = items.get("Rel");
  }
  return wishes;
}

function itemsOf({ head, label, notHeads = [] }) {
  const items = [];
  if (head !== undefined) items.push(`Head=${head}`);
  if (label !== undefined) items.push(`Rel=${label}`);
  if (notHeads.length) items.push(`NotHead=${notHeads.join(",")}`);
  return items;
}

function withMisc(text, itemsFor) {
  return text.replace(WORD, (line, word) => {
    const items = [...miscOf(line).filter((item) => !WISH.test(item)), ...itemsFor(word)];
    return line.slice(0, line.lastIndexOf("\t") + 1) + (items.join("|") || "_");
  });
}

function miscOf(line) {
  const misc = line.slice(line.lastIndexOf("\t") + 1);
  return misc === "_" ? [] : misc.split("|");
}
