// What a page cannot do without: it is asked for again until it comes, and the page says so.

import { getJsonPatiently } from "./api.js";
import { complain } from "./dom.js";

export async function readPatiently(path) {
  const found = await getJsonPatiently(path, (seconds) =>
    complain([`the server cannot be reached, trying again in ${seconds} s`]),
  );
  complain([]);
  return found;
}
