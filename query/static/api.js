// Requests to the service that served this page. A refusal is a Problem whose message is the problem's detail.

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export function address(view, path, parameters = []) {
  const query = new URLSearchParams(parameters).toString();
  return `/views/${encodeURIComponent(view)}${path}${query ? `?${query}` : ""}`;
}

export async function getJson(url, signal) {
  const response = await fetch(url, { headers: { Accept: "application/json" }, signal });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, body.detail ?? `${response.status} from ${url}`);
  return body;
}
