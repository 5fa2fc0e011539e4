// One episode from the server: the start, then a frame for each turn.

import { pause, Refusal, stream, Unreachable, WAITS } from "./api.js";

const GROWING = ["logs", "trace", "chat", "findings"];
const SILENT = ["unavailable", "refused", "stopped"];

/** States: waiting, loading, starting, live, over; cut, unavailable, refused and stopped have a
 *  reason. */
export class Episode {
  /** `isRealTime`: it starts processes, and cannot be had again. */
  constructor(name, { isRealTime = false } = {}) {
    this.name = name;
    this.isRealTime = isRealTime;
    this.state = "waiting";
    this.why = "";
    this.again = null; // asks the server again, where it was asked in vain
    this.start = null;
    this.frames = [];
    this.thinking = null; // which role a model decides for, and since when
    this.caseFile = null; // the last line, when the episode is over
    this.since = performance.now();
  }

  get done() {
    return ["over", ...SILENT].includes(this.state);
  }

  /** A model is loaded, or processes start. */
  get isPreparing() {
    return ["loading", "starting"].includes(this.state);
  }

  /** The word for an episode that did not reach its end. */
  get silence() {
    return SILENT.includes(this.state) ? this.state.toUpperCase() : null;
  }

  get last() {
    return this.frames.length - 1;
  }

  /** The frame at a step, or the last frame. */
  at(step) {
    return this.frames[Math.min(step, this.last)] ?? null;
  }

  take(message) {
    const { kind, why } = message;
    if (kind === "frame") this.#add(message);
    else if (kind === "case_file") this.caseFile = message;
    else if (kind === "thinking") this.thinking = message;
    else if (kind === "start") Object.assign(this, { state: "live", start: message });
    else Object.assign(this, { state: kind, why });
    if (kind === "starting") this.since = performance.now();
  }

  #add(message) {
    this.state = "live";
    if (message.step <= this.last) return; // known from before the connection was cut
    const before = this.frames.at(-1);
    const frame = { ...message };
    for (const name of GROWING) {
      const { drop, add } = message[name];
      frame[name] = [...(before?.[name] ?? []).slice(drop), ...add];
    }
    // The trace forgets its oldest acts; the stage shows them all.
    frame.acts = [...(before?.acts ?? []), ...message.trace.add];
    // The latest suspicion stays on the screen until there is a new one.
    frame.suspicion = message.turn?.suspicion ?? before?.suspicion ?? null;
    this.thinking = null;
    this.frames.push(frame);
    if (frame.outcome) this.state = "over";
  }

  /** Plays on the server until the end; `changed` is called after every message. An episode whose
   *  connection was cut is asked for again: it is the same one, so it goes on where it stopped. */
  async play(query, signal, changed) {
    this.again = null;
    let tries = 0;
    while (!signal.aborted) {
      const before = this.frames.length;
      const why = await this.#follow(query, signal, changed);
      if (why === null || signal.aborted) break;
      if (this.isRealTime) {
        this.take({ kind: "stopped", why: `${why}; its processes end with it` });
        break;
      }
      if (this.frames.length > before) tries = 0;
      if (tries === WAITS.length) {
        this.again = () => this.play(query, signal, changed);
        this.take({ kind: "stopped", why });
        break;
      }
      this.take({ kind: "cut", why: `${why}, trying again in ${WAITS[tries]} s` });
      changed();
      await pause(WAITS[tries], signal);
      tries += 1;
    }
    if (!signal.aborted) changed();
  }

  /** Follows the stream once. Answers why it was cut, or null. */
  async #follow(query, signal, changed) {
    try {
      const method = this.isRealTime ? "POST" : "GET";
      for await (const message of stream("episode", { query, signal, method })) {
        this.take(message);
        changed();
      }
      return this.done ? null : "the connection was cut";
    } catch (error) {
      if (error.name === "AbortError") return null;
      if (error instanceof Unreachable) return "the server cannot be reached";
      if (!(error instanceof Refusal)) return "the connection was cut";
      this.take({ kind: "refused", why: error.message });
      return null;
    }
  }
}
