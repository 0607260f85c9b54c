// The keyboard on the drawing: a word in focus stands for the arc to it.

// page: isAsking(), answer(head), words(), headOf(word), firstChildOf(word), select(word), open(word, place, first),
// act(action, word), chooseTree(i), step(by)
export function listenToKeys(drawing, page) {
  drawing.addEventListener("keydown", (event) => {
    const focused = event.target.closest(".word");
    if (!focused || event.ctrlKey || event.metaKey || event.altKey) return;
    const word = Number(focused.dataset.word);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = moves(page, word)[key] ?? (page.isAsking() ? answers(page, word) : corrections(page, word))[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function moves(page, word) {
  return {
    ArrowLeft: () => page.select(Math.max(1, word - 1)),
    ArrowRight: () => page.select(Math.min(page.words(), word + 1)),
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
    l: () => page.open(word, null, "label"),
    r: () => page.act("keep", word),
    f: () => page.act("forbid", word),
    h: () => page.act("ask", word),
    Delete: () => page.act("letGo", word),
    Backspace: () => page.act("letGo", word),
    PageUp: () => page.step(-1),
    PageDown: () => page.step(1),
  };
}
