// The playback bar: the step that is shown, and how fast it moves on.

import { byId, h } from "./dom.js";

const STEP_MS = 800;
const FLAG_HOLD = 3.5; // a flag is shown for this many steps
const SPEEDS = ["0.5", "1", "2", "4", "0"];

export class Player {
  constructor() {
    this.episodes = [];
    this.step = 0;
    this.seen = 0; // the timeline shows no flag after this step
    this.playing = false;
    this.bar = byId("player");
    byId("play").addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.go(this.step - 1));
    byId("forth").addEventListener("click", () => this.go(this.step + 1));
    byId("scrub").addEventListener("input", (event) => this.go(Number(event.target.value)));
    byId("speed").addEventListener("change", () => this.#plan());
  }

  begin(episodes, draw) {
    Object.assign(this, { episodes, draw });
    this.step = this.seen = 0;
    this.playing = true;
    this.bar.hidden = false;
    this.changed();
  }

  end() {
    clearTimeout(this.timer);
    this.timer = null;
    this.episodes = [];
    this.playing = false;
    this.bar.hidden = true;
  }

  /** The last step, or the step limit of an episode that goes on. */
  get length() {
    const ends = this.episodes.map((one) => (one.done || !one.start ? one.last : one.start.limit));
    return Math.max(0, ...ends);
  }

  get known() {
    return Math.max(0, ...this.episodes.map((one) => one.last));
  }

  /** New frames have come, or an episode has ended. */
  changed() {
    if (!this.episodes.length) return;
    this.#show();
    if (this.playing && !this.timer) this.#plan();
  }

  toggle() {
    if (!this.playing && this.#atEnd()) this.step = 0;
    this.playing = !this.playing;
    this.#plan();
    this.#show();
  }

  go(step) {
    this.playing = false;
    this.step = Math.max(0, Math.min(step, this.known));
    this.#plan();
    this.#show();
  }

  toEnd() {
    this.go(this.known);
  }

  faster(by) {
    const select = byId("speed");
    const index = SPEEDS.indexOf(select.value) + by;
    select.value = SPEEDS[Math.max(0, Math.min(index, SPEEDS.length - 1))];
    this.#plan();
  }

  #atEnd() {
    return this.episodes.every((one) => one.done) && this.step >= this.known;
  }

  /** A side that waits for its model does not hold up the other. */
  #reach() {
    return this.known;
  }

  #plan() {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.playing) return;
    if (this.#atEnd() && this.episodes.some((one) => one.last > 0)) {
      this.playing = false;
      this.#show();
      return;
    }
    if (this.#reach() <= this.step) return; // changed() is called when there is more
    const flagged = this.episodes.some(
      (one) => one.frames[this.step]?.flag && one.last > this.step,
    );
    const speed = Number(byId("speed").value);
    const wait = speed ? (STEP_MS / speed) * (flagged ? FLAG_HOLD : 1) : 0;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.step = speed ? this.step + 1 : Math.max(this.step, this.#reach());
      this.#show();
      this.#plan();
    }, wait);
  }

  #show() {
    const { length } = this;
    this.seen = Math.max(this.seen, this.step);
    const scrub = byId("scrub");
    scrub.max = String(length);
    scrub.value = String(this.step);
    byId("where").textContent = `${this.step} / ${length}`;
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.bar.classList.toggle("playing", this.playing);
    byId("back").disabled = this.step === 0;
    byId("forth").disabled = this.step >= this.known;
    this.#mark(length);
    this.draw(this.step);
  }

  /** Flags on the timeline, one row for each side. */
  #mark(length) {
    const marks = this.episodes.flatMap((one, side) =>
      (one.at(this.seen)?.flags ?? []).map((flag) => {
        const kind = flag.caught ? "right" : "false";
        return h(`span.${kind}.side-${side}`, { "--at": length ? flag.step / length : 0 });
      }),
    );
    byId("marks").replaceChildren(...marks);
  }
}
