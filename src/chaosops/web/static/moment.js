// The banner of a side: a flag, the end, the latest turn, or what it waits for.

import { h, s, plural, points, ROLE_NAMES } from "./dom.js";

export function moment(episode, step) {
  const frame = episode.at(step);
  if (episode.state === "cut" && step >= episode.last) return absence("Connection lost", episode);
  if (episode.silence && step >= episode.last) return absence(episode.silence, episode);
  if (!frame) return waiting(episode);
  if (episode.thinking && step >= episode.last) return banner("calm.busy", h("p", thinkingWords(episode.thinking)));
  if (frame.flag) return flagging(frame.flag, frame.outcome);
  if (frame.outcome) return ending(frame.outcome, frame.flags);
  return latestTurn(frame);
}

export function endWords(outcome) {
  return `${outcome.resolved ? "Resolved" : "Not resolved"} in ${plural(outcome.steps, "step")}`;
}

const banner = (kind, ...children) => h(`div.banner.${kind}`, ...children);

function absence(word, { why, again }) {
  const button = again && h("button.button", { type: "button", onclick: again }, "Try again");
  return banner("absent", h("p.big", word), h("p", why), button);
}

const STARTS_S = 15; // a company, until its first step

function waiting(episode) {
  if (episode.state === "starting") return starting(secondsOf(episode));
  const since = `Loading ${episode.name}, ${secondsOf(episode)} s.`;
  const words = `${since} Only the first run after a start takes this long.`;
  const isLoading = episode.state === "loading";
  return banner("calm.busy", h("p", isLoading ? words : "Waiting for the server."));
}

/** The processes start, then the half hour before the incident passes, then its fault has to show. */
function starting(seconds) {
  const isLate = seconds > STARTS_S;
  const late = "This is longer than usual: where the fault does not show, the company is started again.";
  const usual = "The incident begins when its fault shows.";
  return banner(
    "calm.busy",
    h("p", `The company starts, ${seconds} s of about ${STARTS_S}. ${isLate ? late : usual}`),
    h("progress", { max: STARTS_S, value: isLate ? null : seconds, "aria-label": "The company starts" }),
  );
}

/** Who decides, for how long, what it has read, and how many wait before it. */
export function thinkingWords({ role, seconds, tokens, ahead }) {
  const queue = ahead ? `, after ${plural(ahead, "call")} of others` : "";
  const read = tokens ? `, ${tokens.toLocaleString("en")} tokens so far` : "";
  return `${ROLE_NAMES[role]} is thinking, ${seconds} s${read}${queue}.`;
}

export const secondsOf = (episode) => Math.round((performance.now() - episode.since) / 1000);

/** Why no line leads from a flag to a service. */
export const NO_ACT = "The flag names an agent, but no act of it: no line leads to a service.";

/** A flag can also end the episode. */
function flagging({ agent, act, caught, known, evidence }, outcome) {
  const judged = caught
    ? "Right: it is the rogue."
    : known
      ? `False flag: ${agent} is innocent.`
      : "No agent has this name; nobody is accused.";
  const verdict = outcome ? `${judged} ${endWords(outcome)}.` : judged;
  const shape = s("path", { d: "M3 15V1h10l-2.5 4L13 9H5v6z" });
  const icon = s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape);
  return banner(
    `flag.${caught ? "right" : "false"}`,
    icon,
    h(
      "div",
      h("p.big", "Oversight flags ", h("span.agent", agent)),
      act !== "" && h("p.evidence", `for ${act}`),
      !evidence && h("p.evidence", { title: NO_ACT }, "names no act"),
      h("p", verdict),
    ),
  );
}

function ending(outcome, flags) {
  const caught = flags.find((flag) => flag.caught);
  const rogue = !outcome.rogue
    ? "no agent did it"
    : outcome.rogue_caught
      ? `rogue ${outcome.rogue} caught at step ${caught.step}`
      : `rogue ${outcome.rogue} not caught`;
  return banner(
    `end.${outcome.resolved ? "right" : "false"}`,
    h("p.big", endWords(outcome)),
    h("p", `It was ${outcome.cause}; ${rogue}.`),
  );
}

function latestTurn({ turn, on_turn }) {
  const first = h("strong", ROLE_NAMES[on_turn]);
  if (!turn) return banner("calm", h("p", "The incident has begun. ", first, " is first."));
  const said = { noop: "does nothing", communicate: `“${turn.words}”` }[turn.verb] ?? turn.words;
  return banner(
    "calm",
    h("p.deed", h("strong", ROLE_NAMES[turn.role]), " ", h("span.mono", said)),
    h(
      "p",
      turn.reward ? [points(turn.reward), " points"] : false,
      turn.came_of_it !== "" && h("strong.came", turn.came_of_it),
    ),
  );
}
