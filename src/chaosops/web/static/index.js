// The run page: choose, watch, or play.

import { announce, byId, complain, h, plural, ROLE_NAMES, signed, tag } from "./dom.js";
import { Announcer } from "./announcer.js";
import { Refusal } from "./api.js";
import { CaseFiles } from "./case_file.js";
import { Column } from "./column.js";
import { Episode } from "./episode.js";
import { Home } from "./home.js";
import { invite, needsModel } from "./invitation.js";
import { listenToKeys } from "./keys.js";
import { askToStart, isLive, offerLive } from "./live.js";
import { askToLeave, forgetGame, hideGames, keepGame, offerGame } from "./leaving.js";
import { readPatiently } from "./patience.js";
import { Player } from "./player.js";
import { RewardCurve } from "./reward_curve.js";
import { Seat } from "./seat.js";
import { defaultsOf, fromAddress, incidentOf, NOBODY, Setup, toAddress } from "./setup.js";
import { Stage } from "./stage.js";
import { Ribbons } from "./stage_ribbon.js";
import { explainAll } from "./words.js";

const HASTE_MS = 400;
const OVERSIGHT = "oversight";

const player = new Player();
const home = new Home();
let stop = new AbortController();
let seat = null;
let setup = null;
let lastAsked = -Infinity;

/** A line in the playback bar, for a side that is scrolled out of sight. */
function mini(episode, step, side) {
  const frame = episode.at(step);
  const words = episode.silence ?? (frame ? signed(frame.reward) : "…");
  return h(
    `a.side-${side}`,
    { href: `#side-${side}` },
    h("span.swatch", { "aria-hidden": "true" }),
    h("span.who", episode.name),
    h("b", words),
    flagTags(frame?.flags ?? []).map(tag),
  );
}

/** All flags so far: the rogue caught, innocent agents accused, names that nobody has. */
function flagTags(flags) {
  const wrong = flags.filter((flag) => flag.known && !flag.caught).length;
  const unknown = flags.filter((flag) => !flag.known).length;
  return [
    flags.some((flag) => flag.caught) && { kind: "right", words: "caught" },
    wrong > 0 && { kind: "false", words: plural(wrong, "false flag") },
    unknown > 0 && { kind: "false", words: `${plural(unknown, "flag")} on nobody` },
  ].filter(Boolean);
}

/** Stops the current run, here and on the server. With errors, the start page is shown again. */
function clear(errors = null) {
  stop.abort();
  stop = new AbortController();
  seat?.leave();
  seat = null;
  player.end();
  for (const id of ["run", "seat", "compare", "link"]) byId(id).hidden = true;
  hideGames();
  byId("primer").hidden = !errors;
  if (errors) home.show();
  else home.hide();
  byId("intro").classList.toggle("unseen", !errors); // still the heading of the page
  complain(errors ?? []);
}

function bringUp(id) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  byId(id).scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

