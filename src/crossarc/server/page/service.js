// The service behind the page.

export class ServiceError extends Error {
  constructor(message, line, sentence) {
    super(message);
    this.line = line;
    this.sentence = sentence;
  }
}

export async function models() {
  return answer(await fetchOrFail("api/models"));
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
    throw new ServiceError("The service does not answer. Is crossarc serve still running?");
  }
}

async function answer(reply) {
  const data = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new ServiceError(data.error ?? `The service says ${reply.status}.`, data.line, data.sentence);
  return data;
}
