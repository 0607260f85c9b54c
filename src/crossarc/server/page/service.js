// The service behind the page.

class ServiceError extends Error {
  constructor(message, { line = null, sentence = null, isSilence = false, status = null } = {}) {
    super(message);
    Object.assign(this, { line, sentence, isSilence, status });
  }
}

// The token with which the page was opened is in a cookie now: nobody need see it in the address.
if (new URLSearchParams(globalThis.location?.search).has("token")) history.replaceState(null, "", location.pathname);

export async function folder() {
  return answer(await fetchOrFail("api/folder"));
}

export async function readFile(name) {
  return answer(await fetchOrFail(`api/folder/file?name=${encodeURIComponent(name)}`));
}

export async function versionOf(name) {
  return answer(await fetchOrFail(`api/folder/version?name=${encodeURIComponent(name)}`));
}

export async function saveFile(name, content, version) {
  const body = JSON.stringify({ name, content, version });
  return answer(await fetchOrFail("api/folder/file", { method: "PUT", headers: { "Content-Type": "application/json" }, body }));
}

export async function models() {
  return answer(await fetchOrFail("api/models"));
}

// Train a parser on these sentences; how far it is; stop it.
export async function learn(text) {
  return answer(await fetchOrFail("api/learn", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ text }) }));
}

export async function learning() {
  return answer(await fetchOrFail("api/learn"));
}

export async function stopLearning() {
  return answer(await fetchOrFail("api/learn", { method: "DELETE" }));
}

// The sentences of a text; see ParseReply in api/openapi.json.
export async function parse(request) {
  const reply = await fetchOrFail("api/parse", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
  return (await answer(reply)).sentences;
}

async function fetchOrFail(url, options) {
  try {
    return await fetch(url, options);
  } catch {
    throw new ServiceError("The service does not answer. Is crossarc serve still running?", { isSilence: true });
  }
}

async function answer(reply) {
  const data = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new ServiceError(data.error ?? `The service says ${reply.status}.`, { ...data, status: reply.status });
  return data;
}
