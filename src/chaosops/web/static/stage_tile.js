// One service of the call graph, or a stack of folded ones.

import { h, HEALTH_MARKS } from "./dom.js";

const FEW = 6; // dots of acts beside each other

export const duration = (ms) => (ms < 10000 ? `${ms}ms` : `${Math.round(ms / 1000)}s`);
const percent = (value) => `${value.toFixed(value < 9.95 ? 1 : 0)}%`;

class Box {
  constructor(name, kind, ...content) {
    this.element = h(kind, { "data-service": name, tabindex: "-1" }, content);
  }

  place({ x, y }, { width, height }) {
    const place = { left: x, top: y, width, height };
    for (const [name, value] of Object.entries(place))
      this.element.style.setProperty(name, `${value}px`);
  }
}

export class Stack extends Box {
  constructor(name, services) {
    super(
      name,
      "li.tile.stack",
      h("p.name", h("span", `${services.length} healthy`)),
      h("p.figures", services.join(", ")),
    );
    this.words = `Folded, healthy so far: ${services.join(", ")}.`;
  }
}

export class Tile extends Box {
  constructor(name) {
    const mark = h("span.mark", { "aria-hidden": "true" });
    const word = h("span.word");
    const figures = h("p.figures");
    const dots = h("span.dots");
    super(name, "li.tile", h("p.name", mark, h("span", name), word), figures, dots);
    Object.assign(this, { name, mark, word, figures, dots });
  }

  /** A role that sees only the health of services has no figures. */
  draw(reading) {
    this.reading = reading;
    const { health, error_pct, latency_ms } = reading;
    this.element.dataset.health = health;
    this.mark.textContent = HEALTH_MARKS[health];
    this.word.textContent = health;
    if (error_pct === undefined) return;
    // Wide tiles have room for half of the label only.
    const gauge = (label, rest, value) => h("span", h("i", label, h("span.rest", rest)), ` ${value}`);
    this.figures.replaceChildren(
      gauge("err", "ors", percent(error_pct)),
      gauge("lat", "ency", duration(latency_ms)),
    );
  }

  /** Nothing is known about this minute. */
  rest() {
    delete this.element.dataset.health;
    this.mark.textContent = "○";
    this.word.textContent = "";
    this.figures.replaceChildren();
  }

  /** A dot for each act of a fleet agent on this service. `verdicts` maps a flagged act to its
   *  verdict. */
  markActs(acts, step, verdicts) {
    const kind = (act) => verdicts.get(act.id) ?? (act.step === step && step > 0 ? "new" : "");
    const shown = acts.slice(-FEW).map((act) => h("i", { class: `dot ${kind(act)}` }));
    const more = acts.length > FEW && h("small", `+${acts.length - FEW}`);
    const spoken = acts.length > 0 && h("span.unseen", `, acts: ${acts.length}`);
    this.dots.replaceChildren(...[more, ...shown, spoken].filter(Boolean));
  }

  get words() {
    const { health, error_pct, latency_ms, cpu_pct, memory_mb, disk_pct, replicas } = this.reading;
    if (error_pct === undefined) return `${this.name} is ${health}.`;
    return (
      `${this.name} is ${health}: errors ${percent(error_pct)}, latency ${duration(latency_ms)}, ` +
      `CPU ${cpu_pct}%, memory ${memory_mb} MB, disk ${disk_pct}%, replicas ${replicas}.`
    );
  }
}
