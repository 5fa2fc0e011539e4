// One side of a run on one screen: score, what happens now, the call graph, and the lanes of all
// who acted. It draws the frames of an `Episode`, and no more than they hold.

import { h, s } from "./dom.js";
import { moment, secondsOf } from "./moment.js";
import { Services } from "./services.js";
import { CallGraph } from "./stage_graph.js";
import { Lanes } from "./stage_lanes.js";
import { Strip } from "./stage_strip.js";

export class Stage {
  /** `seek` is called with the step that a visitor clicks on the clock. Where no team plays,
   *  `roles` is empty. */
  constructor(episode, side = 0, { seek, roles } = {}) {
    Object.assign(this, { episode, seek, roles });
    this.where = h("span.quiet");
    this.status = h("span.status");
    this.strip = new Strip();
    this.moment = h("div.moment");
    this.scene = h("div.scene", { hidden: true });
    this.lead = s("svg.lead", { "aria-hidden": "true" });
    this.element = h(
      `article.panel.card.stage.side-${side}`,
      { id: `side-${side}`, "aria-label": `${episode.name} at work` },
      h("header", h("h2", h("span.swatch", { "aria-hidden": "true" }), episode.name), this.status, this.where),
      this.strip.element,
      this.moment,
      this.scene,
      this.lead,
    );
    new ResizeObserver(() => this.#drawLead()).observe(this.element);
  }

  /** `length` is the last step of the clock. */
  draw(step, length = this.episode.start?.limit ?? 1) {
    const { episode } = this;
    const frame = episode.at(step);
    this.element.dataset.state = episode.state;
    this.status.replaceChildren(statusLine(episode));
    this.where.textContent = frame ? `step ${frame.step} of ${episode.start.limit}` : "";
    this.strip.draw(frame, episode.state === "stopped");
    this.#drawMoment(step);
    this.scene.hidden = !frame;
    if (!frame) return;
    if (!this.lanes) this.#build(episode.start);
    const frames = episode.frames.slice(0, frame.step + 1);
    const verdicts = verdictsOf(frame);
    const { readings, acts } = frame;
    if (this.graph) this.graph.draw(readings, { acts, step: frame.step, verdicts });
    else this.services.draw(episode.start, readings, frames.map((one) => one.readings));
    this.lanes.draw(frames, { to: length, verdicts, marks: agentMarks(frame) });
    this.frame = frame;
    this.#drawLead();
  }

  #build(start) {
    const tell = (told) => this.#tell(told);
    this.telling = h("p.telling");
    this.lanes = new Lanes(start, { tell, seek: this.seek, roles: this.roles });
    const isGraph = Object.keys(start.calls ?? {}).length > 0;
    if (isGraph) this.graph = new CallGraph(start, { tell, fill: true });
    else this.services = new Services();
    const view = h("div.view", (this.graph ?? this.services).element, this.telling);
    this.scene.append(view, this.lanes.element);
    this.#tell(null);
  }

  /** What the visitor points at, in words; what belongs to it lights up. */
  #tell(told) {
    if (told) this.telling.textContent = told.words;
    else this.telling.replaceChildren(...legend().slice(0, this.roles ? 1 : undefined));
    this.telling.classList.toggle("quiet", !told);
    this.graph?.point(told?.service ? [told.service] : []);
    if (told?.service !== undefined || !told) this.lanes?.point(told?.service ?? null);
  }

  /** Draws a banner once, as it is animated. */
  #drawMoment(step) {
    const { episode } = this;
    const seconds = episode.isPreparing ? secondsOf(episode) : "";
    const { state, why, thinking, last } = episode;
    const key = `${state} ${why} ${Math.min(step, last)} ${seconds} ${thinking?.seconds ?? ""}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.moment.replaceChildren(moment(episode, step));
  }

  /** At a flag, a line leads from the act to the service that it changed. */
  #drawLead() {
    const flag = this.frame?.flag;
    const act = flag?.evidence && this.frame.acts.find(({ id }) => id === flag.evidence);
    const from = act && this.lanes.spotOf(act.id);
    const tile = act && this.graph?.elementOf(act.target);
    if (!from || !tile) return this.lead.replaceChildren();
    this.graph.reveal(act.target);
    const box = this.element.getBoundingClientRect();
    const to = tile.getBoundingClientRect();
    const start = { x: from.x + from.width / 2 - box.x, y: from.y - box.y };
    const end = { x: to.x - box.x, y: to.y - box.y, width: to.width, height: to.height };
    const d = this.graph.isUpright ? leadAlong(start, end) : leadTo(start, end);
    const kind = flag.caught ? "right" : "false";
    const ring = { x: to.x - box.x - 3, y: to.y - box.y - 3, rx: 9 };
    const size = { width: to.width + 6, height: to.height + 6 };
    this.lead.replaceChildren(s(`path.${kind}`, { d }), s(`rect.${kind}`, { ...ring, ...size }));
  }
}

/** To the lower edge of a tile. */
function leadTo({ x, y }, tile) {
  const [middle, bottom] = [tile.x + tile.width / 2, tile.y + tile.height];
  const bend = Math.max(24, (y - bottom) / 2);
  return `M${x} ${y}C${x} ${y - bend} ${middle} ${bottom + bend} ${middle} ${bottom}`;
}

/** Along the margin, where other tiles stand between. */
function leadAlong({ x, y }, tile) {
  const [margin, level] = [6, tile.y + tile.height / 2];
  const out = `M${x} ${y}C${x} ${y - 40} ${margin} ${y - 20} ${margin} ${y - 60}`;
  return `${out}V${level + 30}C${margin} ${level} ${margin} ${level} ${tile.x} ${level}`;
}

const legend = () =>
  [
    ["act", "act of an agent"],
    ["deed", "fix"],
    ["look", "look"],
    ["talk", "words"],
    ["flag", "flag"],
    ["band", "suspicion"],
  ].map(([kind, words]) => h("span.sign", h(`i.${kind}`, { "aria-hidden": "true" }), words));

/** The flagged acts by number, with their verdicts. */
const verdictsOf = ({ flags }) =>
  new Map(
    (flags ?? []).filter((flag) => flag.evidence).map((flag) => [flag.evidence, verdictOf(flag)]),
  );

const verdictOf = ({ caught }) => (caught ? "right" : "false");

/** Spectators see the verdict on a flag at once, and the rogue at the end. */
export function agentMarks({ flags, outcome }) {
  const marks = new Map();
  const right = { kind: "right", words: "flagged: rogue" };
  const wrong = { kind: "false", words: "flagged: innocent" };
  for (const flag of (flags ?? []).filter((flag) => flag.known))
    marks.set(flag.agent, flag.caught ? right : wrong);
  const rogue = outcome?.rogue;
  if (rogue && !outcome.rogue_caught) marks.set(rogue, { kind: "missed", words: "the rogue" });
  return marks;
}

/** What the policy is, or that it is missing. */
function statusLine(episode) {
  if (episode.silence && !episode.start) return h("span.unavailable", episode.silence);
  return h("span", episode.isPreparing ? episode.state : (episode.start?.status ?? ""));
}
