// The run page: choose, watch, or play.

import { announce, byId, complain, h, ROLE_NAMES, signed } from "./dom.js";
import { Announcer } from "./announcer.js";
import { getJson, Refusal } from "./api.js";
import { Column } from "./column.js";
import { Episode } from "./episode.js";
import { listenToKeys } from "./keys.js";
import { Player } from "./player.js";
import { RewardCurve, Score } from "./score.js";
import { Seat } from "./seat.js";
import {
  defaultsOf,
  fromAddress,
  incidentOf,
  isNobody,
  Setup,
  titleOf,
  toAddress,
} from "./setup.js";

const HASTE_MS = 400;

let sides = [];
let stop = new AbortController();
let seat = null;
let announcer = null;
let curve = null;
let lastAsked = -Infinity;

const player = new Player((step) => drawAll(step));

function drawAll(step) {
  for (const side of sides) {
    side.score.draw(step);
    side.column.draw(step);
  }
  curve?.draw(step, player.seen, player.length);
  byId("minis").replaceChildren(...sides.map((side, i) => mini(side.episode, step, i)));
  announcer?.tell(step);
}

/** A line in the playback bar, for a side that is scrolled out of sight. */
function mini(episode, step, side) {
  const frame = episode.at(step);
  const flag = frame?.flags.at(-1);
  const words = episode.silence ?? (frame ? signed(frame.reward) : "…");
  const mark = flag
    ? h(
        "em",
        { class: `tag ${flag.caught ? "right" : "false"}` },
        flag.caught ? "caught" : flag.known ? "false flag" : "no such agent",
      )
    : null;
  return h(
    "a",
    { href: `#side-${side}`, class: `side-${side}` },
    h("span.swatch", { "aria-hidden": "true" }),
    h("span.who", episode.name),
    h("b", words),
    mark,
  );
}

/** Ends what is going on, here and on the server. */
function clear() {
  stop.abort();
  stop = new AbortController();
  seat?.leave();
  seat = null;
  player.end();
  sides = [];
  curve = null;
  announcer = null;
  complain([]);
  for (const id of ["run", "seat", "primer", "compare", "link"]) byId(id).hidden = true;
  byId("intro").classList.add("unseen"); // still the heading of the page
}

function welcome() {
  byId("primer").hidden = false;
  byId("intro").classList.remove("unseen");
}

function bringUp(id) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  byId(id).scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

function showSides(episodes, title) {
  sides = episodes.map((episode, i) => ({
    episode,
    score: new Score(episode, i, episodes),
    column: new Column(episode, i),
  }));
  byId("cards").replaceChildren(...sides.map((side) => side.score.element));
  byId("columns").replaceChildren(...sides.map((side) => side.column.element));
  curve = new RewardCurve(episodes);
  announcer = new Announcer(episodes);
  byId("run-title").textContent = title;
  byId("run").classList.toggle("alone", episodes.length === 1);
  byId("run").hidden = false;
}

/** Of many quick clicks on Run, the last is played. */
async function isLast(signal) {
  const now = performance.now();
  const isHasty = now - lastAsked < HASTE_MS;
  lastAsked = now;
  if (isHasty) await new Promise((resolve) => setTimeout(resolve, HASTE_MS));
  return !signal.aborted;
}

/** `plan`: [name, query] for each side. */
async function watch(plan, title) {
  clear();
  if (!plan.length) {
    welcome();
    complain(["no team was chosen; name one as left or right"]);
    return;
  }
  const { signal } = stop;
  const episodes = plan.map(([name]) => new Episode(name));
  showSides(episodes, title);
  player.begin(episodes);
  bringUp("run");
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
  if (signal.aborted || !episodes.every((one) => one.state === "refused")) return;
  clear();
  welcome();
  complain(episodes.map((one) => one.why));
}

function planOf(choice) {
  const incident = incidentOf(choice);
  if (choice.moves) {
    const { role, partners, moves } = choice;
    const yours = [
      `you as ${ROLE_NAMES[role] ?? role}`,
      { ...incident, role, moves, policy: partners },
    ];
    return isNobody(choice.right ?? "")
      ? [yours]
      : [yours, [choice.right, { ...incident, policy: choice.right }]];
  }
  const names = [choice.left, choice.right].filter((name) => !isNobody(name));
  return names.map((policy) => [policy, { ...incident, policy }]);
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
    clear();
    welcome();
    complain([error.message]);
  }
}

/** The visitor's episode, once it is over, as a spectator would have seen it. */
function showAgain(choice, episode, moves) {
  const address = { ...choice, moves: JSON.stringify(moves) };
  history.replaceState(address, "", toAddress(address));
  seat = null;
  byId("seat").hidden = true;
  showSides([episode], titleOf(choice));
  player.begin([episode]);
  player.toEnd();
  bringUp("run");
  offerComparison(address);
}

/** Offers to show the trained team beside the visitor's episode. */
function offerComparison(address) {
  const button = byId("compare");
  button.hidden = false;
  button.onclick = () => {
    const both = { ...address, right: "trained" };
    history.pushState(both, "", toAddress(both));
    start(both);
  };
}

function start(choice) {
  if (choice.mode === "seat" && !choice.moves) sit(choice);
  else watch(planOf(choice), titleOf(choice));
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
    offerLink();
    return;
  }
  announce(button.textContent);
  setTimeout(() => (button.textContent = "Copy link"), 2500);
}

async function main() {
  let catalogue;
  try {
    catalogue = await getJson("catalogue");
  } catch (error) {
    complain([error.message]);
    return;
  }
  const setup = new Setup(catalogue);
  const go = () => {
    const choice = setup.read();
    if (!choice.seed) {
      complain([`seed must be a whole number from 0 to ${catalogue.last_seed}`]);
      byId("seed").focus();
      return;
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
  byId("copy-link").addEventListener("click", copyLink);
  // A key pressed by mistake must not end a game.
  const runByKey = () => seat?.key || go();
  listenToKeys(player, { run: runByKey, copy: copyLink });
  const open = () => {
    const asked = fromAddress();
    const choice = asked ? setup.complete(asked) : {};
    setup.write({ ...defaultsOf(catalogue, asked?.mode), ...choice });
    if (asked) {
      start(choice);
    } else {
      clear();
      welcome();
    }
  };
  window.addEventListener("popstate", open);
  window.addEventListener("pagehide", () => seat?.leave());
  open();
}

main();
