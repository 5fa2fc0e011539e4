// The run page: choose, watch, or play.

import { announce, byId, complain, h, ROLE_NAMES, signed, tag } from "./dom.js";
import { Announcer } from "./announcer.js";
import { getJson, Refusal } from "./api.js";
import { Column } from "./column.js";
import { Episode } from "./episode.js";
import { listenToKeys } from "./keys.js";
import { Player } from "./player.js";
import { RewardCurve, Score } from "./score.js";
import { Seat } from "./seat.js";
import { defaultsOf, fromAddress, incidentOf, NOBODY, Setup, toAddress } from "./setup.js";

const HASTE_MS = 400;

const player = new Player();
let stop = new AbortController();
let seat = null;
let setup = null;
let lastAsked = -Infinity;

/** A line in the playback bar, for a side that is scrolled out of sight. */
function mini(episode, step, side) {
  const frame = episode.at(step);
  const flag = frame?.flags.at(-1);
  const words = episode.silence ?? (frame ? signed(frame.reward) : "…");
  const verdict = flag?.known ? "false flag" : "no such agent";
  const wrong = flag && { kind: "false", words: verdict };
  return h(
    `a.side-${side}`,
    { href: `#side-${side}` },
    h("span.swatch", { "aria-hidden": "true" }),
    h("span.who", episode.name),
    h("b", words),
    tag(flag?.caught ? { kind: "right", words: "caught" } : wrong),
  );
}

/** Stops the current run, here and on the server. With errors, the start page is shown again. */
function clear(errors = null) {
  stop.abort();
  stop = new AbortController();
  seat?.leave();
  seat = null;
  player.end();
  for (const id of ["run", "seat", "compare", "link"]) byId(id).hidden = true;
  byId("primer").hidden = !errors;
  byId("intro").classList.toggle("unseen", !errors); // still the heading of the page
  complain(errors ?? []);
}

function bringUp(id) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  byId(id).scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

function show(episodes, title) {
  const scores = episodes.map((episode, i) => new Score(episode, i, episodes));
  const columns = episodes.map((episode, i) => new Column(episode, i));
  const curve = new RewardCurve(episodes);
  const announcer = new Announcer(episodes);
  byId("cards").replaceChildren(...scores.map((score) => score.element));
  byId("columns").replaceChildren(...columns.map((column) => column.element));
  byId("run-title").textContent = title;
  byId("run").classList.toggle("alone", episodes.length === 1);
  byId("run").hidden = false;
  player.begin(episodes, (step) => {
    for (const part of [...scores, ...columns]) part.draw(step);
    curve.draw(step, player.seen, player.length);
    byId("minis").replaceChildren(...episodes.map((episode, i) => mini(episode, step, i)));
    announcer.tell(step);
  });
  bringUp("run");
}

/** After many quick clicks on Run, only the last run is played. */
async function isLast(signal) {
  const now = performance.now();
  const isHasty = now - lastAsked < HASTE_MS;
  lastAsked = now;
  if (isHasty) await new Promise((resolve) => setTimeout(resolve, HASTE_MS));
  return !signal.aborted;
}

/** `plan`: [name, query] for each side. */
async function watch(plan, title) {
  if (!plan.length) return clear(["no team was chosen; name one as left or right"]);
  clear();
  const { signal } = stop;
  const episodes = plan.map(([name]) => new Episode(name));
  show(episodes, title);
  if (!(await isLast(signal))) return;
  const played = episodes.map((episode, i) =>
    episode.play(plan[i][1], signal, () => !signal.aborted && player.changed()),
  );
  const clock = setInterval(
    () => episodes.some((one) => one.state === "loading") && player.changed(),
    1000,
  );
  signal.addEventListener("abort", () => clearInterval(clock));
  await Promise.all(played);
  const isRefused = episodes.every((one) => one.state === "refused");
  if (isRefused && !signal.aborted) clear(episodes.map((one) => one.why));
}

function planOf(choice) {
  const incident = incidentOf(choice);
  const { role, partners, moves, left, right = NOBODY } = choice;
  const you = `you as ${ROLE_NAMES[role] ?? role}`;
  const yours = moves ? [[you, { ...incident, role, moves, policy: partners }]] : [];
  const names = (moves ? [right] : [left, right]).filter((name) => name && name !== NOBODY);
  return [...yours, ...names.map((policy) => [policy, { ...incident, policy }])];
}

async function sit(choice) {
  clear();
  const { signal } = stop;
  byId("seat").hidden = false;
  seat = new Seat(byId("seat"), choice, signal, (episode, moves) =>
    showAgain(choice, episode, moves),
  );
  bringUp("seat");
  try {
    if (await isLast(signal)) await seat.begin();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refusal)) throw error;
    clear([error.message]);
  }
}

/** The visitor's episode, once it is over, as a spectator would have seen it. */
function showAgain(choice, episode, moves) {
  const address = { ...choice, moves: JSON.stringify(moves) };
  history.replaceState(address, "", toAddress(address));
  seat = null;
  byId("seat").hidden = true;
  show([episode], setup.titleOf(choice));
  player.toEnd();
  const { right } = setup.packOf(choice.pack).defaults;
  byId("compare").textContent = `Beside it: ${right}`;
  byId("compare").hidden = false;
  byId("compare").onclick = () => {
    const both = { ...address, right };
    history.pushState(both, "", toAddress(both));
    start(both);
  };
}

function start(choice) {
  if (choice.mode === "seat" && !choice.moves) sit(choice);
  else watch(planOf(choice), setup.titleOf(choice));
}

/** For pages that may not write to the clipboard, as in a frame of another site. */
function offerLink() {
  if (byId("run").hidden) return;
  const field = byId("link");
  field.value = location.href;
  field.hidden = false;
  field.focus();
  field.select();
  announce("The link is selected; copy it.");
}

async function copyLink() {
  const button = byId("copy-link");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    return offerLink();
  }
  announce(button.textContent);
  setTimeout(() => (button.textContent = "Copy link"), 2500);
}

async function main() {
  let catalogue;
  try {
    catalogue = await getJson("catalogue");
  } catch (error) {
    return complain([error.message]);
  }
  setup = new Setup(catalogue);
  const go = () => {
    const choice = setup.read();
    if (!choice.seed) {
      byId("seed").focus();
      return complain([`seed must be a whole number from 0 to ${catalogue.last_seed}`]);
    }
    const address = toAddress(choice);
    if (address === toAddress(location.search)) history.replaceState(choice, "", address);
    else history.pushState(choice, "", address);
    start(choice);
  };
  setup.form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  // Before this moment the browser itself would send the form, with its hidden fields.
  setup.form.inert = false;
  byId("copy-link").addEventListener("click", copyLink);
  // A key pressed by mistake must not end a game.
  const runByKey = () => seat?.key || go();
  listenToKeys(player, { run: runByKey, copy: copyLink });
  const open = () => {
    const asked = fromAddress();
    const choice = asked ? setup.complete(asked) : {};
    setup.write({ ...defaultsOf(catalogue, asked?.mode), ...choice });
    if (asked) start(choice);
    else clear([]);
  };
  window.addEventListener("popstate", open);
  window.addEventListener("pagehide", () => seat?.leave());
  open();
}

main();
