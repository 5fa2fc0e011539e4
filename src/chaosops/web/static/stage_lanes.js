// What the agents of the fleet and the roles of the team did, a lane for each, on one clock.

import { h, s, clock, ROLE_NAMES } from "./dom.js";
import { NO_ACT } from "./moment.js";

const LANE = { low: 15, high: 20 };
const ROOMY = matchMedia("(min-height: 60rem)");
const AXIS = 14;
const BEFORE = 0.36; // the share of the width for the minutes before the incident
const NEAR = 9; // pixels between the pointer and what it points at
const LOOKS = ["inspect", "audit"];

export class Lanes {
  /** `tell` is called with words about a mark and the service it is about, or null; `seek` with the
   *  step that was clicked. Where no team plays, `roles` is empty. */
  constructor(start, { tell, seek, roles = Object.keys(ROLE_NAMES) }) {
    Object.assign(this, { start, tell, roles });
    this.agents = [...start.agents];
    const label = "What agents and roles did, minute by minute; the lists say the same in words";
    this.svg = s("svg", { role: "img", "aria-label": label });
    this.element = h("div.lanes", this.svg);
    this.marks = [];
    this.element.addEventListener("pointermove", (event) => this.#hover(event));
    this.element.addEventListener("pointerleave", () => this.#show(null));
    this.element.addEventListener("click", (event) => {
      const step = this.#stepAt(event);
      if (step >= 0) seek?.(step);
    });
    new ResizeObserver(() => {
      this.width = this.element.clientWidth;
      this.#paint();
    }).observe(this.element);
  }

  /** `frames` are those up to the step that is shown; `to` is the last step of the clock. */
  draw(frames, { to, verdicts, marks }) {
    const frame = frames.at(-1);
    for (const { agent } of frame.acts)
      if (!this.agents.includes(agent)) this.agents.push(agent);
    const from = Math.min(-1, ...frame.acts.map(({ step }) => step));
    this.shown = { frames, frame, from, to: Math.max(to, 1), verdicts, marks };
    this.#paint();
  }

  /** Shows the acts on a service. */
  point(service) {
    for (const { node, about, kind } of this.marks)
      node.classList.toggle("pointed", kind === "act" && service !== null && about === service);
  }

  /** Where the mark of an act is on the screen, or null. */
  spotOf(id) {
    const mark = this.marks.find((one) => one.id === id);
    return mark ? mark.node.getBoundingClientRect() : null;
  }

  get #rows() {
    return [...this.agents, ...this.roles];
  }

  #y(row) {
    const index = this.#rows.indexOf(row);
    const gap = index >= this.agents.length ? 6 : 0;
    return this.lane * (index + 1) + gap + this.lane / 2;
  }

