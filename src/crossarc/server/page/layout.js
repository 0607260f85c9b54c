// Where the words and arcs of a tree go: numbers in, numbers out.
//
// An arc goes straight up from its head, along its level, and down to its dependent. Arcs above the same stretch of
// words have different levels, the longer one the higher; so no two horizontal lines meet, and no two labels.

export const LEVEL = 27; // between two levels
const LEG = 9; // between two legs on a word
const GAP = 16; // between two words
const TURN = 7; // how round the corners are
const MARGIN = 14;

// words: their widths; arcs: {head, word, width} with the width of the label, head 0 for the root.
export function layout(words, arcs) {
  const above = arcs.filter((arc) => arc.head > 0).map(spanOf);
  const root = arcs.filter((arc) => arc.head === 0);
  const offsets = legs(words.length, above, root);
  const x = places(words, above, root, offsets);
  levels(above);
  const height = 1 + Math.max(0, ...above.map((arc) => arc.level));
  const placed = new Map();
  for (const arc of above) {
    const from = x[arc.head] + offsets.get(arc).head;
    const to = x[arc.word] + offsets.get(arc).word;
    placed.set(arc.word, { ...arc, from, to });
  }
  for (const arc of root) {
    const at = x[arc.word] + offsets.get(arc).word;
    placed.set(arc.word, { ...arc, from: at, to: at, level: height, at });
  }
  for (const arc of placed.values()) {
    if (arc.head > 0) arc.at = labelPlace(arc, [...placed.values()]);
  }
  return { x, arcs: placed, levels: root.length ? height : height - 1, width: widthOf(x, words) };
}

// The same from right to left.
export function mirrored({ x, arcs, levels, width }) {
  const flip = (at) => width - at;
  const flipped = [...arcs].map(([word, arc]) => [word, { ...arc, from: flip(arc.from), to: flip(arc.to), at: flip(arc.at) }]);
  return { x: [0, ...x.slice(1).map(flip)], arcs: new Map(flipped), levels, width };
}

// The path of an arc whose level is at that height, from and to the base line.
export function pathOf(arc, height, base) {
  if (arc.head === 0) return `M${arc.from} ${height}V${base}`;
  const way = Math.sign(arc.to - arc.from);
  const turn = Math.min(TURN, Math.abs(arc.to - arc.from) / 2);
  const down = Math.sign(base - height) * turn;
  return (
    `M${arc.from} ${base}V${height + down}Q${arc.from} ${height} ${arc.from + way * turn} ${height}` +
    `H${arc.to - way * turn}Q${arc.to} ${height} ${arc.to} ${height + down}V${base}`
  );
}

export function spanOf(arc) {
  return { ...arc, low: Math.min(arc.head, arc.word), high: Math.max(arc.head, arc.word) };
}

// How far from the middle of its word each leg is. Arcs to the left have their legs on the left, the shortest outermost,
// and so on the right: then legs on the same word do not cross each other's arcs.
function legs(n, above, root) {
  const offsets = new Map([...above, ...root].map((arc) => [arc, {}]));
  const at = Array.from({ length: n + 1 }, () => []);
  for (const arc of above) {
    at[arc.head].push({ arc, end: "head" });
    at[arc.word].push({ arc, end: "word" });
  }
  for (const arc of root) at[arc.word].push({ arc, end: "word" });
  at.forEach((here, word) => {
    const rank = ({ arc }) => {
      if (arc.head === 0) return 0;
      const length = arc.high - arc.low;
      return arc.high === word ? length - 1e6 : 1e6 - length;
    };
    here.sort((a, b) => rank(a) - rank(b));
    here.forEach(({ arc, end }, i) => {
      offsets.get(arc)[end] = (i - (here.length - 1) / 2) * LEG;
    });
    at[word] = here.length;
  });
  offsets.legs = at;
  return offsets;
}

// The middle of each word, as far to the left as words and labels allow.
function places(words, above, root, offsets) {
  const half = [0, ...words.map((width, i) => Math.max(width, offsets.legs[i + 1] * LEG) / 2)];
  const x = [0];
  let lastRoot = 0; // where the label of the last root ends
  for (let word = 1; word <= words.length; word++) {
    let at = word === 1 ? MARGIN + half[1] : x[word - 1] + half[word - 1] + GAP + half[word];
    for (const arc of above) {
      if (arc.high !== word) continue;
      const [low, high] = arc.head < arc.word ? ["head", "word"] : ["word", "head"];
      const needed = arc.width + 2 * TURN + 4;
      at = Math.max(at, x[arc.low] + offsets.get(arc)[low] + needed - offsets.get(arc)[high]);
    }
    for (const arc of root) {
      if (arc.word !== word) continue;
      at = Math.max(at, lastRoot + MARGIN + arc.width / 2 - offsets.get(arc).word);
      lastRoot = at + offsets.get(arc).word + arc.width / 2;
    }
    x.push(at);
  }
  return x;
}

function widthOf(x, words) {
  return x.length > 1 ? x[x.length - 1] + Math.max(words[words.length - 1] / 2, 40) + MARGIN : 0;
}

// The level of each arc, from 1: above all that it goes over.
export function levels(above) {
  const done = [];
  for (const arc of [...above].sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low)) {
    const under = done.filter((other) => other.low < arc.high && arc.low < other.high);
    arc.level = 1 + Math.max(0, ...under.map((other) => other.level));
    done.push(arc);
  }
}

// The middle of the label: in the middle of the arc, unless the leg of a crossing arc goes through there.
function labelPlace(arc, arcs) {
  const [left, right] = [Math.min(arc.from, arc.to), Math.max(arc.from, arc.to)];
  const middle = (left + right) / 2;
  const crossing = arcs
    .filter((other) => other.level > arc.level)
    .flatMap((other) => [other.from, other.to])
    .filter((at) => left < at && at < right);
  const walls = [left, ...crossing.sort((a, b) => a - b), right];
  let best = null;
  for (let i = 1; i < walls.length; i++) {
    const [from, to] = [walls[i - 1] + arc.width / 2 + 3, walls[i] - arc.width / 2 - 3];
    if (from > to) continue;
    const at = Math.min(Math.max(middle, from), to);
    if (best === null || Math.abs(at - middle) < Math.abs(best - middle)) best = at;
  }
  return best ?? middle;
}
