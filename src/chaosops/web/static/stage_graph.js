// The call graph of a company: callers left, what they call right.

import { h, s } from "./dom.js";
import { foldGraph, isStack, MANY } from "./stage_fold.js";
import { layOut, SHAPES } from "./stage_layout.js";
import { Stack, Tile } from "./stage_tile.js";

const LEAST_SCALE = 0.68; // smaller, and nobody can read it: the box scrolls instead
const MOST_SCALE = 1.35;
const TALL_SCALE = 0.8; // an upright graph on a desktop: small, so that the lanes stay near
const PHONE = matchMedia("(max-width: 760px)");

export class CallGraph {
  /** `tell` is called with words about what the visitor points at, or null. With `fill` the graph
   *  fits the height of its box too. */
  constructor({ services, calls }, { tell = () => {}, fill = false } = {}) {
    Object.assign(this, { services, calls, tell, fill });
    this.failed = new Set();
    this.health = new Map();
    this.isFolded = services.length > MANY;
    this.edges = s("svg.edges", { "aria-hidden": "true" });
    this.boxes = new Map(services.map((name) => [name, new Tile(name)]));
    this.list = h("ul", { "aria-label": "Services" });
    this.canvas = h("div.canvas", this.edges, this.list);
    this.scroller = h("div.scroller", this.canvas);
    const onclick = () => this.#toggle();
    this.toggle = h("button.button.bare.unfold", { type: "button", hidden: !this.isFolded, onclick });
    this.element = h(fill ? "div.graph.fill" : "div.graph", this.scroller, this.toggle);
    this.#listen();
    this.#place();
    new ResizeObserver(() => this.#fit()).observe(this.scroller);
  }

  /** `acts` are those so far; `verdicts` maps the number of a flagged act to right or false. */
  draw(readings, { acts = [], step = 0, verdicts = new Map() } = {}) {
    const flagged = acts.filter(({ id }) => verdicts.has(id)).map(({ target }) => target);
    const failing = readings.filter(({ health }) => health !== "healthy");
    const open = [...failing.map(({ service }) => service), ...flagged];
    const news = open.filter((name) => this.boxes.has(name) && !this.failed.has(name));
    for (const name of news) this.failed.add(name);
    if (news.length && this.isFolded) this.#place();
    this.health = new Map(readings.map((reading) => [reading.service, reading.health]));
    const byTarget = Map.groupBy(acts, ({ target }) => target);
    for (const reading of readings) {
      const tile = this.boxes.get(reading.service);
      tile.draw(reading);
      tile.markActs(byTarget.get(reading.service) ?? [], step, verdicts);
    }
    this.#colour();
  }

  /** A minute for which only the acts are known. */
  rest(acts, step) {
    const byTarget = Map.groupBy(acts, ({ target }) => target);
    for (const name of this.services) {
      this.boxes.get(name).rest();
      this.boxes.get(name).markActs(byTarget.get(name) ?? [], step, new Map());
    }
    this.health = new Map();
    this.#colour();
  }

  get isUpright() {
    return Boolean(this.laid?.tile.isUpright);
  }

  /** The element of a service that is not folded, or null. */
  elementOf(service) {
    const element = this.boxes.get(service)?.element;
    return element?.isConnected ? element : null;
  }

  /** Scrolls a service into sight inside the box; the page stays where it is. */
  reveal(service) {
    const element = this.elementOf(service);
    if (!element) return;
    const [box, tile] = [this.scroller, element].map((one) => one.getBoundingClientRect());
    if (tile.right > box.right || tile.left < box.left) this.scroller.scrollLeft += tile.left - box.left - 24;
    if (tile.bottom > box.bottom || tile.top < box.top) this.scroller.scrollTop += tile.top - box.top - 24;
  }

  /** Marks services that something else is about. */
  point(services) {
    for (const [name, { element }] of this.boxes)
      element.classList.toggle("pointed", services.includes(name));
  }

  #toggle() {
    this.isFolded = !this.isFolded;
    this.#place();
  }

