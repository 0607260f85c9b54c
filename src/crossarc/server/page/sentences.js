// What can be told of sentences, as the service gives them.

// The word, with its place if there is another one like it.
export function nameOf(sentence, word) {
  if (word === 0) return "the root";
  const { form } = sentence.words[word - 1];
  return sentence.words.filter((other) => other.form === form).length > 1 ? `${form} (${word})` : form;
}

// How unsure the parser is: nats for each word, so that long sentences are not first.
export function uncertainty(sentence) {
  return sentence.first.entropy === null ? null : sentence.first.entropy / Math.max(1, sentence.first.words.length);
}

// As in the text ("file"), or the least certain first ("uncertainty").
export function ordered(sentences, order) {
  if (order === "file") return [...sentences];
  return [...sentences].sort((a, b) => (uncertainty(b) ?? 0) - (uncertainty(a) ?? 0) || a.number - b.number);
}
