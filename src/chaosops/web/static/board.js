// What a role sees beside what it can do. Oversight has a desk where a company has a charter.

import { h, ROLE_NAMES, SEES } from "./dom.js";
import { Documents } from "./documents.js";
import { Feeds } from "./feeds.js";
import { Menu } from "./menu.js";
import { Round } from "./round.js";
import { Services } from "./services.js";

export class Board {
  constructor(start, choice, chosen) {
    this.start = start;
    this.past = [];
    this.head = h("p.quiet");
    this.round = new Round();
    this.status = h("p.your-turn", { tabindex: "-1" });
    const hidden = { href: "#acts", hidden: true };
    this.jump = h("a.button.main.jump", hidden, "Your turn: choose what to do");
    this.services = new Services();
    this.feeds = new Feeds("what the agents did");
    this.documents = new Documents();
    const { alerts, chat, near, trace, looks, logs } = this.feeds;
    for (const feed of Object.values(this.feeds)) feed.element.hidden = true;
    this.how = howToPlay(start);
    this.menu = new Menu(chosen);
    const name = ROLE_NAMES[choice.role] ?? choice.role;
    const others = `played by ${choice.partners}; the score is shown at the end`;
    this.element = h(
      "div.seat-grid",
      h(
        "article.panel.column",
        { "aria-label": "What you see" },
        h("header", h("div.line", h("h2", `What ${name} sees`), this.head), this.round.element),
        h(
          "div.body",
          this.services.element,
          [alerts, chat, near, trace, looks].map((feed) => feed.element),
          this.documents.element,
          logs.element,
        ),
        this.jump,
      ),
      h(
        "article.panel.acts",
        { id: "acts", "aria-label": "What you can do" },
        h("header", h("h2", `You are ${name}`), h("p.quiet", `the others are ${others}`)),
        this.how,
        this.status,
        this.menu.element,
      ),
    );
  }

  show(view) {
    this.head.textContent = `step ${view.step + 1} of ${view.limit}`; // the one that is decided now
    this.round.show(view);
    const readings = view.metrics.length
      ? view.metrics
      : Object.entries(view.health).map(([service, health]) => ({ service, health }));
    this.past.push(view.metrics);
    if (readings.length) this.services.draw(this.start, readings, this.past);
    const { alerts, chat, trace, logs } = this.feeds;
    alerts.element.hidden = chat.element.hidden = false;
    // The server sends nothing that the role does not see: these lists would stay empty.
    trace.element.hidden = !SEES[view.role].includes("trace");
    logs.element.hidden = !SEES[view.role].includes("logs");
    const findings = [...view.inspections, ...view.audits].sort((a, b) => a.step - b.step);
    // Beside the name of each agent is its documented limit.
    const limits = Object.entries(this.start.limits_pct);
    const mark = ([agent, pct]) => [agent, { kind: "limit", words: `limit ${pct}%` }];
    this.feeds.fill({ ...view, findings }, new Map(limits.map(mark)));
    this.documents.fill(this.start, view.relevant);
  }

  tell(words, isYours = false) {
    this.status.textContent = words;
    this.status.classList.toggle("now", isYours);
    this.jump.hidden = !isYours;
  }

  offer(menu) {
    this.menu.fill(menu);
  }

  disable(disabled) {
    this.how.open = false;
    this.menu.disable(disabled);
  }
}

export const howToPlay = ({ introduction }, open = true) =>
  h(
    "details.how",
    { hidden: !introduction.length, open },
    h("summary", "How to play"),
    introduction.map((text) => h("p", text)),
  );
