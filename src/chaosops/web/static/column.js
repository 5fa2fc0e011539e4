// The lists of one side: what was said and done, the documents, the end in sentences.

import { definitions, h } from "./dom.js";
import { Documents } from "./documents.js";
import { Feed, Feeds, suspicionItems } from "./feeds.js";
import { agentMarks } from "./stage.js";

export class Column {
  constructor(episode, side) {
    this.episode = episode;
    this.feeds = new Feeds("what the agents did; Oversight alone sees it", "short");
    this.suspicion = new Feed("Oversight’s suspicion", { empty: "none reported" });
    this.documents = new Documents();
    this.about = h("details.block.fold", { hidden: true });
    const { alerts, chat, near, trace, looks, logs } = this.feeds;
    const folded = h("details.block.fold", h("summary", "Logs"), logs.element);
    const lists = [alerts, chat, near, trace, this.suspicion, looks].map((feed) => feed.element);
    this.element = h(
      `article.panel.column.side-${side}`,
      { "aria-label": `What happens with ${episode.name}` },
      h("h2.whose", h("span.swatch", { "aria-hidden": "true" }), episode.name),
      h(
        "div.body",
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
    const { start } = this.episode;
    const details = Object.entries(start.details);
    this.about.hidden = !details.length;
    if (!this.about.firstChild)
      this.about.append(h("summary", "About this model"), definitions("details", details));
    const marks = agentMarks(frame);
    this.feeds.fill(frame, marks);
    this.documents.fill(start, frame.relevant);
    this.suspicion.element.hidden = !frame.suspicion;
    this.suspicion.fill(suspicionItems(frame.suspicion ?? {}, marks));
  }
}
