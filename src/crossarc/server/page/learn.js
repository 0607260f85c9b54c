// Learn from what is accepted: the service trains a parser, which then parses the open rest.

import { contentOf } from "./download.js";
import { byId, complain, say } from "./messages.js";
import { judgeCurrent, parseSentences } from "./parsing.js";
import { accepted, openRest } from "./progress.js";
import * as service from "./service.js";
import { page } from "./state.js";
import { render } from "./workspace.js";

const PAUSE = 400; // milliseconds between two questions

export async function learn() {
  try {
    await service.learn(contentOf(accepted()));
    await watch();
  } catch (error) {
    show(null);
    complain(error);
  }
}

// Go on watching a training that was started before the page was opened again.
export async function watchIfLearning() {
  const { state } = await service.learning();
  if (state === "learning") await watch();
}

export async function stopLearning() {
  await service.stopLearning();
}

async function watch() {
  for (;;) {
    const progress = await service.learning();
    show(progress);
    if (progress.state === "failed") throw new Error(progress.error);
    if (progress.state === "done") return use(progress.model);
    if (progress.state !== "learning") return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

function show(progress) {
  const isLearning = progress?.state === "learning";
  byId("learning").hidden = !isLearning;
  byId("learn").hidden = isLearning;
  if (isLearning) byId("learning-bar").value = progress.share;
}

// The model that was learnt gives its opinion from now on, and parses what nobody has looked at.
async function use(name) {
  show(null);
  await loadModels();
  page.model = byId("model").value = name;
  const rest = openRest();
  await parseSentences(rest, `parsed by ${name}`);
  say(`${name} has been trained; ${rest.length === 1 ? "1 sentence" : `${rest.length} sentences`} parsed with it`);
  render();
  judgeCurrent();
}

export async function loadModels() {
  const { models, default: first, folder } = await service.models();
  page.models = new Map(models.map((model) => [model.name, model]));
  byId("model").replaceChildren(...models.map(({ name }) => new Option(name, name, false, name === (page.model || first))));
  page.model ||= first;
  page.hasFolder = folder;
}
