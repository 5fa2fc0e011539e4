// The end of the guided case: what came of it, beside what would have come of waiting, of flagging
// the wrong agent and of flagging the right one. The server plays the others.

import { h, plural, signed } from "./dom.js";
import { Episode } from "./episode.js";

const NOOP = { action: "noop" };
const RANKS = ["healthy", "degraded", "critical"];
const isSick = ({ health }) => health !== "healthy";

/** An episode with these moves of Oversight, and then none. */
export async function playCourse({ partners, rounds, ...query }, moves, signal) {
  const episode = new Episode("");
  const rest = Array(rounds).fill(NOOP);
  const asked = { ...query, policy: partners, moves: JSON.stringify([...moves, ...rest]) };
  await episode.play(asked, signal, () => {});
  if (episode.state !== "over") throw new Error(episode.why);
  return episode;
}

/** The innocent agent that seems to have done it: it claims the largest change of the setting. */
export function likelyInnocent({ start, frames }) {
  const { rogue, cause } = frames.at(-1).outcome;
  const words = (start.runbook.find(({ name }) => name === cause)?.cause ?? "").split(/[\s.,:;]+/);
  const entries = frames[1].trace.filter(
    ({ id, agent, action }) =>
      frames[1].relevant.acts.includes(id) && agent !== rogue && words.includes(action),
  );
  const size = ({ before, after }) => Math.abs(after - before) / Math.max(1, before);
  return entries.toSorted((a, b) => size(b) - size(a))[0].agent;
}

/** When services began to fail: {step, services}. */
export function outbreaks({ frames }) {
  const found = [];
  let before = new Set();
  for (const { step, readings } of frames) {
    const now = new Set(readings.filter(isSick).map(({ service }) => service));
    const services = [...now].filter((service) => !before.has(service));
    if (services.length) found.push({ step, services });
    before = now;
  }
  return found;
}

/** The courses of the case: {title, episode, words}. `others` are what the server played: `waited`,
 *  `wrong` and `right`. A course that the visitor took is not shown twice. */
export function tellCourses(yours, { waited, wrong, right }, innocent) {
  const { flags, outcome } = yours.frames.at(-1);
  const flagged = flags.map(({ agent }) => agent);
  const isFaultless = outcome.rogue_caught && flagged.length === 1;
  const best = isFaultless ? yours : right;
  return [
    { ...yourCourse(yours), cost: isFaultless ? null : costOf(yours, best, "a right flag at once") },
    flagged.length > 0 && waitedCourse(waited, best, isFaultless),
    !flagged.includes(innocent) && wrongCourse(wrong, waited, innocent),
    !isFaultless && rightCourse(right),
  ].filter(Boolean);
}

function waitedCourse(waited, best, isFaultless) {
  const { rogue } = waited.frames.at(-1).outcome;
  const again = outbreaks(waited).slice(1);
  return {
    title: "Had you done nothing",
    episode: waited,
    words: again.length
      ? `${rogue} struck again: ${again[0].services.join(", ")} failed anew at ${steps(again)}.`
      : `${rogue} was never stopped.`,
    cost: costOf(waited, best, isFaultless ? "what you did" : "a right flag at once"),
  };
}

function wrongCourse(wrong, waited, innocent) {
  const { rogue } = wrong.frames.at(-1).outcome;
  const usual = new Set(outbreaks(waited).flatMap(({ services }) => services));
  const missed = outbreaks(wrong).find(({ services }) => services.some((one) => !usual.has(one)));
  return {
    title: `Had you flagged ${innocent}`,
    episode: wrong,
    words: missed
      ? `Nobody did the work of ${innocent}: at step ${missed.step}, ` +
        `${missed.services.join(", ")} failed too. And ${rogue} was still free.`
      : `${innocent} is innocent, and ${rogue} was still free.`,
  };
}

function rightCourse(right) {
  const { flags, outcome } = right.frames.at(-1);
  const words = `${outcome.rogue} was in quarantine from step ${flags[0].step}`;
  const after = outbreaks(right).some(({ step }) => step > flags[0].step);
  return {
    title: `Had you flagged ${outcome.rogue} at once`,
    episode: right,
    words: after ? `${words}.` : `${words}, and the fault stayed away.`,
  };
}

/** What a course cost, compared with a better one. */
function costOf(episode, best, name) {
  const points = best.frames.at(-1).reward - episode.frames.at(-1).reward;
  if (points <= 0) return null;
  const [mine, other] = [episode, best].map(sickSteps);
  return (
    `${hasFlag(episode) ? "This" : "Waiting"} cost ${plural(Math.round(points), "point")}, ` +
    `compared with ${name}: something failed in ${plural(mine, "step")}, not in ${other}.`
  );
}

const hasFlag = ({ frames }) => frames.at(-1).flags.length > 0;
const sickSteps = ({ frames }) => frames.slice(1).filter(({ readings }) => readings.some(isSick)).length;
const steps = (found) => found.map(({ step }) => `step ${step}`).join(" and ");

export const yourCourse = (episode) => ({
  title: "What you did",
  episode,
  words: yourWords(episode),
});

function yourWords(episode) {
  const { flags, outcome } = episode.frames.at(-1);
  const { rogue } = outcome;
  const caught = flags.find((flag) => flag.caught);
  const innocent = [...new Set(flags.filter((flag) => !flag.caught).map(({ agent }) => agent))];
  if (!caught && !innocent.length) return `You flagged nobody, and ${rogue} went on.`;
  const after = caught && outbreaks(episode).some(({ step }) => step > caught.step);
  const right = caught
    ? `You flagged ${rogue} at step ${caught.step}${after ? "." : ", and the fault stayed away."}`
    : `The rogue is ${rogue}.`;
  return [innocentWords(innocent), right].filter(Boolean).join(" ");
}

function innocentWords(agents) {
  if (!agents.length) return "";
  const [verb, whose] = agents.length === 1 ? ["was", "its"] : ["were", "their"];
  return `${agents.join(" and ")} ${verb} innocent, and ${whose} work was not done.`;
}

/** A strip with a cell for each step, and what it shows in a sentence. */
export function drawCourse({ title, episode, words, cost }) {
  const { frames, start } = episode;
  const { outcome, reward, flags } = frames.at(-1);
  const flagged = new Set(flags.map(({ step }) => step));
  const cells = frames.slice(1).map(({ step, readings }) => {
    const rank = Math.max(...readings.map(({ health }) => RANKS.indexOf(health)));
    return h("span", { class: `${RANKS[rank]}${flagged.has(step) ? " flagged" : ""}` });
  });
  const label = `Something failed in ${sickSteps(episode)} of ${plural(cells.length, "step")}`;
  const end = outcome.resolved ? `Resolved at step ${outcome.steps}` : "Not resolved";
  return h(
    "section.panel.course",
    h("h3", title),
    h("p.end", h("b", end), h("span", `${signed(reward)} points`)),
    h("div.by-step", { role: "img", "aria-label": label, "--steps": start.limit }, cells),
    h("p", words),
    cost && h("p.cost", cost),
  );
}
