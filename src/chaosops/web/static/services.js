// The services: cards, or a call graph if there is one.

import { h, s, HEALTH_MARKS } from "./dom.js";
import { CallGraph } from "./stage_graph.js";
import { duration } from "./stage_tile.js";

const HISTORY = 24;

export class Services {
  constructor() {
    this.element = h("div.block");
  }

  #build(start) {
    this.element.append(h("h3", "Services"));
    const { services, calls } = start;
    // null: this role does not see the calls.
    if (Object.keys(calls ?? {}).length > 0) {
      this.graph = new CallGraph(start);
      this.element.append(this.graph.element);
    } else {
      this.tiles = new Map(services.map((name) => [name, tile(name)]));
      const items = [...this.tiles.values()].map(({ element }) => element);
      this.element.append(h("div.services", h("ul", items)));
    }
  }

  /** `past` has the readings of every step so far. A role that sees only the health of services
   *  has readings without figures. */
  draw(start, readings, past) {
    if (!this.tiles && !this.graph) this.#build(start);
    if (this.graph) return this.graph.draw(readings);
    const history = Map.groupBy(past.flat(), (reading) => reading.service);
    for (const reading of readings) {
      const errors = (history.get(reading.service) ?? []).map(({ error_pct }) => error_pct);
      this.tiles.get(reading.service).draw(reading, errors);
    }
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
  const pair = (label, value) => h("span", h("i", label), ` ${value}`);
  return [
    pair("errors", `${reading.error_pct.toFixed(1)}%`),
    pair("latency", duration(reading.latency_ms)),
    pair("CPU", `${reading.cpu_pct}%`),
    pair("memory", `${reading.memory_mb} MB`),
    pair("disk", `${reading.disk_pct}%`),
    pair("replicas", reading.replicas),
  ];
}

/** The scale has a fixed top, so that small changes look small. */
function sparkline(values) {
  if (values.length < 2) return [];
  const top = Math.max(30, ...values);
  const points = values.map(
    (value, i) => `${(100 * i) / (values.length - 1)},${23 - (22 * value) / top}`,
  );
  return [s("polyline", { points: points.join(" ") })];
}
