// Requests to the server: JSON, and streams with a line of JSON for each message.

/** The server refused; its message is for the visitor. */
export class Refusal extends Error {}

const address = (path, query) => {
  const url = new URL(`api/${path}`, document.baseURI);
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
    throw new Refusal("The server cannot be reached; try again in a moment.");
  }
  if (response.ok) return response;
  let words = `The server answered ${response.status}.`;
  try {
    const { error, detail } = await response.json();
    words = error ?? detail ?? words;
  } catch {
    // the answer is not from our server: show its status
  }
  throw new Refusal(words);
}

export async function getJson(path) {
  return (await ask(address(path))).json();
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
