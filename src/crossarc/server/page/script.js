// Which way a text is written.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802-\ud803\ud83a-\ud83b][\udc00-\udfff]/;
const LETTER = /\p{L}/u;

// Whether most letters of a text are Latin ones, as an English text's are.
export function isMostlyLatin(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length >= letters.length / 2;
}

// By its first letter, as dir="auto" does it.
export function isRightToLeft(text) {
  const first = LETTER.exec(text);
  return first !== null && RIGHT_TO_LEFT.test(first[0]);
}
