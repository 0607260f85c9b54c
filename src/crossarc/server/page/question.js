// A small question that is answered by text.

import { byId } from "./messages.js";

// What the person writes, or null. options: {value, check: the text of a box to tick}; then the answer is {text, isChecked}.
export function askFor(question, { value = "", check = "" } = {}) {
  const dialog = byId("question");
  byId("question-text").textContent = question;
  byId("answer").value = value;
  byId("answer-check").checked = false;
  byId("answer-check-text").textContent = check;
  byId("answer-check").parentElement.hidden = !check;
  dialog.returnValue = "";
  dialog.showModal();
  byId("answer").select();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => resolve(dialog.returnValue === "ok" ? { text: byId("answer").value.trim(), isChecked: byId("answer-check").checked } : null),
      { once: true },
    );
  });
}
