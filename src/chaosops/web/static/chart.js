// Line charts as inline SVG, in pixels, so that text keeps its size at every width.

import { h, s, signed } from "./dom.js";

const PAD = { left: 52, right: 14, top: 10, bottom: 24 };

export class LineChart {
  /** `format` writes a value; `xLabel` names what runs along the bottom. */
  constructor({ height = 200, xLabel = "step", title, format = signed }) {
    Object.assign(this, { height, xLabel, format, title });
    this.svg = s("svg", { role: "img", "aria-label": title, height });
    this.readout = h("p.readout.mono", { "aria-hidden": "true", hidden: true });
    this.legend = h("ul.legend");
    this.element = h("div.chart", this.svg, this.readout);
    this.element.addEventListener("pointermove", (event) => this.#hover(event));
    this.element.addEventListener("pointerleave", () => this.#leave());
    new ResizeObserver(() => this.#paint()).observe(this.element);
  }

  /** A curve: {name, kind, points: [[x, y]], ghost?, marks?}. `at` is a vertical line. */
  draw(curves, { from, to, at } = {}) {
    this.curves = curves;
    const xs = curves.flatMap((curve) => (curve.ghost ?? curve.points).map(([x]) => x));
    this.range = { from: from ?? Math.min(...xs), to: to ?? Math.max(...xs), at };
    this.legend.replaceChildren(
      ...curves.map((curve) =>
        h("li", { class: curve.kind }, h("span.key", { "aria-hidden": "true" }), curve.name),
      ),
    );
    this.#paint();
  }

  #paint() {
    const width = this.element.clientWidth;
    if (!width || !this.curves) return;
    const { from, to, at } = this.range;
    const ys = this.curves.flatMap((curve) => (curve.ghost ?? curve.points).map(([, y]) => y));
    const [least, most] = [Math.min(...ys, 0), Math.max(...ys, 0)];
    const air = (most - least || 1) * 0.06;
    const [low, high] = [least - air, most + air];
    const ticks = niceTicks(least, most).filter((tick) => tick >= low && tick <= high);
    const inner = width - PAD.left - PAD.right;
    this.x = (value) => PAD.left + (inner * (value - from)) / (to - from || 1);
    this.y = (value) =>
      PAD.top + ((this.height - PAD.top - PAD.bottom) * (high - value)) / (high - low || 1);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const rows = ticks.flatMap((tick) => [
      s("line", {
        class: tick === 0 ? "zero" : "grid",
        x1: PAD.left,
        x2: width - PAD.right,
        y1: this.y(tick),
        y2: this.y(tick),
      }),
      s("text", { x: PAD.left - 8, y: this.y(tick) + 4, "text-anchor": "end" }, this.format(tick)),
    ]);
    const columns = niceTicks(from, to, Math.max(2, Math.floor(inner / 60)))
      .filter((tick) => Number.isInteger(tick) && tick >= from && tick <= to)
      .map((tick) =>
        s("text", { x: this.x(tick), y: this.height - 6, "text-anchor": "middle" }, String(tick)),
      );
    this.cross = s("line.cross", {
      y1: PAD.top,
      y2: this.height - PAD.bottom,
      visibility: "hidden",
    });
    const now =
      at === undefined
        ? null
        : s("line.now", {
            x1: this.x(at),
            x2: this.x(at),
            y1: PAD.top,
            y2: this.height - PAD.bottom,
          });
    this.svg.replaceChildren(
      ...rows,
      ...columns,
      ...(now ? [now] : []),
      this.cross,
      ...this.curves.flatMap((curve) => this.#curve(curve)),
    );
  }

  #curve({ kind, points, ghost, marks }) {
    const path = (some) =>
      some.map(([x, y]) => `${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`).join(" ");
    const parts = [];
    if (ghost) parts.push(s("polyline", { class: `ghost ${kind}`, points: path(ghost) }));
    parts.push(s("polyline", { class: `curve ${kind}`, points: path(points) }));
    if (points.length) {
      const [x, y] = points.at(-1);
      parts.push(s("circle", { class: `tip ${kind}`, cx: this.x(x), cy: this.y(y), r: 3.5 }));
    }
    for (const mark of marks ?? []) {
      const [x, y] = [this.x(mark.x), this.y(mark.y)];
      const shape =
        mark.kind === "right"
          ? `M${x - 4} ${y}v-15h10l-3 4 3 4h-8v7z`
          : `M${x - 5} ${y - 5}l10 10m0-10l-10 10`;
      parts.push(
        s("path", { class: `flagged ${mark.kind}`, d: shape }, s("title", mark.words)),
      );
    }
    return parts;
  }

  #hover(event) {
    if (!this.x) return;
    const box = this.element.getBoundingClientRect();
    const { from, to } = this.range;
    const inner = box.width - PAD.left - PAD.right;
    const wanted = from + ((event.clientX - box.x - PAD.left) / inner) * (to - from);
    const near = this.curves
      .filter((curve) => curve.points.length)
      .map((curve) => ({ curve, point: nearest(curve.points, wanted) }));
    if (!near.length) return;
    const x = near
      .map(({ point }) => point[0])
      .reduce((a, b) => (Math.abs(a - wanted) <= Math.abs(b - wanted) ? a : b));
    this.cross.setAttribute("x1", this.x(x));
    this.cross.setAttribute("x2", this.x(x));
    this.cross.setAttribute("visibility", "visible");
    const here = near.filter(({ point }) => Math.abs(point[0] - x) < 1e-9 || near.length > 2);
    this.readout.replaceChildren(
      h("b", `${this.xLabel} ${Math.round(x * 10) / 10}`),
      ...here.map(({ curve, point }) =>
        h("span", { class: curve.kind }, h("span.key"), `${curve.name} ${this.format(point[1])}`),
      ),
    );
    this.readout.hidden = false;
    this.readout.classList.toggle("left", event.clientX - box.x > box.width / 2);
  }

  #leave() {
    this.readout.hidden = true;
    this.cross?.setAttribute("visibility", "hidden");
  }
}

function nearest(points, x) {
  return points.reduce((best, point) =>
    Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best,
  );
}

/** Round numbers that cover a range. */
export function niceTicks(low, high, about = 4) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? 10 * power;
  const ticks = [];
  for (let i = Math.floor(low / size); i <= Math.ceil(high / size); i += 1)
    ticks.push(Math.round(i * size * 1e6) / 1e6);
  return ticks;
}
