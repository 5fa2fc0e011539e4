// Means with their intervals, a row for each policy, on one axis.

import { h, s, signed } from "./dom.js";
import { niceTicks } from "./chart.js";

const ROW = 26;
const PAD = { left: 104, right: 16, top: 4, bottom: 22 };

export class IntervalChart {
  constructor(tier, rows) {
    this.rows = rows;
    const height = PAD.top + PAD.bottom + ROW * rows.length;
    const words = rows.map((row) => `${row.policy} ${signed(row.mean_reward)}`).join(", ");
    this.svg = s("svg", { role: "img", "aria-label": `${tier}: ${words}`, height });
    this.box = h("div.chart", this.svg);
    this.element = h("figure.tier", h("figcaption", tier), this.box);
    new ResizeObserver(() => this.#paint(height)).observe(this.box);
  }

  #paint(height) {
    const width = this.box.clientWidth;
    if (!width) return;
    const values = this.rows.flatMap((row) => [row.mean_reward, ...(row.reward_ci95 ?? [])]);
    const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)];
    const inner = width - PAD.left - PAD.right;
    const x = (value) => PAD.left + (inner * (value - least)) / (most - least || 1);
    const ticks = niceTicks(least, most, Math.max(2, Math.floor(inner / 80))).filter(
      (tick) => tick >= least && tick <= most,
    );
    const bottom = height - PAD.bottom;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(
      ...ticks.flatMap((tick) => [
        s("line", {
          class: tick === 0 ? "zero" : "grid",
          x1: x(tick),
          x2: x(tick),
          y1: PAD.top,
          y2: bottom,
        }),
        s("text", { x: x(tick), y: height - 6, "text-anchor": "middle" }, signed(tick)),
      ]),
      ...this.rows.flatMap((row, i) => this.#row(row, PAD.top + ROW * (i + 0.5), x)),
    );
  }

  #row(row, y, x) {
    const kind = row.policy === "trained" ? "ours" : "theirs";
    const [low, high] = row.reward_ci95 ?? [row.mean_reward, row.mean_reward];
    const reach = row.reward_ci95 ? `${signed(low)} to ${signed(high)}` : "no interval";
    const words = `${row.policy}: ${signed(row.mean_reward)}, ${reach}, ${row.episodes} episodes`;
    const name = row.policy.length > 14 ? `${row.policy.slice(0, 13)}…` : row.policy;
    return [
      s("text", { class: `name ${kind}`, x: PAD.left - 10, y: y + 4, "text-anchor": "end" }, name),
      s(
        "g",
        { class: `interval ${kind}` },
        s("title", words),
        s("rect.reach", {
          x: PAD.left,
          y: y - ROW / 2,
          width: Math.max(0, x(high) - PAD.left + 8),
          height: ROW,
        }),
        s("line", { x1: x(low), x2: x(high), y1: y, y2: y }),
        s("circle", { cx: x(row.mean_reward), cy: y, r: 4.5 }),
      ),
    ];
  }
}
