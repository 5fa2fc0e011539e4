// One episode from the server: the start, then a frame for each turn.

import { stream, Refusal } from "./api.js";

const GROWING = ["logs", "trace", "chat", "findings"];
const SILENT = ["unavailable", "refused", "stopped"];

/** States: waiting, loading, live, over; unavailable, refused and stopped have a reason. */
export class Episode {
  constructor(name) {
    this.name = name;
    this.state = "waiting";
    this.why = "";
    this.start = null;
    this.frames = [];
    this.since = performance.now();
  }

  get done() {
    return ["over", ...SILENT].includes(this.state);
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
    else if (kind === "start") Object.assign(this, { state: "live", start: message });
    else Object.assign(this, { state: kind, why });
  }

  #add(message) {
    const before = this.frames.at(-1);
    const frame = { ...message };
    for (const name of GROWING) {
      const { drop, add } = message[name];
      frame[name] = [...(before?.[name] ?? []).slice(drop), ...add];
    }
    // The latest suspicion stays on the screen until there is a new one.
    frame.suspicion = message.turn?.suspicion ?? before?.suspicion ?? null;
    this.frames.push(frame);
    if (frame.outcome) this.state = "over";
  }

  /** Plays on the server until the end; `changed` is called after every message. */
  async play(query, signal, changed) {
    try {
      for await (const message of stream("episode", { query, signal })) {
        this.take(message);
        changed();
      }
      if (!this.done) this.take({ kind: "stopped", why: "the connection was cut before the end" });
    } catch (error) {
      if (error.name === "AbortError") return;
      // Only the answer to the first request can be a refusal.
      if (error instanceof Refusal) this.take({ kind: "refused", why: error.message });
      else this.take({ kind: "stopped", why: "the connection was cut" });
    }
    changed();
  }
}