  #place() {
    const whole = { services: this.services, calls: this.calls, stacks: new Map() };
    const shown = this.isFolded ? foldGraph(this.services, this.calls, this.failed) : whole;
    const number = this.services.length;
    this.toggle.textContent = this.isFolded ? `Show all ${number} services` : "Fold what is healthy";
    for (const name of this.boxes.keys()) if (isStack(name)) this.boxes.delete(name);
    for (const [name, services] of shown.stacks) this.boxes.set(name, new Stack(name, services));
    this.layouts = SHAPES.map((shape) => layOut(shown.services, shown.calls, shape));
    this.laid = null;
    this.#fit();
  }

  /** The tiles have the shape in which the graph fits its box best. Where no level graph is narrow
   *  enough, callers stand above their callees and the box is as high as that: a page is read
   *  downwards, and nothing must be scrolled sideways. */
  #fit() {
    const { clientWidth, clientHeight } = this.scroller;
    const isNarrow = ({ width }) => width * LEAST_SCALE <= clientWidth;
    const isBox = this.fill && !PHONE.matches; // elsewhere the box is as high as the graph
    const isTall = isBox && !this.layouts.some((one) => !one.tile.isUpright && isNarrow(one));
    const most = isTall ? TALL_SCALE : 1;
    const room = ({ width, height }) =>
      Math.min(clientWidth / width, isBox && !isTall ? (clientHeight - 8) / height : most);
    const narrow = this.layouts.filter(isNarrow);
    const best = (narrow.length ? narrow : this.layouts).reduce((a, b) => (room(b) > room(a) ? b : a));
    if (best !== this.laid) this.#arrange(best);
    this.element.classList.toggle("tall", isTall);
    const { style } = this.canvas;
    style.setProperty("--scale", Math.max(LEAST_SCALE, Math.min(MOST_SCALE, room(best))));
    style.setProperty("--width", `${best.width}px`);
    style.setProperty("--height", `${best.height}px`);
  }

  #arrange(laid) {
    this.laid = laid;
    const { tile, tiles, ways, width, height } = laid;
    for (const [name, at] of tiles) this.boxes.get(name).place(at, tile);
    this.list.classList.toggle("narrow", tile !== SHAPES[0]);
    this.order = inOrder(tiles, tile.isUpright);
    this.list.replaceChildren(...this.order.map((name) => this.boxes.get(name).element));
    this.paths = new Map(ways.map((way) => [way, pathOf(way)]));
    this.edges.replaceChildren(...this.paths.values());
    this.edges.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#rove(this.order[0]);
    this.#isolate(null);
    this.#colour();
  }

  /** A call is as unwell as the service that it reaches, if its caller fails too. */
  #colour() {
    const healthOf = (name) => this.health.get(name) ?? "healthy";
    for (const [{ from, to }, path] of this.paths)
      path.dataset.health = healthOf(from) === "healthy" ? "healthy" : healthOf(to);
  }

  /** One stop for the keyboard; arrows lead from service to service. */
  #listen() {
    const nameOf = (event) => event.target.closest?.(".tile")?.dataset.service ?? null;
    this.list.addEventListener("pointerover", (event) => this.#isolate(nameOf(event)));
    this.list.addEventListener("pointerleave", () => this.#isolate(null));
    this.list.addEventListener("focusin", (event) => this.#isolate(nameOf(event)));
    this.list.addEventListener("focusout", () => this.#isolate(null));
    this.list.addEventListener("click", (event) => isStack(nameOf(event) ?? "") && this.#toggle());
    this.list.addEventListener("keydown", (event) => {
      const name = nameOf(event);
      if (!name) return;
      if (event.key === "Enter" && isStack(name)) this.#toggle();
      const next = this.#neighbour(name, event.key);
      if (!next) return;
      event.preventDefault();
      this.#rove(next);
      this.boxes.get(next).element.focus();
    });
  }

  #rove(name) {
    for (const [other, { element }] of this.boxes) element.tabIndex = other === name ? 0 : -1;
  }

  /** The nearest service in the direction of an arrow key. */
  #neighbour(name, key) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      key
    ] ?? [0, 0];
    const { tiles } = this.laid;
    const here = tiles.get(name);
    const away = ([, { x, y }]) => {
      const along = (x - here.x) * dx + (y - here.y) * dy;
      const aside = Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx);
      return along > 0 ? along + 3 * aside : Infinity;
    };
    const best = [...tiles].reduce((a, b) => (away(b) < away(a) ? b : a));
    return away(best) < Infinity ? best[0] : null;
  }

  /** Shows one service with its callers and callees alone; null shows all. */
  #isolate(name) {
    const near = new Set([name]);
    for (const { from, to } of this.paths.keys())
      if (from === name || to === name) near.add(from).add(to);
    for (const other of this.order) {
      const { classList } = this.boxes.get(other).element;
      classList.toggle("dim", name !== null && !near.has(other));
    }
    for (const [{ from, to }, path] of this.paths)
      path.classList.toggle("dim", name !== null && from !== name && to !== name);
    this.tell(name === null ? null : this.#wordsOf(name));
  }

  #wordsOf(name) {
    const words = [this.boxes.get(name).words];
    const callers = Object.keys(this.calls).filter((one) => this.calls[one].includes(name));
    if (callers.length) words.push(`Called by ${callers.join(", ")}.`);
    if (this.calls[name]?.length) words.push(`Calls ${this.calls[name].join(", ")}.`);
    return { words: words.join(" "), service: isStack(name) ? null : name };
  }
}

const pathOf = ({ from, to, d }) => s("path", { d, "data-from": from, "data-to": to });

/** Callers first: column by column, or row by row. */
const inOrder = (tiles, isUpright) =>
  [...tiles]
    .sort(([, a], [, b]) => (isUpright ? a.y - b.y || a.x - b.x : a.x - b.x || a.y - b.y))
    .map(([name]) => name);
