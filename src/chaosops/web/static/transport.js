// Play, pause and a clock for one recorded case. It starts before the incident, at a negative minute.

import { clock, h, s } from "./dom.js";

const STEP_MS = 700;
const BEFORE_MS = 260; // a minute before the incident
const FLAG_HOLD = 3; // a flag is shown for this many steps

export class Transport {
  /** `draw` is called with the minute that is shown, `ended` when it has played to the end. */
  constructor(draw, { ended = () => {} } = {}) {
    Object.assign(this, { draw, ended, from: 0, to: 0, at: 0, playing: false });
    this.isHeld = () => false;
    const shapes = [
      s("path.when-paused", { d: "M4 2l10 6-10 6z" }),
      s("path.when-playing", { d: "M3 2h4v12H3zM9 2h4v12H9z" }),
    ];
    const icon = s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shapes);
    this.button = h("button.button.icon", { type: "button", onclick: () => this.toggle() }, icon);
    this.range = h("input", { type: "range", step: 1, "aria-label": "Minute" });
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    this.where = h("output", { "aria-hidden": "true" });
    this.element = h("div.transport", this.button, this.range, this.where);
  }

  /** A new clock. `isHeld` tells at which steps it waits longer. */
  begin({ from, to, at = from, playing = true, isHeld = () => false }) {
    Object.assign(this, { from, to, isHeld, playing });
    this.range.min = from;
    this.range.max = to;
    this.#show(Math.max(from, Math.min(at, to)));
    this.#plan();
  }

  go(at) {
    this.playing = false;
    this.#show(Math.max(this.from, Math.min(at, this.to)));
    this.#plan();
  }

  toggle() {
    if (!this.playing && this.at >= this.to) this.at = this.from;
    this.playing = !this.playing;
    this.#show(this.at);
    this.#plan();
  }

  stop() {
    this.playing = false;
    this.#plan();
  }

  #plan() {
    clearTimeout(this.timer);
    this.element.classList.toggle("playing", this.playing);
    this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    if (!this.playing) return;
    const pace = this.at < 0 ? BEFORE_MS : STEP_MS;
    this.timer = setTimeout(
      () => {
        if (this.at >= this.to) return this.#end();
        this.#show(this.at + 1);
        this.#plan();
      },
      pace * (this.isHeld(this.at) ? FLAG_HOLD : 1),
    );
  }

  #end() {
    this.stop();
    this.ended();
  }

  #show(at) {
    this.at = at;
    this.range.value = at;
    this.range.setAttribute("aria-valuetext", clock(at));
    this.where.textContent = clock(at);
    this.draw(at);
  }
}
