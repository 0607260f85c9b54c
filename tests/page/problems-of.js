// Prints what the page finds wrong with each sentence of a file (standard input), as JSON, for tests/server/test_page_validation.py.

import { readFileSync } from "node:fs";

import { viewOf } from "../../src/crossarc/server/page/conllu.js";
import { cut } from "../../src/crossarc/server/page/file.js";

const { blocks } = cut(readFileSync(0, "utf8"));
console.log(JSON.stringify(blocks.map(({ text }) => viewOf(text).problems.map((problem) => problem.message))));
