// The reward over the steps, a line for each team, with its flags.

import { byId, h } from "./dom.js";
import { LineChart } from "./chart.js";

export class RewardCurve {
  constructor(episodes) {
    this.episodes = episodes;
    const title = "Reward so far";
    this.chart = new LineChart({ height: 150, xLabel: "step", title });
    const caption = h("figcaption", h("h3", title), this.chart.legend);
    byId("curve").replaceChildren(caption, this.chart.element);
  }

  draw(step, seen, length) {
    const until = (one, last) =>
      one.frames.slice(0, last + 1).map((frame) => [frame.step, frame.reward]);
    const curves = this.episodes.map((one, side) => ({
      name: one.name,
      kind: `side-${side}`,
      points: until(one, step),
      ghost: until(one, seen),
      marks: (one.at(step)?.flags ?? []).map((flag) => ({
        x: flag.step,
        y: one.frames[flag.step].reward,
        kind: flag.caught ? "right" : "false",
        words: `flags ${flag.agent}`,
      })),
    }));
    byId("curve").hidden = curves.every((curve) => curve.ghost.length === 0);
    this.chart.draw(curves, { from: 0, to: Math.max(1, length), at: step });
  }
}
