// Where the words and arcs of a tree go: numbers in, numbers out.
//
// The algorithm is that of crossarc/drawing/layout.py, which draws SVG and LaTeX; tests/server/test_page_layout.py compares them. An arc
// goes straight up from its head, along its layer, and down to its dependent. Each end has a port of its own at its word, so that lines
// meet only where arcs cross. A label sits on its line, between the legs that pass through. Words move apart until all labels fit.

export const LEVEL = 27; // between two layers
export const SPACING = { word: 16, port: 9, label: 7 }; // between words, between ports of a word, on either side of a label
const TURN = 7; // how round the corners are
const MARGIN = 14;

// words: their widths; arcs: {head, word, width} with the width of the label, head 0 for the root.
export function layout(words, arcs) {
  const { centres, places, layers: levels, width } = placesOf(words.map(Math.ceil), arcs, arcs.map((arc) => Math.ceil(arc.width)));
  const placed = arcs.map((arc, i) => {
    const { from, to, label, layer } = places[i];
    return [arc.word, { ...arc, from: MARGIN + from, to: MARGIN + to, at: MARGIN + label + Math.ceil(arc.width) / 2, level: layer }];
  });
  const x = [0, ...centres.map((centre) => MARGIN + centre)];
  return { x, arcs: new Map(placed), levels, width: words.length ? width + 2 * MARGIN : 0 };
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

// The stretches that arcs cover; arcs that end at the same word on different sides of it do not meet there, unless they share one port.
export function spans(arcs, shared = false) {
  return arcs.map(({ head, word }) => {
    const [low, high] = [Math.min(head, word), Math.max(head, word)];
    return shared ? [2 * low, 2 * high + 1] : [4 * low + 2, 4 * high - 1];
  });
}

// The layer of each stretch, from 1: above all that lie within it, and apart from all that it meets.
export function layers(stretches) {
  const found = stretches.map(() => 0);
  const done = [];
  const key = (i) => [stretches[i][1] - stretches[i][0], ...stretches[i], i];
  for (const i of sorted([...stretches.keys()], key)) {
    const [start, end] = stretches[i];
    const met = done.filter((j) => Math.max(start, stretches[j][0]) < Math.min(end, stretches[j][1]));
    const within = met.filter((j) => start <= stretches[j][0] && stretches[j][1] <= end);
    const taken = new Set(met.map((j) => found[j]));
    let layer = 1 + Math.max(0, ...within.map((j) => found[j]));
    while (taken.has(layer)) layer++;
    found[i] = layer;
    done.push(i);
  }
  return found;
}

// The centres of words and where each arc is, in whole numbers from 0.
export function placesOf(words, arcs, labels, spacing = SPACING) {
  const heights = heightsOf(arcs);
  const ports = portsOf(words.length, arcs, heights, labels, spacing);
  const ends = endsOf(ports, arcs.length);
  const passing = ends.map(([left, right], i) => portsBetween(ports, left, right).filter((port) => heights[port.arc] > heights[i]));
  const row = new Row(words, ports, spacing);
  const seats = seatsOf(row, arcs, ends, passing, labels, spacing);
  const centres = row.centres();
  const x = (port) => centres[port.node - 1] + port.offset;
  const places = arcs.map(({ head, word }, i) => {
    const [left, right, start, end] = [...ends[i], ...seats[i]].map(x);
    const [from, to] = word < head ? [right, left] : [left, right];
    return { layer: heights[i], from, to, label: start + Math.floor((end - start - labels[i]) / 2) };
  });
  return atTheLeftEdge(centres, places, row.extents, labels, Math.max(0, ...heights));
}

// Layers of all arcs; those of the root come from above all others.
function heightsOf(arcs) {
  const among = layers(spans(arcs.filter((arc) => arc.head > 0)));
  const top = Math.max(0, ...among) + 1;
  const following = among.values();
  return arcs.map((arc) => (arc.head > 0 ? following.next().value : top));
}

// The ports of each node from left to right, in such an order that arcs of the same word do not cross.
function portsOf(nodes, arcs, heights, labels, spacing) {
  const keyed = Array.from({ length: nodes + 1 }, () => []); // side, order, arc
  arcs.forEach(({ head, word }, arc) => {
    if (head === 0) {
      keyed[word].push([1, arc, arc]);
    } else {
      keyed[Math.max(head, word)].push([0, heights[arc], arc]);
      keyed[Math.min(head, word)].push([3, -heights[arc], arc]);
    }
  });
  return keyed.map((keys, node) => {
    const ordered = sorted(keys, (key) => key);
    const offsets = [0];
    pairwise(ordered).forEach(([left, right], i) => {
      const roots = left[0] === 1 && right[0] === 1;
      offsets.push(offsets[i] + Math.max(spacing.port, roots ? betweenMiddles(left[2], right[2], labels, spacing) : 0));
    });
    const middle = Math.floor(offsets.at(-1) / 2);
    return ordered.map(([, , arc], place) => ({ node, place, arc, offset: offsets[place] - middle }));
  });
}

// The left and the right port of each arc; those of the root have one port.
function endsOf(ports, count) {
  const found = Array.from({ length: count }, () => []);
  for (const port of ports.flat()) found[port.arc].push(port);
  return found.map((both) => [both[0], both.at(-1)]);
}

function portsBetween(ports, left, right) {
  const isAfter = (a, b) => a.node > b.node || (a.node === b.node && a.place > b.place);
  return ports.slice(left.node, right.node + 1).flat().filter((port) => isAfter(port, left) && isAfter(right, port));
}

// The two ports between which each label goes, short arcs first; words move apart where it needs more space.
function seatsOf(row, arcs, ends, passing, labels, spacing) {
  const seats = [...ends];
  for (const arc of sorted([...arcs.keys()], (arc) => [ends[arc][1].node - ends[arc][0].node, arc])) {
    const [left, right] = ends[arc];
    if (left.node < right.node) seats[arc] = row.seat([left, ...passing[arc], right], labels[arc] + 2 * spacing.label);
  }
  const roots = ends.filter((_, arc) => arcs[arc].head === 0).map(([port]) => port);
  for (const [left, right] of pairwise(sorted(roots, (port) => [port.node, port.place]))) {
    row.spread(left, right, betweenMiddles(left.arc, right.arc, labels, spacing));
  }
  return seats;
}

// How far apart the middles of two labels must be.
function betweenMiddles(left, right, labels, spacing) {
  return Math.floor(labels[left] / 2) + spacing.label + labels[right] - Math.floor(labels[right] / 2);
}

// Words in a row that can be moved apart, never closer.
class Row {
  constructor(words, ports, spacing) {
    const half = Math.floor(spacing.port / 2);
    this.extents = words.map((width, i) => {
      const [left, right] = [Math.floor(width / 2), width - Math.floor(width / 2)];
      const own = ports[i + 1];
      return own.length ? [Math.max(left, half - own[0].offset), Math.max(right, half + own.at(-1).offset)] : [left, right];
    });
    this.distances = pairwise(this.extents).map(([left, right]) => left[1] + spacing.word + right[0]);
  }

  centres() {
    const found = this.extents.length ? [0] : [];
    for (const distance of this.distances) found.push(found.at(-1) + distance);
    return found;
  }

  // Make room between two ports, the same at every space between their words.
  spread(left, right, least) {
    const centres = this.centres();
    const lacking = least - (centres[right.node - 1] + right.offset - centres[left.node - 1] - left.offset);
    if (lacking <= 0 || left.node >= right.node) return;
    const [share, rest] = [Math.floor(lacking / (right.node - left.node)), lacking % (right.node - left.node)];
    for (let i = left.node - 1; i < right.node - 1; i++) this.distances[i] += share + (i - left.node + 1 < rest ? 1 : 0);
  }

  // The two neighbouring stops between which a label goes: where it fits, next to the middle of its arc.
  seat(stops, least) {
    const centres = this.centres();
    const x = (port) => centres[port.node - 1] + port.offset;
    const middle = x(stops[0]) + x(stops.at(-1));
    const rank = ([start, end]) => {
      const lacking = Math.max(least - (x(end) - x(start)), 0);
      // two ports of the same word cannot be moved apart
      return [lacking > 0 && start.node === end.node ? 1 : 0, lacking, Math.abs(x(start) + x(end) - middle)];
    };
    const [best] = sorted(pairwise(stops), rank);
    this.spread(...best, least);
    return best;
  }
}

// The same, moved so that nothing begins left of 0.
function atTheLeftEdge(centres, places, extents, labels, top) {
  const starts = [...centres.map((centre, i) => centre - extents[i][0]), ...places.map((place) => place.label)];
  const ends = [...centres.map((centre, i) => centre + extents[i][1]), ...places.map((place, i) => place.label + labels[i])];
  const left = starts.length ? Math.min(...starts) : 0;
  return {
    centres: centres.map((centre) => centre - left),
    places: places.map(({ layer, from, to, label }) => ({ layer, from: from - left, to: to - left, label: label - left })),
    layers: top,
    width: (ends.length ? Math.max(...ends) : 0) - left,
  };
}

function pairwise(items) {
  return items.slice(1).map((item, i) => [items[i], item]);
}

// In the order of keys, which are lists of numbers.
function sorted(items, key) {
  const compare = (a, b) => {
    const i = a.findIndex((value, i) => value !== b[i]);
    return i < 0 ? 0 : a[i] - b[i];
  };
  return [...items].sort((a, b) => compare(key(a), key(b)));
}
