// A game is not lost: before another run starts the page asks, and a closed tab can go on later.

import { h, plural } from "./dom.js";

// Each game has a place of its own, so that games in two tabs do not replace each other.
const KEPT = "chaosops-game ";
const MOST = 3; // games that are offered, the latest first

/** True if the visitor wants to leave a game that goes on. */
export function askToLeave(moves) {
  const keep = h("button.button.main", { type: "submit", value: "keep", autofocus: true }, "Keep playing");
  const go = h("button.button", { type: "submit", value: "go" }, "Leave the game");
  const dialog = h(
    "dialog.leaving",
    { "aria-labelledby": "leaving-title" },
    h("h2", { id: "leaving-title" }, "Leave this game?"),
    h("p", `You have made ${plural(moves, "move")}. The button Back brings the game back.`),
    h("form.row", { method: "dialog" }, keep, go),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "go");
    });
  });
}

function storage(act) {
  try {
    return act(localStorage);
  } catch {
    return null; // the game is in the address only
  }
}

/** The page of a game, which is the first page if it is empty, and its choices. */
function partsOf(address) {
  const [page, query] = address.split("?");
  return { page, query: new URLSearchParams(query) };
}

/** Where a game is kept: its address without the moves. */
function placeOf(address) {
  const { page, query } = partsOf(address);
  query.delete("moves");
  query.sort();
  return KEPT + page + query;
}

export const keepGame = (address) =>
  storage((kept) => kept.setItem(placeOf(address), JSON.stringify({ address, at: Date.now() })));
export const forgetGame = (address) => storage((kept) => kept.removeItem(placeOf(address)));

/** Unfinished games, the latest first. */
function keptGames(kept) {
  const places = Object.keys(kept).filter((name) => name.startsWith(KEPT));
  const games = places.map((name) => read(kept.getItem(name))).filter(Boolean);
  return games.toSorted((one, other) => other.at - one.at);
}

function read(text) {
  try {
    const { address, at } = JSON.parse(text);
    return /^(guide)?\?/.test(address) && Number.isFinite(at) ? { address, at } : null;
  } catch {
    return null; // not written by this page
  }
}

/** What tells one game from another. */
function nameOf(address) {
  const { page, query } = partsOf(address);
  if (page === "guide") return "the guided case";
  const where = query.get("split") ?? query.get("scenario");
  const parts = [query.get("pack"), where, query.get("tier"), `seed ${query.get("seed")}`];
  return parts.filter(Boolean).join(" · ");
}

/** A line for each of the last games, that leads back to it. With `page`, only for games there. */
export function offerGame(place, page = null) {
  hideGames();
  const games = storage(keptGames) ?? [];
  for (const { address } of games.slice(MOST)) forgetGame(address);
  const offered = games.slice(0, MOST);
  const here = offered.filter(({ address }) => page === null || partsOf(address).page === page);
  const lines = here.map(({ address }) => {
    const onclick = () => {
      forgetGame(address);
      line.remove();
    };
    const line = h(
      "p.panel.unfinished",
      h("span", `You have not finished a game: ${nameOf(address)}.`),
      h("a.button.main", { href: address }, "Go on with it"),
      h("button.button.bare", { type: "button", onclick }, "Forget it"),
    );
    return line;
  });
  place.prepend(...lines);
}

export function hideGames() {
  for (const line of document.querySelectorAll(".unfinished")) line.remove();
}
