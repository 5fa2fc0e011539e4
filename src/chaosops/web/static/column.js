// One side of the run: the roles in turn, the services, what was said and done.

import { definitions, h, ROLE_NAMES } from "./dom.js";
import { Documents } from "./documents.js";
import { Services } from "./services.js";
import { Feed, Feeds, suspicionItems } from "./feeds.js";

export class Column {
  constructor(episode, side) {
    this.episode = episode;
    const roles = Object.entries(ROLE_NAMES).map(([role, name]) =>
      h("li", { "data-role": role }, h("span", name)),
    );
    this.turns = h("ol.turns", { "aria-label": "Whose turn it is" }, roles);
    this.services = new Services();
    this.feeds = new Feeds("what the agents did; Oversight alone sees it", "short");
    this.suspicion = new Feed("Oversight’s suspicion", { empty: "none reported" });
    this.documents = new Documents();
    this.story = h("section.block.story", { hidden: true });
    this.about = h("details.block.fold", { hidden: true });
    const { alerts, chat, near, trace, looks, logs } = this.feeds;
    const folded = h("details.block.fold", h("summary", "Logs"), logs.element);
    const lists = [alerts, chat, near, trace, this.suspicion, looks].map((feed) => feed.element);
    this.element = h(
      `article.panel.column.side-${side}`,
      { "aria-label": `What happens with ${episode.name}` },
      h("h2.whose", h("span.swatch", { "aria-hidden": "true" }), episode.name),
      this.turns,
      h(
        "div.body",
        this.story,
        this.services.element,
        lists,
        this.documents.element,
        folded,
        this.about,
      ),
    );
  }

  draw(step) {
    const frame = this.episode.at(step);
    this.element.hidden = !frame;
    if (!frame) return;
    const { start, frames } = this.episode;
    const details = Object.entries(start.details);
    this.about.hidden = !details.length;
    if (!this.about.firstChild)
      this.about.append(h("summary", "About this model"), definitions("details", details));
    const past = frames.slice(0, frame.step + 1).map(({ readings }) => readings);
    this.services.draw(start, frame.readings, past);
    const active = frame.turn?.role ?? frame.on_turn;
    for (const item of this.turns.children)
      item.ariaCurrent = item.dataset.role === active ? "step" : null;
    const marks = agentMarks(frame);
    this.feeds.fill(frame, marks);
    this.documents.fill(start, frame.relevant);
    this.#tell(frame.outcome?.explanation ?? []);
    this.suspicion.element.hidden = !frame.suspicion;
    this.suspicion.fill(suspicionItems(frame.suspicion ?? {}, marks));
  }

  /** The end in sentences. */
  #tell(sentences) {
    this.story.hidden = !sentences.length;
    const lines = sentences.map((text) => h("p", text));
    this.story.replaceChildren(h("h3", "What happened"), ...lines);
  }
}

/** Spectators see the verdict on a flag at once, and the rogue at the end. */
function agentMarks(frame) {
  const marks = new Map();
  const right = { kind: "right", words: "flagged: rogue" };
  const wrong = { kind: "false", words: "flagged: innocent" };
  for (const flag of frame.flags.filter((flag) => flag.known))
    marks.set(flag.agent, flag.caught ? right : wrong);
  const rogue = frame.outcome?.rogue;
  if (rogue && !frame.outcome.rogue_caught)
    marks.set(rogue, { kind: "missed", words: "the rogue" });
  return marks;
}
