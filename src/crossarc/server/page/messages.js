// Elements of the page by their names, and what it tells the person.

export const byId = (id) => document.getElementById(id);

// An error, for all to see; null: there is none any more.
export function complain(error) {
  const problem = byId("problem");
  problem.hidden = byId("notice").hidden = !error;
  if (!error) return;
  const line = error.line ? `Line ${error.line}: ` : "";
  const sentence = error.sentence ? `sentence ${error.sentence}: ` : "";
  problem.textContent = `${line}${sentence}${error.message}`;
}

byId("dismiss").addEventListener("click", () => complain(null));

// What a field says of a sentence (or a word of it), unless someone is writing in it.
export function setField(field, value, of) {
  if (field !== document.activeElement || field.dataset.of !== String(of)) field.value = value;
  field.dataset.of = of;
}

// What has happened; screen readers say it.
export function say(text) {
  byId("status").textContent = text;
}
