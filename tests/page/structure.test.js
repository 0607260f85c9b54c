import assert from "node:assert/strict";
import { test } from "node:test";

import { format, isWord, parse, viewOf } from "../../src/crossarc/server/page/conllu.js";
import {
  addEmptyNode,
  addToken,
  deleteWord,
  insertWord,
  joinSentences,
  joinWords,
  removeEmptyNode,
  removeToken,
  splitSentence,
  splitWord,
  withCell,
} from "../../src/crossarc/server/page/structure.js";
import { numbers } from "./random.js";

const sentence = (...rows) => parse(["# sent_id = s", "# text = a b c d", ...rows.map((row) => row.replaceAll(" ", "\t"))].join("\n"));
const FOUR = sentence(
  "1 a a X x _ 2 det 2:det _",
  "2 b b X x _ 0 root 0:root|4:obj _",
  "3 c c X x _ 4 case 4:case _",
  "4 d d X x _ 2 obl 2:obl _",
);
const heads = ({ rows }) => rows.filter(isWord).map((row) => Number(row.head));
const forms = ({ rows }) => rows.filter(isWord).map((row) => row.form);

test("a word is split: heads and DEPS follow, the text stays", () => {
  const split = splitWord(FOUR, 2, ["b1", "b2", "b3"], false);
  assert.deepEqual(forms(split), ["a", "b1", "b2", "b3", "c", "d"]);
  assert.deepEqual(heads(split), [2, 0, 2, 2, 6, 2]);
  assert.equal(split.rows[1].deps, "0:root|6:obj");
  assert.equal(split.rows[1].misc, "SpaceAfter=No");
  assert.equal(split.rows[3].misc, "_");
  assert.throws(() => splitWord(FOUR, 2, ["b"], false), /space/);
});

test("a word is split into the words of a token, and joined again", () => {
  const split = splitWord(FOUR, 3, ["c1", "c2"], true);
  assert.deepEqual(split.rows.map((row) => row.id), ["1", "2", "3-4", "3", "4", "5"]);
  assert.equal(split.rows[2].form, "c");
  const joined = joinWords(split, 3);
  assert.deepEqual(joined.rows.map(({ id, form, head, deps }) => [id, form, head, deps]), FOUR.rows.map(({ id, form, head, deps }) => [id, form, head, deps]));
});

test("words are joined: what depended on either depends on both", () => {
  const joined = joinWords(FOUR, 3);
  assert.deepEqual(forms(joined), ["a", "b", "c d"]);
  assert.deepEqual(heads(joined), [2, 0, 2]);
  assert.equal(joined.rows[2].deprel, "obl");
  assert.equal(joined.rows[1].deps, "0:root|3:obj");
  assert.throws(() => joinWords(FOUR, 4), /no word after/);
});

test("a word is put in and taken out; dependents go to its head", () => {
  const more = insertWord(FOUR, 2, "x");
  assert.deepEqual(forms(more), ["a", "b", "x", "c", "d"]);
  assert.deepEqual(heads(more), [2, 0, 2, 5, 2]);
  assert.equal(more.comments[1], "# text = a b x c d");
  assert.equal(format(deleteWord(more, 3)), format(FOUR));
  const less = deleteWord(FOUR, 2);
  assert.deepEqual(heads(less), [0, 3, 0]);
  assert.equal(less.rows[0].deprel, "root");
  assert.throws(() => deleteWord(sentence("1 a _ _ _ _ 0 root _ _"), 1), /must have a word/);
});

test("multiword tokens", () => {
  const token = addToken(FOUR, 2, 3, "bc");
  assert.deepEqual(token.rows.map((row) => row.id), ["1", "2-3", "2", "3", "4"]);
  assert.equal(token.comments[1], "# text = a bc d");
  assert.equal(format(removeToken(token, "2-3")), format(FOUR));
  assert.throws(() => addToken(token, 3, 4, "x"), /already/);
  assert.throws(() => addToken(FOUR, 4, 5, "x"), /two words/);
});

test("empty nodes", () => {
  const one = withCell(addEmptyNode(FOUR, 2), "2.1", "deps", "4:x");
  const two = addEmptyNode(one, 2);
  assert.deepEqual(two.rows.map((row) => row.id), ["1", "2", "2.1", "2.2", "3", "4"]);
  assert.equal(two.rows[2].deps, "4:x");
  const used = withCell(two, "1", "deps", "2:det|2.1:y|2.2:z");
  assert.equal(removeEmptyNode(used, "2.1").rows[0].deps, "2:det|2.1:z");
});

