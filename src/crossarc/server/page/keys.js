// The keyboard on the drawing: a word in focus stands for the arc to it.

// page: isRightToLeft(), isAsking(), answer(head), words(), headOf(word), firstChildOf(word), select(word), open(word, first), take(word):
// the parser's arc, act(action, word), edit(action, word), cells(word): to the table, setState(state), leastCertain(), zoom(way),
// note(): write one, chooseTree(i), step(by)
export function listenToKeys(drawing, page) {
  drawing.addEventListener("keydown", (event) => {
    const focused = event.target.closest(".word");
    if (!focused || event.ctrlKey || event.metaKey || event.altKey) return;
    const word = Number(focused.dataset.word);
    const key = (event.shiftKey ? "Shift+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
    const act = moves(page, word)[key] ?? (page.isAsking() ? answers(page, word) : corrections(page, word))[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function moves(page, word) {
  return {
    [page.isRightToLeft() ? "ArrowRight" : "ArrowLeft"]: () => page.select(Math.max(1, word - 1)),
    [page.isRightToLeft() ? "ArrowLeft" : "ArrowRight"]: () => page.select(Math.min(page.words(), word + 1)),
    Home: () => page.select(1),
    End: () => page.select(page.words()),
    ArrowUp: () => page.select(page.headOf(word) || word),
    ArrowDown: () => page.select(page.firstChildOf(word) || word),
  };
}

function answers(page, word) {
  return {
    Enter: () => page.answer(word),
    " ": () => page.answer(word),
    0: () => page.answer(0),
  };
}

function corrections(page, word) {
  const trees = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [n, () => page.chooseTree(n - 1)]));
  return {
    ...trees,
    Enter: () => page.open(word),
    " ": () => page.open(word),
    l: () => page.open(word, "label"),
    t: () => page.take(word),
    r: () => page.act("keep", word),
    f: () => page.act("forbid", word),
    h: () => page.act("ask", word),
    g: page.leastCertain,
    "+": () => page.zoom("in"),
    "Shift++": () => page.zoom("in"),
    "-": () => page.zoom("out"),
    a: () => page.setState("accepted"),
    u: () => page.setState("unsure"),
    o: () => page.setState("open"),
    w: () => page.note(),
    s: () => page.edit("splitWord", word),
    j: () => page.edit("joinWords", word),
    i: () => page.edit("insertWord", word),
    m: () => page.edit("token", word),
    n: () => page.edit("emptyNode", word),
    x: () => page.edit("addHead", word),
    c: () => page.cells(word),
    "Shift+s": () => page.edit("splitSentence", word),
    "Shift+j": () => page.edit("joinSentences", word),
    "Shift+Delete": () => page.edit("deleteWord", word),
    Delete: () => page.act("letGo", word),
    Backspace: () => page.act("letGo", word),
    PageUp: () => page.step(-1),
    PageDown: () => page.step(1),
  };
}
