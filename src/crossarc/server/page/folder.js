// The treebanks of a folder (crossarc serve --folder): opened from a list, saved in their place. A file that has changed on disk is
// never overwritten unasked.

import { contentOf } from "./download.js";
import { openTreebank } from "./load.js";
import { byId, complain, say } from "./messages.js";
import * as service from "./service.js";
import { page } from "./state.js";
import * as store from "./store.js";

const PAUSE = 4000; // milliseconds between two looks at the file on disk

// The list of files.
export async function showFolder() {
  let files;
  try {
    files = await service.folder();
  } catch (error) {
    complain(error);
    return;
  }
  const options = files.map((file) => new Option(file.name, file.name, false, file.name === page.file?.folder));
  byId("folder-files").replaceChildren(new Option("open a file from the folder …", ""), ...options);
  byId("folder").hidden = false;
  setInterval(look, PAUSE);
  addEventListener("focus", look);
  look();
}

export async function openFromFolder(name) {
  try {
    const { content, version } = await service.readFile(name);
    await openTreebank(content, name, { folder: name, version });
    showSaving();
  } catch (error) {
    complain(error);
  }
}

// Whether the file that is open is one of the folder.
export function showSaving() {
  byId("save").hidden = !page.file?.folder;
  byId("folder-files").value = page.file?.folder ?? "";
  byId("conflict").hidden = true;
  byId("saved").textContent = "";
}

// version: that the file on disk may have; without it, that which was opened.
export async function saveToFolder(version = page.file.version) {
  const { file } = page;
  if (!file.folder || page.isLoading) return;
  try {
    const saved = await service.saveFile(file.folder, contentOf(), version);
    file.version = saved.version;
    if (file.id !== null) await store.update(file.id, { version: saved.version });
    complain(null);
    byId("conflict").hidden = true;
    byId("saved").textContent = `saved ${new Date().toLocaleTimeString()}`;
    say(`${file.folder} saved`);
  } catch (error) {
    if (error.status === 409) showConflict();
    complain(error);
  }
}

function showConflict() {
  byId("conflict").hidden = false;
  byId("conflict-text").textContent = `${page.file.folder} has changed on disk.`;
}

// Has somebody else changed the file?
async function look() {
  const { file } = page;
  if (!file?.folder || document.hidden) return;
  try {
    const { version } = await service.versionOf(file.folder);
    if (file === page.file && version !== file.version) showConflict();
  } catch {
    // the service will be asked again
  }
}

export async function saveOver() {
  try {
    const { version } = await service.versionOf(page.file.folder);
    await saveToFolder(version);
  } catch (error) {
    complain(error);
  }
}
