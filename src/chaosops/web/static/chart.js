// Line charts as inline SVG, in pixels, so that text keeps its size at every width.

import { h, s, signed } from "./dom.js";

const LABEL = 12; // the height of a line of text
const PAD = { left: 52, right: 14, top: 10, bottom: 24 };

/** A drawing that is painted again when its width changes. */
export class Chart {
  constructor(title, height) {
    this.height = height;
    this.svg = s("svg", { role: "img", "aria-label": title, height });
    this.element = h("div.chart", this.svg);
    new ResizeObserver(() => {
      this.width = this.element.clientWidth;
      this.paint();
    }).observe(this.element);
  }

  paint() {
    // Reading it at every step of a run would lay out the whole page again.
    const width = (this.width ||= this.element.clientWidth);
    if (!width) return;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.replaceChildren(...this.parts(width));
  }
}

export class LineChart extends Chart {
  /** `format` writes a value; `xLabel` names what runs along the bottom. */
  constructor({ height, xLabel, title, format = signed }) {
    super(title, height);
    Object.assign(this, { xLabel, format });
    this.readout = h("p.readout.mono", { "aria-hidden": "true", hidden: true });
    this.legend = h("ul.legend");
    this.element.append(this.readout);
    this.element.addEventListener("pointermove", (event) => this.#hover(event));
    this.element.addEventListener("pointerleave", () => this.#leave());
  }

  /** A curve: {name, kind, points: [[x, y]], ghost?, marks?}. `at` is a vertical line. A level is
   *  a line across the chart, as of a policy that does not learn: {name, value}. */
  draw(curves, { from, to, at, levels = [] } = {}) {
    this.curves = curves;
    this.levels = levels;
    const xs = curves.flatMap((curve) => (curve.ghost ?? curve.points).map(([x]) => x));
    this.range = { from: from ?? Math.min(...xs), to: to ?? Math.max(...xs), at };
    this.legend.replaceChildren(
      ...curves.map((curve) =>
        h(`li.${curve.kind}`, h("span.key", { "aria-hidden": "true" }), curve.name),
      ),
    );
    this.paint();
  }

  parts(width) {
    if (!this.curves) return [];
    const { from, to, at } = this.range;
    const ys = this.curves
      .flatMap((curve) => (curve.ghost ?? curve.points).map(([, y]) => y))
      .concat(this.levels.map(({ value }) => value));
    const [least, most] = [Math.min(...ys, 0), Math.max(...ys, 0)];
    const air = (most - least || 1) * 0.06;
    const bottom = this.height - PAD.bottom;
    const inner = width - PAD.left - PAD.right;
    this.x = (value) => PAD.left + (inner * (value - from)) / (to - from || 1);
    this.y = (value) =>
      PAD.top + ((bottom - PAD.top) * (most + air - value)) / (most - least + 2 * air);
    const line = (kind, x1, x2, y1, y2) => s(`line.${kind}`, { x1, x2, y1, y2 });
    const rows = niceTicks(least, most, 4, air).flatMap((tick) => {
      const [kind, y] = [tick === 0 ? "zero" : "grid", this.y(tick)];
      return [
        line(kind, PAD.left, width - PAD.right, y, y),
        s("text", { x: PAD.left - 8, y: y + 4, "text-anchor": "end" }, this.format(tick)),
      ];
    });
    const columns = niceTicks(from, to, Math.max(2, Math.floor(inner / 60)))
      .filter(Number.isInteger)
      .map((tick) =>
        s("text", { x: this.x(tick), y: this.height - 6, "text-anchor": "middle" }, tick),
      );
    const now = at === undefined ? [] : [line("now", this.x(at), this.x(at), PAD.top, bottom)];
    this.cross = line("cross", 0, 0, PAD.top, bottom);
    this.cross.setAttribute("visibility", "hidden");
    const curves = this.curves.flatMap((curve) => this.#curve(curve));
    return [...rows, ...columns, ...now, ...this.#levels(width), this.cross, ...curves];
  }

  /** Levels that are close to each other share a label. */
  #levels(width) {
    const groups = [];
    for (const level of this.levels.toSorted((a, b) => b.value - a.value)) {
      const y = this.y(level.value);
      const last = groups.at(-1);
      if (last && y - last.y < LABEL) last.names.push(level.name);
      else groups.push({ y, names: [level.name] });
    }
    const end = width - PAD.right;
    return [
      ...this.levels.map(({ value }) =>
        s("line.level", { x1: PAD.left, x2: end, y1: this.y(value), y2: this.y(value) }),
      ),
      ...groups.map(({ y, names }) => {
        const above = y - 4 > PAD.top ? y - 4 : y + 11;
        return s("text.level", { x: end, y: above, "text-anchor": "end" }, names.join(", "));
      }),
    ];
  }

  #curve({ kind, points, ghost, marks }) {
    const path = (some) =>
      some.map(([x, y]) => `${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`).join(" ");
    const tips = points.slice(-1).map(([x, y]) => ({ cx: this.x(x), cy: this.y(y), r: 3.5 }));
    const flags = (marks ?? []).map((mark) => {
      const [x, y] = [this.x(mark.x), this.y(mark.y)];
      const flag = `M${x - 4} ${y}v-15h10l-3 4 3 4h-8v7z`;
      const cross = `M${x - 5} ${y - 5}l10 10m0-10l-10 10`;
      const d = mark.kind === "right" ? flag : cross;
      return s(`path.flagged.${mark.kind}`, { d }, s("title", mark.words));
    });
    return [
      ...(ghost ? [s(`polyline.ghost.${kind}`, { points: path(ghost) })] : []),
      s(`polyline.${kind}`, { points: path(points) }),
      ...tips.map((place) => s(`circle.tip.${kind}`, place)),
      ...flags,
    ];
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
        h(`span.${curve.kind}`, h("span.key"), `${curve.name} ${this.format(point[1])}`),
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

/** Round numbers in a range, or just outside it. */
export function niceTicks(low, high, about, outside = 0) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? 10 * power;
  const ticks = [];
  for (let i = Math.floor(low / size); i <= Math.ceil(high / size); i += 1)
    ticks.push(Math.round(i * size * 1e6) / 1e6);
  return ticks.filter((tick) => tick >= low - outside && tick <= high + outside);
}
