// The file as it is now, and the drawing, to be saved where the person wants.


import { join } from "./file.js";
import { byId } from "./messages.js";
import { withConstraints } from "./misc-column.js";
import { standalone } from "./svg.js";
import { current, page, placeOf, sentences, view } from "./state.js";

// The content of the file; with what was said of arcs in MISC, if the person wants it there.
export function contentOf(some = sentences()) {
  const note = byId("note").checked;
  const written = some.map((sentence) => {
    const isNoted = note && !view(sentence).isBroken;
    return { text: isNoted ? withConstraints(sentence.text, sentence.fixed) : sentence.text, original: page.file.originals.get(sentence.key) };
  });
  return join(page.file, written);
}

export function downloadFile(some = sentences(), ending = "") {
  save(`${page.file.name.replace(/\.[^.]*$/, "")}${ending}.conllu`, contentOf(some), "text/plain");
}

export async function downloadDrawing() {
  const name = page.file.name.replace(/\.[^.]*$/, "");
  const svg = await standalone(byId("drawing").firstChild);
  save(`${name}-${placeOf(current()) + 1}.svg`, svg, "image/svg+xml");
}

function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
