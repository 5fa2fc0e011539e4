// Requests to the server: JSON, and streams with a line of JSON for each message.

/** The server refused; its message is for the visitor. Without a status it was not reached. */
export class Refusal extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** There was no answer. Asking again can help. */
export class Unreachable extends Refusal {}

/** What a proxy answers while the server behind it starts. */
const AWAY = [502, 503, 504];

/** Seconds between attempts. */
export const WAITS = [1, 2, 4, 8, 15];

/** The address of the first page. Files lie at static/DIGEST/. */
export const ROOT = new URL("../../", import.meta.url);

const address = (path, query) => {
  const url = new URL(`api/${path}`, ROOT);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url;
};

async function ask(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable("The server cannot be reached; try again in a moment.");
  }
  if (response.ok) return response;
  if (AWAY.includes(response.status)) throw new Unreachable("The server is not ready; try again in a moment.");
  let words = `The server answered ${response.status}.`;
  try {
    words = (await response.json()).detail ?? words;
  } catch {
    // the answer is not from our server: show its status
  }
  throw new Refusal(words, response.status);
}

export async function getJson(path, query) {
  return (await ask(address(path, query))).json();
}

export async function postJson(path, body) {
  const headers = { "Content-Type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  return (await ask(address(path), options)).json();
}

/** Ends early when the signal is aborted. */
export const pause = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Asks again while the server cannot be reached; `waiting` is told the seconds until then. */
export async function getJsonPatiently(path, waiting) {
  for (const seconds of WAITS) {
    try {
      return await getJson(path);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      waiting(seconds);
      await pause(seconds);
    }
  }
  return getJson(path);
}

/** Yields each message as it arrives. */
export async function* stream(path, { query, signal, method = "GET", body } = {}) {
  const headers = { "Content-Type": "application/json" };
  const options = { signal, method, headers, body: body && JSON.stringify(body) };
  const response = await ask(address(path, query), options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Sent even while the page is being closed. */
export const notify = (path) => navigator.sendBeacon(address(path));
export const figureAddress = (key, name) => address(`figures/${key}/${name}`).href;
