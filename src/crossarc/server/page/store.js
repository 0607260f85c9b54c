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

// The file with its edits, once more; the number of the copy.
export async function copy(id) {
  const { log, now, id: _, ...file } = await readFile(id);
  const made = await addFile(file);
  for (const [i, edit] of log.entries()) await addEdit(made, i + 1, edit);
  await update(made, { now });
  return made;
}

let claiming = Promise.resolve(true); // one claim after the other
let letGo = () => {}; // of the file that this window has claimed

// Whether this window may write the edits of the file: one at a time may. (Browsers know such locks on this machine and with https.)
export function claim(id) {
  claiming = claiming.then(() => claimNext(id));
  return claiming;
}

async function claimNext(id) {
  letGo();
  if (!navigator.locks) return true;
  for (let attempt = 0; attempt < 5; attempt++) {
    if (await locked(`crossarc ${id}`)) return true;
    await new Promise((resolve) => setTimeout(resolve, 100)); // a page that is being closed lets go in a moment
  }
  return false;
}

function locked(name) {
  return new Promise((resolve) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((done) => (letGo = done));
    });
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