function show(episodes, title, incident) {
  const seek = (step) => player.go(step);
  const stages = episodes.map((episode, i) => new Stage(episode, i, { seek }));
  const columns = episodes.map((episode, i) => new Column(episode, i));
  const curve = new RewardCurve(episodes);
  const ribbons = new Ribbons(byId("ribbons"), episodes);
  const files = new CaseFiles(episodes, seek, incident);
  const announcer = new Announcer(episodes);
  byId("cards").replaceChildren(...stages.map((stage) => stage.element));
  byId("columns").replaceChildren(...columns.map((column) => column.element));
  byId("case-files").replaceChildren(files.element);
  byId("run-title").textContent = title;
  byId("run").classList.toggle("alone", episodes.length === 1);
  byId("run").hidden = false;
  player.begin(episodes, (step) => {
    for (const stage of stages) stage.draw(step, player.length);
    for (const column of columns) column.draw(step);
    ribbons.draw(player.seen, player.length);
    curve.draw(step, player.seen, player.length);
    byId("minis").replaceChildren(...episodes.map((episode, i) => mini(episode, step, i)));
    files.draw(step);
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
async function watch(plan, title, isRealTime) {
  if (!plan.length) return clear(["no team was chosen; name one as left or right"]);
  clear();
  const { signal } = stop;
  const episodes = plan.map(([name]) => new Episode(name, { isRealTime }));
  show(episodes, title, plan[0][1]);
  if (!(await isLast(signal))) return;
  const played = episodes.map((episode, i) =>
    episode.play(plan[i][1], signal, () => !signal.aborted && player.changed()),
  );
  const clock = setInterval(
    () => episodes.some((one) => one.isPreparing) && player.changed(),
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
  // A link may give a policy one role, and the others to partners.
  const isMixed = partners && !moves && !incident.recorded;
  const team = isMixed ? { role: role ?? OVERSIGHT, partners } : {};
  const label = (policy) => (isMixed ? `${policy} as ${ROLE_NAMES[team.role] ?? team.role}` : policy);
  return [...yours, ...names.map((policy) => [label(policy), { ...incident, policy, ...team }])];
}

async function sit(choice) {
  clear();
  const { signal } = stop;
  byId("seat").hidden = false;
  seat = new Seat(byId("seat"), choice, signal, {
    // The moves are in the address, so a game survives a reload, Back and Forward, and a link.
    moved: (moves) => {
      keepInAddress({ ...choice, moves: JSON.stringify(moves) });
      keepGame(location.search);
    },
    ended: (episode, moves) => {
      forgetGame(location.search);
      showAgain(choice, episode, moves);
    },
  });
  bringUp("seat");
  try {
    if (await isLast(signal)) await seat.begin();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refusal)) throw error;
    clear([error.message]);
  }
}

const keepInAddress = (choice) => history.replaceState(choice, "", toAddress(choice));

/** The visitor's episode, once it is over, as a spectator would have seen it. Its address has no
 *  mode: there is nothing left to play. */
function showAgain({ mode, left, right: _, ...choice }, episode, moves) {
  const address = { ...choice, moves: JSON.stringify(moves) };
  keepInAddress(address);
  seat = null;
  byId("seat").hidden = true;
  show([episode], setup.titleOf(choice), choice);
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
  if (choice.mode === "seat") sit(choice);
  else watch(planOf(choice), setup.titleOf(choice), isLive(setup, choice));
}

function inviteTo(choice) {
  clear();
  invite(byId("seat"), choice, setup.titleOf(choice), () => start(choice));
}

function askAbout(choice) {
  clear();
  askToStart(byId("seat"), setup.titleOf(choice), () => start(choice));
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
  if (!fromAddress()) home.show();
  let catalogue;
  try {
    catalogue = await readPatiently("catalogue");
  } catch (error) {
    return complain([error.message]);
  }
  setup = new Setup(catalogue);
  explainAll(setup.form);
  offerLive(byId("live"), catalogue, (choice) => {
    setup.write(choice);
    history.pushState(choice, "", toAddress(choice));
    start(choice);
  });
  const go = async () => {
    const choice = setup.read();
    if (!choice.seed) {
      byId("seed").focus();
      return complain([`seed must be a whole number from 0 to ${catalogue.last_seed}`]);
    }
    if (seat?.key && seat.moves.length && !(await askToLeave(seat.moves.length))) return;
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
  // A key pressed by mistake must not end a game, nor start processes.
  const runByKey = () => seat?.key || isLive(setup, setup.read()) || go();
  listenToKeys(player, { run: runByKey, copy: copyLink });
  const open = () => {
    const asked = fromAddress();
    const choice = asked ? setup.complete(asked) : {};
    setup.write({ ...defaultsOf(catalogue, asked?.mode), ...choice });
    if (choice.mode === "seat" && needsModel(catalogue, choice)) return inviteTo(choice);
    if (isLive(setup, choice)) return askAbout(choice);
    if (asked) return start(choice);
    clear([]);
    offerGame(byId("main"));
  };
  window.addEventListener("popstate", open);
  window.addEventListener("pagehide", () => seat?.leave());
  open();
}

main();