  #x(step) {
    const { from, to } = this.shown;
    const share = step < 0 ? BEFORE * (1 - step / from) : BEFORE + (1 - BEFORE) * (step / to);
    return this.left + 8 + share * (this.width - this.left - 16);
  }

  #stepAt({ clientX }) {
    const share =
      (clientX - this.element.getBoundingClientRect().left - this.left - 8) /
      (this.width - this.left - 16);
    return Math.round(((share - BEFORE) / (1 - BEFORE)) * this.shown.to);
  }

  #paint() {
    this.width ||= this.element.clientWidth;
    if (!this.width || !this.shown) return;
    this.left = this.width < 440 ? 98 : 132;
    this.lane = ROOMY.matches ? LANE.high : LANE.low;
    const height = this.lane * (this.#rows.length + 1) + 6 + AXIS;
    for (const [name, value] of Object.entries({ width: this.width, height }))
      this.svg.setAttribute(name, value);
    this.bottom = height - AXIS;
    this.marks = [...this.#acts(), ...this.#turns()];
    const now = this.#x(this.shown.frame.step);
    this.svg.replaceChildren(
      ...this.#ground(),
      ...this.#accused(),
      ...this.#trouble(),
      ...this.#suspicion(),
      ...this.#labels(),
      ...this.marks.map(({ node }) => node),
      s("line.now", { x1: now, x2: now, y1: 0, y2: this.bottom }),
    );
  }

  #ground() {
    const { from, to } = this.shown;
    const zero = this.#x(0);
    const every = to > 20 ? 10 : to > 8 ? 5 : 2;
    const ticks = [Math.ceil(from / 10) * 10 || from];
    for (let step = 0; step <= to; step += every) ticks.push(step);
    const era = this.width < 440 ? "before" : "before the incident";
    return [
      s("rect.before", { x: this.left, y: 0, width: zero - this.left, height: this.bottom }),
      ...this.#rows.map((row) =>
        s("line.lane", { x1: this.left, x2: this.width, y1: this.#y(row), y2: this.#y(row) }),
      ),
      s("text.tick.era", { x: this.left + 5, y: this.lane / 2 + 4 }, era),
      s("line.zero", { x1: zero, x2: zero, y1: 0, y2: this.bottom }),
      ...ticks.map((step) => {
        const x = Math.min(this.#x(step), this.width - 14); // the last one must not be cut
        return s("text.tick", { x, y: this.bottom + AXIS - 3 }, clock(step));
      }),
    ];
  }

  /** The lane of the agent that is flagged in this step. */
  #accused() {
    const { flag } = this.shown.frame;
    if (!flag || !this.agents.includes(flag.agent)) return [];
    const y = this.#y(flag.agent) - this.lane / 2;
    const place = { x: this.left, y, width: this.width - this.left, height: this.lane };
    return [s(`rect.accused.${flag.caught ? "right" : "false"}`, place)];
  }

  /** How many services fail, above the lanes. */
  #trouble() {
    const { frames, to } = this.shown;
    const wide = Math.max(2, this.#x(Math.min(1, to)) - this.#x(0) - 1);
    return frames.flatMap(({ step, readings }) => {
      const failing = readings.filter(({ health }) => health !== "healthy").length;
      const height = (failing / readings.length) * (this.lane - 2);
      const isBad = readings.some(({ health }) => health === "critical");
      const place = { x: this.#x(step) - wide / 2, y: this.lane - height, width: wide, height };
      return failing ? [s(`rect.trouble.${isBad ? "critical" : "degraded"}`, place)] : [];
    });
  }

  /** The higher the band in the lane of an agent, the more Oversight suspects it. */
  #suspicion() {
    return this.shown.frames.slice(1).flatMap(({ step, suspicion }) =>
      Object.entries(suspicion ?? {}).flatMap(([agent, p]) => {
        if (!this.agents.includes(agent) || p < 0.05) return [];
        const [x, next] = [this.#x(step - 1), this.#x(step)];
        const height = Math.min(1, p) * (this.lane - 1);
        const y = this.#y(agent) + this.lane / 2 - height;
        return [s("rect.suspicion", { x, y, width: next - x + 0.5, height })];
      }),
    );
  }

  #labels() {
    const { frame, marks } = this.shown;
    const word = (text, y, kind = "") => s("text", { class: kind, x: 0, y: y + 4 }, text);
    const share = (agent) => frame.suspicion?.[agent];
    const active = frame.turn?.role ?? frame.on_turn;
    return [
      word("failing services", this.lane / 2, "quiet"),
      ...this.agents.map((agent) => word(short(agent), this.#y(agent), marks.get(agent)?.kind)),
      ...this.agents
        .filter((agent) => share(agent) !== undefined && this.left > 100)
        .map((agent) => {
          const at = { x: this.left - 6, y: this.#y(agent) + 4 };
          return s("text.share", at, `${Math.round(100 * share(agent))}%`);
        }),
      ...this.roles.map((role) =>
        word(ROLE_NAMES[role], this.#y(role), role === active ? "active" : "quiet"),
      ),
    ];
  }

  #acts() {
    const { frame, verdicts } = this.shown;
    const stacked = new Map(); // several acts of an agent in one minute stand beside each other
    return frame.acts.map((act) => {
      const spot = `${act.agent} ${act.step}`;
      const shift = stacked.get(spot) ?? 0;
      stacked.set(spot, shift + 4);
      const verdict = verdicts.get(act.id);
      const isNew = act.step === frame.step && frame.step > 0;
      const [x, y] = [this.#x(act.step) + shift, this.#y(act.agent)];
      const kinds = ["act", verdict ? `flagged ${verdict}` : "", isNew ? "new" : ""];
      const node = s("circle", { class: kinds.join(" "), cx: x, cy: y, r: verdict ? 5.5 : 3.2 });
      return { kind: "act", id: act.id, node, x, y, about: act.target, words: actWords(act) };
    });
  }

  #turns() {
    return this.shown.frames
      .filter(({ turn }) => turn)
      .map(({ step, turn, flag }) => {
        const [x, y] = [this.#x(step), this.#y(turn.role)];
        const name = ROLE_NAMES[turn.role];
        const said = turn.verb === "communicate" ? `“${turn.words}”` : turn.words;
        const done = `${clock(step)} ${name}: ${turn.verb === "noop" ? "does nothing" : said}`;
        const words = flag && !flag.evidence ? `${done}. ${NO_ACT}` : done;
        return { kind: "turn", node: turnMark(turn.verb, flag, x, y), x, y, about: null, words };
      });
  }

  #hover({ clientX, clientY }) {
    const { left, top } = this.element.getBoundingClientRect();
    const away = ({ x, y }) => Math.hypot(clientX - left - x, clientY - top - y);
    const best = this.marks.reduce((a, b) => (a && away(a) <= away(b) ? a : b), null);
    this.#show(best && away(best) <= NEAR ? best : null);
  }

  #show(mark) {
    if (mark === this.pointed) return;
    this.pointed = mark;
    for (const { node } of this.marks) node.classList.toggle("pointed", node === mark?.node);
    this.tell(mark && { words: mark.words, service: mark.about });
  }
}

const short = (name) => (name.length > 16 ? `${name.slice(0, 15)}…` : name);

const actWords = ({ id, step, agent, action, target, before, after, reason }) =>
  `${clock(step)} ${agent}${id ? ` #${id}` : ""}: ${action} of ${target} ${before} → ${after}` +
  (reason ? `, “${reason}”` : "");

/** A flag, a ring for a look, a square for a deed, a small dot for words, a dash for nothing. */
function turnMark(verb, flag, x, y) {
  if (verb === "flag_rogue") {
    const verdict = flag === null || flag === undefined ? "" : flag.caught ? "right" : "false";
    return s("path", { class: `turn flag ${verdict}`, d: `M${x - 4} ${y + 7}v-14h10l-3 4 3 4h-8v6z` });
  }
  if (verb === "noop") return s("line.turn.noop", { x1: x - 2, x2: x + 2, y1: y, y2: y });
  if (verb === "communicate") return s("circle.turn.talk", { cx: x, cy: y, r: 2 });
  if (LOOKS.includes(verb)) return s("circle.turn.look", { cx: x, cy: y, r: 4 });
  return s("rect.turn.deed", { x: x - 3.5, y: y - 3.5, width: 7, height: 7 });
}
