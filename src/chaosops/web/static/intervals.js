// Means with their intervals, a row for each policy, on one axis.

import { h, s, signed } from "./dom.js";
import { Chart, niceTicks } from "./chart.js";

const ROW = 26;
const PAD = { left: 104, right: 16, top: 4, bottom: 22 };

export class IntervalChart extends Chart {
  constructor(tier, rows) {
    const words = rows.map((row) => `${row.policy} ${signed(row.mean_reward)}`).join(", ");
    super(`${tier}: ${words}`, PAD.top + PAD.bottom + ROW * rows.length);
    this.rows = rows;
    this.figure = h("figure.tier", h("figcaption", tier), this.element);
  }

  parts(width) {
    const values = this.rows.flatMap((row) => [row.mean_reward, ...(row.reward_ci95 ?? [])]);
    const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)];
    const inner = width - PAD.left - PAD.right;
    const x = (value) => PAD.left + (inner * (value - least)) / (most - least || 1);
    const ticks = niceTicks(least, most, Math.max(2, Math.floor(inner / 80)));
    const [y1, y2] = [PAD.top, this.height - PAD.bottom];
    return [
      ...ticks.flatMap((tick) => [
        s(`line.${tick === 0 ? "zero" : "grid"}`, { x1: x(tick), x2: x(tick), y1, y2 }),
        s("text", { x: x(tick), y: this.height - 6, "text-anchor": "middle" }, signed(tick)),
      ]),
      ...this.rows.flatMap((row, i) => this.#row(row, PAD.top + ROW * (i + 0.5), x)),
    ];
  }

  #row(row, y, x) {
    const kind = row.policy === "trained" ? "ours" : "theirs";
    const [low, high] = row.reward_ci95 ?? [row.mean_reward, row.mean_reward];
    const reach = row.reward_ci95 ? `${signed(low)} to ${signed(high)}` : "no interval";
    const words = `${row.policy}: ${signed(row.mean_reward)}, ${reach}, ${row.episodes} episodes`;
    const name = row.policy.length > 14 ? `${row.policy.slice(0, 13)}…` : row.policy;
    const width = Math.max(0, x(high) - PAD.left + 8);
    return [
      s(`text.name.${kind}`, { x: PAD.left - 10, y: y + 4, "text-anchor": "end" }, name),
      s(
        `g.interval.${kind}`,
        s("title", words),
        s("rect.reach", { x: PAD.left, y: y - ROW / 2, width, height: ROW }),
        s("line", { x1: x(low), x2: x(high), y1: y, y2: y }),
        s("circle", { cx: x(row.mean_reward), cy: y, r: 4.5 }),
      ),
    ];
  }
}
