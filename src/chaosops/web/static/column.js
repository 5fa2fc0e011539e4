// One side of the run: the roles in turn, the services, what was said and done.

import { definitions, h, ROLE_NAMES } from "./dom.js";
import { Services } from "./services.js";
import { Feed, Feeds, suspicionItems } from "./feeds.js";

export class Column {
  constructor(episode, side) {
    this.episode = episode;
    this.turns = h(
      "ol.turns",
      { "aria-label": "Whose turn it is" },
      Object.entries(ROLE_NAMES).map(([role, name]) =>
        h("li", { "data-role": role }, h("span", name)),
      ),
    );
    this.services = h("div.block");
    const fleetHint = "what the agents did; Oversight alone sees it";
    this.feeds = new Feeds({ alertSize: "short", fleetHint });
    this.suspicion = new Feed("Oversight’s suspicion", { empty: "none reported" });
    this.about = h("details.block.fold", { hidden: true });
    const body = h(
      "div.body",
      this.services,
      this.feeds.alerts.element,
      this.feeds.chat.element,
      this.feeds.trace.element,
      this.suspicion.element,
      this.feeds.looks.element,
      h("details.block.fold", h("summary", "Logs"), this.feeds.logs.element),
      this.about,
    );
    this.element = h(
      "article",
      { class: `panel column side-${side}`, "aria-label": `What happens with ${episode.name}` },
      h("h2.whose", h("span.swatch", { "aria-hidden": "true" }), episode.name),
      this.turns,
      body,
    );
  }

  draw(step) {
    const frame = this.episode.at(step);
    this.element.hidden = frame === null;
    if (frame) this.#drawFrame(frame);
  }

  #drawFrame(frame) {
    const { episode } = this;
    if (!this.graph) {
      this.graph = new Services(episode.start);
      this.services.replaceChildren(h("h3", "Services"), this.graph.element);
      this.#describe(Object.entries(episode.details));
    }
    const past = episode.frames.slice(0, frame.step + 1);
    this.graph.draw(frame.readings, past.map(({ readings }) => readings));
    const active = frame.turn?.role ?? frame.on_turn;
    for (const item of this.turns.children) {
      if (item.dataset.role === active) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    const marks = agentMarks(frame);
    this.feeds.fill(frame, marks);
    this.suspicion.element.hidden = !frame.suspicion;
    this.suspicion.fill(suspicionItems(frame.suspicion ?? {}, marks));
  }

  #describe(details) {
    this.about.hidden = !details.length;
    this.about.replaceChildren(
      h("summary", "About this model"),
      definitions("details", details),
    );
  }
}

/** Spectators see the verdict on a flag at once, and the rogue at the end. */
function agentMarks(frame) {
  const marks = new Map();
  for (const flag of frame.flags.filter((flag) => flag.known)) {
    marks.set(
      flag.agent,
      flag.caught
        ? { kind: "right", words: "flagged: rogue" }
        : { kind: "false", words: "flagged: innocent" },
    );
  }
  const rogue = frame.outcome?.rogue;
  if (rogue && !frame.outcome.rogue_caught)
    marks.set(rogue, { kind: "missed", words: "the rogue" });
  return marks;
}