test("a sentence is split, and joined again", () => {
  const [first, second] = splitSentence(FOUR, 3);
  assert.deepEqual([heads(first), heads(second)], [[2, 0], [2, 0]]);
  assert.deepEqual(first.comments, ["# sent_id = s", "# text = a b"]);
  assert.deepEqual(second.comments, ["# sent_id = s-2", "# text = c d"]);
  assert.equal(second.rows[1].deps, "0:root");
  const joined = joinSentences(first, second);
  assert.deepEqual(heads(joined), [2, 0, 4, 2]);
  assert.equal(joined.rows[3].deprel, "parataxis");
  assert.deepEqual(joined.comments, FOUR.comments);
  assert.throws(() => splitSentence(FOUR, 1), /first/);
  assert.throws(() => splitSentence(addToken(FOUR, 2, 3, "bc"), 3), /two sentences/);
});

test("a cell takes any text, but no tab and no newline", () => {
  assert.equal(withCell(FOUR, "1", "form", " x\ty\n").rows[0].form, "x y");
  assert.equal(withCell(FOUR, "1", "lemma", "").rows[0].lemma, "_");
  assert.equal(withCell(FOUR, "1", "form", "A").comments[1], "# text = A b c d");
});

// Whatever is done to whatever sentence, it stays one without errors.
test("no change of structure makes a sentence wrong", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = numbers(seed);
    const some = (n) => 1 + Math.floor(random() * n);
    const n = 2 + some(6);
    const order = Array.from({ length: n }, (_, i) => i + 1).sort(() => random() - 0.5);
    const head = {};
    order.forEach((word, i) => (head[word] = i === 0 ? 0 : order[Math.floor(random() * i)]));
    let it = parse(order.sort((a, b) => a - b).map((word) => `${word}\tw${word}\t_\t_\t_\t_\t${head[word]}\tx\t${head[word]}:x\t_`).join("\n"));
    for (let step = 0; step < 6; step++) {
      const words = it.rows.filter(isWord).length;
      const actions = [
        () => splitWord(it, some(words), ["p", "q"], random() < 0.5),
        () => joinWords(it, some(words)),
        () => insertWord(it, some(words + 1) - 1, "new"),
        () => deleteWord(it, some(words)),
        () => addToken(it, some(words), some(words), "tok"),
        () => addEmptyNode(it, some(words)),
        () => joinSentences(it, FOUR),
        () => splitSentence(it, some(words))[Math.floor(random() * 2)],
      ];
      try {
        it = actions[some(actions.length) - 1]();
      } catch (error) {
        assert.match(error.message, /^(A |There is |Write )/); // it cannot be done, and says why
      }
      assert.deepEqual(viewOf(format(it)).problems, [], `${seed}\n${format(it)}`);
    }
  }
});

test("words and empty nodes before the first word", () => {
  const word = insertWord(FOUR, 0, "z");
  assert.deepEqual(forms(word), ["z", "a", "b", "c", "d"]);
  assert.deepEqual(heads(word), [2, 3, 0, 5, 3]);
  const node = addEmptyNode(addToken(FOUR, 1, 2, "ab"), 0);
  assert.deepEqual(node.rows.map((row) => row.id), ["0.1", "1-2", "1", "2", "3", "4"]);
  assert.deepEqual(addEmptyNode(node, 0).rows.map((row) => row.id).slice(0, 3), ["0.1", "0.2", "1-2"]);
});

test("a token of three words", () => {
  const token = addToken(FOUR, 2, 4, "bcd");
  assert.deepEqual(token.rows.map((row) => row.id), ["1", "2-4", "2", "3", "4"]);
  assert.equal(viewOf(format(token)).problems.length, 0);
});

test("a head or label in its cell: the arc of DEPS that was the same goes along", () => {
  const head = withCell(FOUR, "2", "head", "3");
  assert.equal(head.rows[1].deps, "3:root|4:obj");
  assert.equal(withCell(head, "2", "deprel", "x").rows[1].deps, "3:x|4:obj");
  assert.equal(withCell(FOUR, "2", "head", "_").rows[1].deps, "0:root|4:obj");
  assert.equal(withCell(FOUR, "2", "deps", "1:y").rows[1].deps, "1:y");
});
