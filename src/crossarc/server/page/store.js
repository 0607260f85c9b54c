// What is kept in the browser (IndexedDB): files as they were opened, and every edit, so that nothing is lost when the page is
// closed. A file is its content and a log of edits; an edit is written when it is made.

const NAME = "crossarc";
let opening = null;

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("files", { keyPath: "id", autoIncrement: true });
      request.result.createObjectStore("edits", { keyPath: ["file", "number"] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

// Do something with both stores; it is done when the promise is kept.
async function transact(mode, work) {
  const transaction = (await database()).transaction(["files", "edits"], mode);
  return new Promise((resolve, reject) => {
    const request = work(transaction.objectStore("files"), transaction.objectStore("edits"));
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}

// file: {name, content, parsed, source}; its number.
export function addFile(file) {
  return transact("readwrite", (files) => files.add({ ...file, now: 0, opened: Date.now() }));
}

export async function files() {
  const all = await transact("readonly", (files) => files.getAll());
  return all.sort((a, b) => b.opened - a.opened);
}

export async function readFile(id) {
  const file = await transact("readonly", (files) => files.get(id));
  const log = await transact("readonly", (_, edits) => edits.getAll(editsOf(id)));
  return { ...file, log: log.map(({ edit }) => edit) };
}

// The file changes in these fields.
export function update(id, fields) {
  return transact("readwrite", (files) => {
    files.get(id).onsuccess = ({ target }) => {
      if (target.result) files.put({ ...target.result, ...fields });
    };
  });
}

// An edit, counted from 1; those from before that were undone are forgotten.
export function addEdit(id, number, edit) {
  return transact("readwrite", (files, edits) => {
    edits.delete(editsOf(id, number));
    edits.add({ file: id, number, edit });
    files.get(id).onsuccess = ({ target }) => files.put({ ...target.result, now: number });
  });
}

export function forget(id) {
  return transact("readwrite", (files, edits) => {
    files.delete(id);
    edits.delete(editsOf(id));
  });
}

function editsOf(id, from = 0) {
  return IDBKeyRange.bound([id, from], [id, Infinity]);
}
