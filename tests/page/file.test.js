import assert from "node:assert/strict";
import { test } from "node:test";

import { cut, formatOf, join, withTabs } from "../../src/crossarc/server/page/file.js";

const ROW = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_";
const FILES = {
  plain: `# sent_id = 1\n${ROW}\n\n${ROW}\n\n`,
  "without a blank line at the end": `${ROW}\n\n${ROW}\n`,
  "without a newline at the end": `${ROW}\n\n${ROW}`,
  "with blank lines before, between and after": `\n\n${ROW}\n\n\n\n${ROW}\n\n\n`,
  "with spaces in blank lines": `${ROW}\n \t\n${ROW}\n\n`,
  "of Windows": `\ufeff# sent_id = 1\r\n${ROW}\r\n\r\n${ROW}\r\n\r\n`,
  "with both line ends": `${ROW}\r\n\n${ROW}\n\r\n`,
  "with broken sentences": `not columns\n\n${ROW}\n\n# only a comment\n\n`,
  empty: "",
};

const unchanged = ({ blocks }) => blocks.map((block) => ({ text: block.text, original: block }));

for (const [name, content] of Object.entries(FILES)) {
  test(`what nobody touches is written as it came: a file ${name}`, () => {
    const file = cut(content);
    assert.equal(join(file, unchanged(file)), content);
    assert.ok(file.blocks.every(({ text }) => text.trim() === text && !text.includes("\r")));
    if (name !== "empty") assert.equal(file.blocks.length, name === "with broken sentences" ? 3 : 2);
  });
}

test("lines are counted", () => {
  assert.deepEqual(cut(FILES["with blank lines before, between and after"]).blocks.map((block) => block.line), [3, 7]);
});

test("what is changed keeps the line ends and blank lines of the file; all else stays", () => {
  const file = cut(FILES["of Windows"]);
  const some = unchanged(file);
  some[1] = { ...some[1], text: some[1].text.replace("root", "x") };
  assert.equal(join(file, some), FILES["of Windows"].replace(/root(?!.*root)/s, "x"));
});

test("a sentence more after a file without a blank line at its end", () => {
  const file = cut(FILES["without a newline at the end"]);
  const content = join(file, [...unchanged(file), { text: ROW }]);
  assert.equal(content, `${ROW}\n\n${ROW}\n\n${ROW}\n\n`);
});

test("formats are told apart", () => {
  assert.equal(formatOf(FILES.plain), "conllu");
  assert.equal(formatOf("A hearing is scheduled.\n"), "text");
  assert.equal(formatOf("1 hearing that was scheduled today.\n"), "text");
  const spaces = FILES.plain.replaceAll("\t", "   ");
  assert.equal(formatOf(spaces), "spaces");
  assert.equal(withTabs(spaces), FILES.plain);
});
