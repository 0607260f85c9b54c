// Which sentences a person looks for. A query is terms with spaces between them, all of which must hold: words of the text,
// "words in a row", and name:value. Values may end in * for anything that begins so.

const FIELDS = {
  form: (word) => [word.form],
  lemma: (word) => [word.lemma],
  tag: (word) => [word.upos, word.xpos],
  upos: (word) => [word.upos],
  xpos: (word) => [word.xpos],
  label: (word) => [word.deprel],
  feat: (word) => word.feats.split("|"),
};

const PROPERTIES = ["changed", "disagrees", "different", "crossing", "error", "parsed", "treeless"];

// The terms of a query: [{name, value}]; name "text" for words of the text.
export function termsOf(query) {
  return [...query.matchAll(/(?:([a-z_]+):)?(?:"([^"]*)"|(\S+))/gi)].map(([whole, name, quoted, plain]) => {
    const value = (quoted ?? plain).toLowerCase();
    const isKnown = name && (name in FIELDS || ["id", "state", "is", "note"].includes(name));
    return isKnown ? { name, value } : { name: "text", value: quoted ?? whole.toLowerCase() };
  });
}

// facts: {text, words, sentId, state, note, and whether it is: changed, disagrees ... (PROPERTIES)}
export function matches(terms, facts) {
  return terms.every(({ name, value }) => {
    if (name === "text") return facts.text.toLowerCase().includes(value.toLowerCase());
    if (name === "id") return fits(facts.sentId ?? "", value);
    if (name === "note") return facts.note.toLowerCase().includes(value);
    if (name === "state") return facts.state === value;
    if (name === "is") return PROPERTIES.includes(value) ? Boolean(facts[value]) : facts.state === value;
    return facts.words.some((word) => FIELDS[name](word).some((found) => fits(found, value)));
  });
}

function fits(found, value) {
  const text = found.toLowerCase();
  return value.endsWith("*") ? text.startsWith(value.slice(0, -1)) : text === value;
}
