// A small question that is answered by text.

import { byId } from "./messages.js";

// What the person writes, or null: {text, isChecked, count}. options: {value, check: the text of a box to tick, count: {text, least, most,
// value(n)}: a number to choose, which proposes that value}.
export function askFor(question, { value = "", check = "", count = null } = {}) {
  const dialog = byId("question");
  byId("question-text").textContent = question;
  byId("answer").value = value;
  byId("answer-check").checked = false;
  byId("answer-check-text").textContent = check;
  byId("answer-check").parentElement.hidden = !check;
  askForCount(count);
  dialog.returnValue = "";
  dialog.showModal();
  byId("answer").select();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => resolve(dialog.returnValue === "ok" ? { text: byId("answer").value.trim(), isChecked: byId("answer-check").checked, count: byId("answer-count").valueAsNumber } : null),
      { once: true },
    );
  });
}

function askForCount(count) {
  const field = byId("answer-count");
  field.parentElement.hidden = !count;
  if (!count) return;
  byId("answer-count-text").textContent = count.text;
  Object.assign(field, { min: count.least, max: count.most, value: count.least, required: true });
  field.oninput = () => {
    if (field.validity.valid) byId("answer").value = count.value(field.valueAsNumber);
  };
}
