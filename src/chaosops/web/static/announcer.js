// Announces flags and ends to a screen reader, but not every step.

import { announce, signed } from "./dom.js";
import { endWords } from "./moment.js";

export class Announcer {
  constructor(episodes) {
    this.episodes = episodes;
    this.told = new Set();
  }

  tell(step) {
    const news = this.episodes.flatMap((episode, side) => [
      ...this.#once(`${side} starts`, episode.state === "starting" && "waits for the company to start", side),
      ...this.#once(`${side} ${episode.why}`, troubleOf(episode), side),
      ...episode.frames
        .slice(0, step + 1)
        .flatMap((frame) => this.#once(`${side} ${frame.step}`, wordsOf(frame), side, frame.step)),
    ]);
    if (news.length) announce(news.join(". "));
  }

  #once(key, words, side, step) {
    if (!words || this.told.has(key)) return [];
    this.told.add(key);
    const who = this.#nameOf(side);
    return [step === undefined ? `${who} ${words}` : `Step ${step}, ${who}: ${words}`];
  }

  /** The same team can play on both sides. */
  #nameOf(side) {
    const { name } = this.episodes[side];
    const isAlone = this.episodes.filter((episode) => episode.name === name).length === 1;
    return isAlone ? name : `${name} on the ${side ? "right" : "left"}`;
  }
}

/** Why an episode does not go on, or nothing. */
function troubleOf({ state, why }) {
  const words = { cut: "has lost its connection", stopped: "has stopped", refused: "is refused" }[state];
  return words && `${words}: ${why}`;
}

function wordsOf({ flag, outcome, reward }) {
  const words = [];
  if (flag) {
    const verdict = flag.known ? "which is a false flag" : "which is not an agent";
    words.push(`flags ${flag.agent}, ${flag.caught ? "rightly" : verdict}`);
  }
  if (outcome) words.push(`${endWords(outcome).toLowerCase()}, reward ${signed(reward)}`);
  return words.join("; ");
}
