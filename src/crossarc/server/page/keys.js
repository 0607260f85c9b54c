// The keyboard: a word in focus stands for the arc to it. Beside the drawing, in the list and on buttons, keys with a letter are for the
// word that is selected, or for the sentence.

// page: isRightToLeft(), isColumn(): one word on each line, isAsking(), answer(head), words(), headOf(word), firstChildOf(word), selected():
// a word or null, select(word), open(word, first), take(word): the suggested arc, act(action, word), edit(action, word), cells(word): to
// the table, setState(state), leastCertain(), zoom(way), note(): write one, chooseTree(i), step(by)
export function listenToKeys(areas, page) {
  for (const area of areas) area.addEventListener("keydown", (event) => pressed(event, page));
}

function pressed(event, page) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const focused = event.target.closest(".word");
  const act = focused ? onWord(page, Number(focused.dataset.word), keyOf(event)) : event.target.closest("button") && beside(page, keyOf(event));
  if (!act) return;
  event.preventDefault();
  act();
}

function keyOf({ shiftKey, key }) {
  return (shiftKey ? "Shift+" : "") + (key.length === 1 ? key.toLowerCase() : key);
}

function onWord(page, word, key) {
  return moves(page, word)[key] ?? (page.isAsking() ? answers(page, word) : { ...forSentence(page), ...forWord(page, word) })[key];
}

// Enter, the space bar and arrows belong to the button that is in focus.
function beside(page, key) {
  if (page.isAsking() || !/^(Shift\+)?[^ ]$/.test(key)) return undefined;
  const word = page.selected();
  const act = word === null ? undefined : forWord(page, word)[key];
  if (!act) return forSentence(page)[key];
  return () => {
    page.select(word);
    act();
  };
}

function moves(page, word) {
  const before = () => page.select(Math.max(1, word - 1));
  const after = () => page.select(Math.min(page.words(), word + 1));
  const head = () => page.select(page.headOf(word) || word);
  const child = () => page.select(page.firstChildOf(word) || word);
  const [start, end] = page.isRightToLeft() ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const arrows = page.isColumn()
    ? { ArrowUp: before, ArrowDown: after, [start]: head, [end]: child } // arcs are at the side where lines start
    : { ArrowUp: head, ArrowDown: child, [start]: before, [end]: after };
  return { ...arrows, Home: () => page.select(1), End: () => page.select(page.words()) };
}

function answers(page, word) {
  return {
    Enter: () => page.answer(word),
    " ": () => page.answer(word),
    0: () => page.answer(0),
  };
}

function forSentence(page) {
  const trees = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [n, () => page.chooseTree(n - 1)]));
  return {
    ...trees,
    g: page.leastCertain,
    "+": () => page.zoom("in"),
    "Shift++": () => page.zoom("in"),
    "-": () => page.zoom("out"),
    a: () => page.setState("accepted"),
    u: () => page.setState("unsure"),
    o: () => page.setState("open"),
    w: () => page.note(),
    PageUp: () => page.step(-1),
    PageDown: () => page.step(1),
  };
}

function forWord(page, word) {
  return {
    Enter: () => page.open(word),
    " ": () => page.open(word),
    l: () => page.open(word, "label"),
    t: () => page.take(word),
    r: () => page.act("keep", word),
    f: () => page.act("forbid", word),
    h: () => page.act("ask", word),
    s: () => page.edit("splitWord", word),
    j: () => page.edit("joinWords", word),
    i: () => page.edit("insertWord", word),
    m: () => page.edit("token", word),
    n: () => page.edit("emptyNode", word),
    "Shift+n": () => page.edit("emptyNodeBefore", word),
    x: () => page.edit("addHead", word),
    c: () => page.cells(word),
    "Shift+s": () => page.edit("splitSentence", word),
    "Shift+j": () => page.edit("joinSentences", word),
    "Shift+Delete": () => page.edit("deleteWord", word),
    Delete: () => page.act("letGo", word),
    Backspace: () => page.act("letGo", word),
  };
}
