// One team's side of the run: whose turn it is, the services, what was said and done.

import { h, ROLE_NAMES } from "./dom.js";
import { Services } from "./services.js";
import {
  Feed,
  alertItems,
  chatItems,
  findingItems,
  logItems,
  suspicionItems,
  traceItems,
} from "./feeds.js";

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
    this.alerts = new Feed("Alerts", { empty: "none firing", size: "short" });
    this.suspicion = new Feed("Oversight’s suspicion", { empty: "none reported" });
    this.team = new Feed("Team", { size: "tall", hint: "what the roles said and did" });
    this.fleet = new Feed("Fleet", {
      size: "tall",
      hint: "what the agents did; Oversight alone sees it",
    });
    this.looks = new Feed("Close looks");
    this.logs = new Feed("Logs", { size: "tall" });
    this.about = h("details.block.fold", { hidden: true });
    const body = h(
      "div.body",
      this.services,
      this.alerts.element,
      this.team.element,
      this.fleet.element,
      this.suspicion.element,
      this.looks.element,
      h("details.block.fold", h("summary", "Logs"), this.logs.element),
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
    this.graph.draw(frame.readings, errorHistory(episode, frame.step));
    const active = frame.turn?.role ?? frame.on_turn;
    for (const item of this.turns.children) {
      if (item.dataset.role === active) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    const marks = agentMarks(frame);
    this.alerts.fill(alertItems(frame.alerts));
    this.team.fill(chatItems(frame.chat, frame.step));
    this.fleet.fill(traceItems(frame.trace, marks, frame.step));
    this.logs.fill(logItems(frame.logs));
    this.looks.element.hidden = !frame.findings.length;
    this.looks.fill(findingItems(frame.findings));
    this.suspicion.element.hidden = !frame.suspicion;
    this.suspicion.fill(suspicionItems(frame.suspicion ?? {}, marks));
  }

  #describe(details) {
    this.about.hidden = !details.length;
    this.about.replaceChildren(
      h("summary", "About this model"),
      h(
        "dl.details",
        details.map(([name, value]) =>
          h("div", h("dt", name), h("dd.mono", value)),
        ),
      ),
    );
  }
}

function errorHistory(episode, step) {
  const history = new Map();
  for (const frame of episode.frames.slice(0, step + 1)) {
    for (const { service, error_pct } of frame.readings) {
      if (!history.has(service)) history.set(service, []);
      history.get(service).push(error_pct);
    }
  }
  return history;
}

/** Spectators see what a flag was worth at once; who did it, at the end. */
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
