// The score of a side in one strip.

import { h, points, RUBRICS } from "./dom.js";
import { explained } from "./words.js";

export class Strip {
  constructor() {
    this.element = h("div.strip", { hidden: true });
  }

  /** A policy that did not play to the end has no number. */
  draw(frame, isStopped) {
    const shown = frame && frame.reward !== undefined && !isStopped;
    this.element.hidden = !shown;
    if (!shown) return;
    if (!this.parts) this.#build();
    this.total.replaceChildren(points(frame.reward), " ", explained("reward"));
    for (const [name, value] of this.rubrics)
      value.replaceChildren(points(frame.rubrics[name] ?? 0));
    const count = (accepts) => frame.flags.filter(accepts).length;
    const facts = {
      "wrong fixes": [frame.wrong_fixes, "minus"],
      "right flags": [count((flag) => flag.caught), "plus"],
      "false flags": [count((flag) => flag.known && !flag.caught), "minus"],
      "flags on nobody": [count((flag) => !flag.known), "minus"],
    };
    for (const [name, [number, tone]] of Object.entries(facts)) {
      const { value, pair } = this.facts.get(name);
      value.textContent = String(number);
      value.className = number ? tone : "";
      if (name === "flags on nobody") pair.hidden = !number;
    }
  }

  /** Built once, so that an open explanation stays open while the numbers change. */
  #build() {
    this.parts = true;
    this.total = h("p.total");
    const pairOf = (name) => {
      const value = h("dd");
      return { value, pair: h("div", h("dt", explained(name)), value) };
    };
    this.rubrics = new Map();
    const rubrics = RUBRICS.map((name) => {
      const { value, pair } = pairOf(name);
      this.rubrics.set(name, value);
      return pair;
    });
    const names = ["wrong fixes", "right flags", "false flags", "flags on nobody"];
    this.facts = new Map(names.map((name) => [name, pairOf(name)]));
    this.element.append(
      this.total,
      h("dl.rubrics", { "aria-label": "Reward by rubric" }, rubrics),
      h("dl.facts", [...this.facts.values()].map(({ pair }) => pair)),
    );
  }
}
