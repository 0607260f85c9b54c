// The service behind the page.

export class ServiceError extends Error {
  constructor(message, { line = null, sentence = null, isSilence = false } = {}) {
    super(message);
    Object.assign(this, { line, sentence, isSilence });
  }
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
  if (!reply.ok) throw new ServiceError(data.error ?? `The service says ${reply.status}.`, data);
  return data;
}
