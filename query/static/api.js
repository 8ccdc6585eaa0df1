// Requests to the service that served this page. A refusal is a Problem whose message is the problem's detail.

const PATIENCE_MS = 15000; // the service itself gives up after 5 seconds

export class Problem extends Error {
  constructor(status, detail, document = {}) {
    super(detail);
    Object.assign(this, { status, document });
  }
}

export function address(view, path, parameters = []) {
  const query = new URLSearchParams(parameters).toString();
  return `/views/${encodeURIComponent(view)}${path}${query ? `?${query}` : ""}`;
}

export async function getJson(url) {
  return (await get(url, "application/json")).json();
}

// Members line by line: there is no limit of size but the one that is asked for.
export async function getMembers(url) {
  const text = await (await get(url, "application/x-ndjson")).text();
  const [head, ...members] = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const tail = members.pop();
  if (tail.complete === undefined) throw new Problem(0, "the answer ended too early");
  if (tail.problem) throw new Problem(tail.problem.status, tail.problem.detail);
  return { ...head, ...tail, members };
}

async function get(url, type) {
  const response = await fetch(url, { headers: { Accept: type }, signal: AbortSignal.timeout(PATIENCE_MS) }).catch((error) => {
    throw new Problem(0, error.name === "TimeoutError" ? "no answer" : "the service cannot be reached");
  });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Problem(response.status, body.detail ?? `${response.status} from ${url}`, body);
}
