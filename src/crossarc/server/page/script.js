// Which way a text is written.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802-\ud803\ud83a-\ud83b][\udc00-\udfff]/;
const LETTER = /\p{L}/u;

// By its first letter, as dir="auto" does it.
export function isRightToLeft(text) {
  const first = LETTER.exec(text);
  return first !== null && RIGHT_TO_LEFT.test(first[0]);
}
