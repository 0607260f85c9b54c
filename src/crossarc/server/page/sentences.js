// What can be told of sentences.

// The word, with its place if there is another one like it.
export function nameOf(view, word) {
  if (word === 0) return "the root";
  const { form } = view.words[word - 1];
  return view.words.filter((other) => other.form === form).length > 1 ? `${form} (${word})` : form;
}

// What the second tree has other than the first: "telescope ← saw" for another head, "telescope: obl" for another label.
export function differences(view, first, second) {
  return second.flatMap((arc, i) => {
    const word = nameOf(view, i + 1);
    if (arc.head !== first[i].head) return [`${word} ← ${nameOf(view, arc.head)}`];
    return arc.label === first[i].label ? [] : [`${word}: ${arc.label}`];
  });
}
