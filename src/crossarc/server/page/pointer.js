// Mouse and fingers on the drawing: words and arcs are clicked, words are dragged to their heads.
// A finger that starts anywhere else scrolls the drawing (touch-action in page.css).

const NEAR = 6; // pixels that a click may move
const NEAR_OF_FINGER = 12;
const EDGE = 40; // pixels from the edge of the drawing where it scrolls under what is dragged
const STEP = 6; // pixels that it then scrolls at a time

// page: isAsking(), answer(head), open(word), take(word), node(id): an empty node, drop(word, head)
export function listenToPointer(drawing, page) {
  let drag = null; // {word, pointer, near, from, at, thread, scrolling}

  drawing.addEventListener("click", (event) => {
    if (drag?.thread) return;
    const suggested = event.target.closest("[data-suggested]");
    if (suggested) page.take(Number(suggested.dataset.suggested));
    const node = event.target.closest("[data-node]");
    if (node) page.node(node.dataset.node);
    const target = event.target.closest("[data-word], [data-arc]");
    if (!target) return;
    const word = Number(target.dataset.word ?? target.dataset.arc);
    if (page.isAsking()) {
      if (target.dataset.word !== undefined) page.answer(word);
    } else if (word > 0) page.open(word);
  });

  drawing.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary) return;
    const target = event.target.closest(".word");
    drag = null;
    if (!target || event.button !== 0 || page.isAsking()) return;
    event.preventDefault(); // no text is marked
    const near = event.pointerType === "touch" ? NEAR_OF_FINGER : NEAR;
    drag = { word: Number(target.dataset.word), pointer: event.pointerId, near, from: placeOf(event), thread: null };
  });

  document.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.pointer) return;
    drag.at = placeOf(event);
    if (!drag.thread) {
      if (Math.hypot(drag.at.x - drag.from.x, drag.at.y - drag.from.y) < drag.near) return;
      drag.thread = threadFrom(drag.word, drawing);
      drag.scrolling = setInterval(scrollAtEdge, 16);
    }
    follow();
  });

  document.addEventListener("pointerup", (event) => {
    if (event.pointerId === drag?.pointer) end(wordAt(placeOf(event)));
  });

  document.addEventListener("pointercancel", (event) => {
    if (event.pointerId === drag?.pointer) end(null);
  });

  function follow() {
    const { left, top } = drawing.firstChild.getBoundingClientRect();
    drag.thread.setAttribute("x2", (drag.at.x - left) * scaleOf(drawing.firstChild));
    drag.thread.setAttribute("y2", (drag.at.y - top) * scaleOf(drawing.firstChild));
    for (const word of drawing.querySelectorAll(".target")) word.classList.remove("target");
    wordAt(drag.at)?.classList.add("target");
  }

  function scrollAtEdge() {
    const { left, right, top, bottom } = drawing.getBoundingClientRect();
    const by = {
      left: towards(drag.at.x, left, right),
      top: towards(drag.at.y, Math.max(0, top), Math.min(innerHeight, bottom)),
    };
    if (!by.left && !by.top) return;
    drawing.scrollBy({ ...by, behavior: "instant" });
    follow();
  }

  function end(target) {
    if (!drag.thread) {
      drag = null;
      return;
    }
    clearInterval(drag.scrolling);
    page.drop(drag.word, target ? Number(target.dataset.word) : drag.word);
    drag.pointer = null;
    setTimeout(() => (drag = null)); // after the click that follows
  }
}

// How far to scroll, at that place between two edges.
function towards(at, low, high) {
  return at < low + EDGE ? -STEP : at > high - EDGE ? STEP : 0;
}

function placeOf(event) {
  return { x: event.clientX, y: event.clientY };
}

// How many units of the drawing a pixel is.
function scaleOf(svg) {
  return svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
}

function threadFrom(word, drawing) {
  const svg = drawing.firstChild;
  svg.classList.add("asking");
  const { left, top } = svg.getBoundingClientRect();
  const box = svg.querySelector(`.word[data-word="${word}"]`).getBoundingClientRect();
  const thread = document.createElementNS(svg.namespaceURI, "line");
  thread.setAttribute("class", "thread");
  thread.setAttribute("x1", (box.left + box.width / 2 - left) * scaleOf(svg));
  thread.setAttribute("y1", (box.top - top) * scaleOf(svg));
  svg.append(thread);
  return thread;
}

function wordAt({ x, y }) {
  return document.elementFromPoint(x, y)?.closest("#drawing [data-word]");
}
