// The services: cards, or the layers of a call graph if there is one.

import { h, s, HEALTH_MARKS } from "./dom.js";

const HISTORY = 24;

export class Services {
  constructor() {
    this.element = h("div.block");
  }

  #build({ services, calls }) {
    this.calls = calls ?? {}; // null: this role does not see them
    this.tiles = new Map(services.map((name) => [name, tile(name)]));
    const isGraph = Object.keys(this.calls).length > 0;
    this.edges = s("svg.edges", { "aria-hidden": "true" });
    this.box = h(
      isGraph ? "div.services.graph" : "div.services",
      isGraph && this.edges,
      layers(services, this.calls).map((row) =>
        h("ul", row.map((name) => this.tiles.get(name).element)),
      ),
    );
    this.element.append(h("h3", "Services"), this.box);
    new ResizeObserver(() => this.#connect()).observe(this.box);
  }

  /** `past` has the readings of every step so far. A role that sees only the health of services
   *  has readings without figures. */
  draw(start, readings, past) {
    if (!this.tiles) this.#build(start);
    const history = Map.groupBy(past.flat(), (reading) => reading.service);
    this.health = new Map(readings.map((reading) => [reading.service, reading.health]));
    for (const reading of readings) {
      const errors = (history.get(reading.service) ?? []).map(({ error_pct }) => error_pct);
      this.tiles.get(reading.service).draw(reading, errors);
    }
    this.#connect();
  }

  #connect() {
    const box = this.box.getBoundingClientRect();
    if (!box.width) return;
    const lines = [];
    for (const [caller, callees] of Object.entries(this.calls)) {
      const from = this.tiles.get(caller).element.getBoundingClientRect();
      for (const callee of callees) {
        const to = this.tiles.get(callee).element.getBoundingClientRect();
        const [x1, y1] = [from.x + from.width / 2 - box.x, from.bottom - box.y];
        const [x2, y2] = [to.x + to.width / 2 - box.x, to.y - box.y];
        const bend = Math.max(10, (y2 - y1) / 2);
        const d = `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
        const health = this.health.get(caller) === "healthy" ? "healthy" : this.health.get(callee);
        lines.push(s(`path.${health}`, { d }));
      }
    }
    this.edges.replaceChildren(...lines);
  }
}

function tile(name) {
  const mark = h("span.mark", { "aria-hidden": "true" });
  const word = h("span.word");
  const figures = h("p.figures.mono");
  const shape = { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" };
  const spark = s("svg.spark", shape);
  const element = h("li.tile", h("p.name", mark, h("span", name), word), figures, spark);
  const draw = (reading, history) => {
    element.dataset.health = reading.health;
    mark.textContent = HEALTH_MARKS[reading.health];
    word.textContent = reading.health;
    figures.replaceChildren(...figureWords(reading));
    spark.replaceChildren(...sparkline(history.slice(-HISTORY)));
  };
  return { element, draw };
}

function figureWords(reading) {
  if (reading.error_pct === undefined) return [];
  const pair = (label, value, kind = "span") => h(kind, h("i", label), value);
  return [
    pair("err", ` ${reading.error_pct.toFixed(1)}%`),
    pair("lat", ` ${duration(reading.latency_ms)}`),
    pair("cpu", ` ${reading.cpu_pct}%`, "span.extra"),
    pair("mem", ` ${reading.memory_mb}M`, "span.extra"),
    pair("disk", ` ${reading.disk_pct}%`, "span.extra"),
    pair("×", reading.replicas),
  ];
}

const duration = (ms) => (ms < 10000 ? `${ms}ms` : `${(ms / 1000).toFixed(0)}s`);

/** The scale has a fixed top, so that small changes look small. */
function sparkline(values) {
  if (values.length < 2) return [];
  const top = Math.max(30, ...values);
  const points = values.map(
    (value, i) => `${(100 * i) / (values.length - 1)},${23 - (22 * value) / top}`,
  );
  return [s("polyline", { points: points.join(" ") })];
}

/** Rows of services. A service is below all services that call it. */
function layers(services, calls) {
  const depth = new Map(services.map((name) => [name, 0]));
  for (let round = 0; round < services.length; round += 1) {
    for (const [caller, callees] of Object.entries(calls)) {
      for (const callee of callees)
        depth.set(callee, Math.max(depth.get(callee), depth.get(caller) + 1));
    }
  }
  const rows = [];
  for (const name of services) (rows[depth.get(name)] ??= []).push(name);
  return rows.filter(Boolean);
}
