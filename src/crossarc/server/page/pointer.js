// Mouse and fingers on the drawing: words and arcs are clicked, words are dragged to their heads.

const NEAR = 6; // pixels that a click may move

// page: isAsking(), answer(head), open(word, place), drop(word, head)
export function listenToPointer(drawing, page) {
  let drag = null; // {word, x, y, thread}

  drawing.addEventListener("click", (event) => {
    if (drag?.thread) return;
    const target = event.target.closest("[data-word], [data-arc]");
    if (!target) return;
    const word = Number(target.dataset.word ?? target.dataset.arc);
    if (page.isAsking()) {
      if (target.dataset.word !== undefined) page.answer(word);
    } else if (word > 0) page.open(word, { x: event.clientX, y: event.clientY });
  });

  drawing.addEventListener("pointerdown", (event) => {
    const target = event.target.closest(".word");
    drag = null;
    // A finger scrolls the drawing instead.
    if (!target || event.button !== 0 || event.pointerType === "touch" || page.isAsking()) return;
    event.preventDefault(); // no text is marked
    drag = { word: Number(target.dataset.word), x: event.clientX, y: event.clientY, thread: null };
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.thread && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < NEAR) return;
    drag.thread ??= threadFrom(drag.word, drawing);
    const { left, top } = drawing.firstChild.getBoundingClientRect();
    drag.thread.setAttribute("x2", event.clientX - left);
    drag.thread.setAttribute("y2", event.clientY - top);
    for (const word of drawing.querySelectorAll(".target")) word.classList.remove("target");
    wordAt(event)?.classList.add("target");
  });

  document.addEventListener("pointerup", (event) => {
    if (!drag?.thread) {
      drag = null;
      return;
    }
    const target = wordAt(event);
    page.drop(drag.word, target ? Number(target.dataset.word) : drag.word);
    setTimeout(() => (drag = null)); // after the click that follows
  });
}

function threadFrom(word, drawing) {
  const svg = drawing.firstChild;
  svg.classList.add("asking");
  const { left, top } = svg.getBoundingClientRect();
  const box = svg.querySelector(`.word[data-word="${word}"]`).getBoundingClientRect();
  const thread = document.createElementNS(svg.namespaceURI, "line");
  thread.setAttribute("class", "thread");
  thread.setAttribute("x1", box.left + box.width / 2 - left);
  thread.setAttribute("y1", box.top - top);
  svg.append(thread);
  return thread;
}

function wordAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest("#drawing [data-word]");
}
