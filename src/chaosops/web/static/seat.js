// The visitor plays a role. Until the end, the server sends only the view of that role.

import { announce, h, ROLE_NAMES, SEES } from "./dom.js";
import { notify, Refusal, stream } from "./api.js";
import { Documents } from "./documents.js";
import { Episode } from "./episode.js";
import { Feeds } from "./feeds.js";
import { incidentOf } from "./setup.js";
import { Menu } from "./menu.js";
import { Services } from "./services.js";

export class Seat {
  constructor(place, choice, signal, ended) {
    this.choice = choice;
    this.signal = signal;
    this.ended = ended;
    this.moves = [];
    this.key = null;
    this.past = [];
    this.head = h("p.quiet");
    this.status = h("p.your-turn", { tabindex: "-1" }, "Taking your seat …");
    const hidden = { href: "#acts", hidden: true };
    this.jump = h("a.button.main.jump", hidden, "Your turn: choose what to do");
    this.services = new Services();
    this.feeds = new Feeds("what the agents did");
    this.documents = new Documents();
    const { alerts, chat, near, trace, looks, logs } = this.feeds;
    for (const feed of Object.values(this.feeds)) feed.element.hidden = true;
    this.how = h("details.how", { hidden: true, open: true }, h("summary", "How to play"));
    this.menu = new Menu((move) => this.#move(move));
    const name = ROLE_NAMES[choice.role] ?? choice.role;
    const others = `played by ${choice.partners}; the score is shown at the end`;
    place.replaceChildren(
      h(
        "div.seat-grid",
        h(
          "article.panel.column",
          { "aria-label": "What you see" },
          h("header", h("div.line", h("h2", `What ${name} sees`), this.head)),
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
      ),
    );
  }

  async begin() {
    const { role, partners } = this.choice;
    const query = { ...incidentOf(this.choice), role, partners };
    await this.#follow(stream("seats", { query, signal: this.signal, method: "POST" }));
  }

  leave() {
    if (this.key) notify(`seats/${this.key}/leave`);
    this.key = null;
  }

  async #move(move) {
    this.how.open = false;
    this.menu.disable(true);
    this.jump.hidden = true;
    this.status.textContent = "Playing …";
    this.status.classList.remove("now");
    try {
      const options = { signal: this.signal, method: "POST", body: move };
      const messages = stream(`seats/${this.key}/moves`, options);
      await this.#follow(messages, () => this.moves.push(move));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.status.textContent =
        error instanceof Refusal ? error.message : "The connection was cut.";
      if (!(error instanceof Refusal)) throw error;
      if (this.key) this.menu.disable(false);
    }
  }

  async #follow(messages, accepted = () => {}) {
    let first = true;
    let episode = null;
    for await (const message of messages) {
      if (first) accepted();
      first = false;
      if (episode) episode.take(message);
      else if (message.kind === "over")
        episode = new Episode(`you as ${ROLE_NAMES[this.choice.role]}`);
      else this.#take(message);
    }
    if (!episode) return;
    this.key = null;
    announce("The episode is over. The whole of it is shown now, with what you could not see.");
    this.ended(episode, this.moves);
  }

  #take(message) {
    switch (message.kind) {
      case "loading":
        this.status.textContent = `Loading ${this.choice.partners} …`;
        break;
      case "unavailable":
        throw new Refusal(`${this.choice.partners} is UNAVAILABLE: ${message.why}`);
      case "stopped":
        this.key = null;
        throw new Refusal(message.why);
      case "seated":
        this.key = message.seat;
        this.start = message;
        this.how.hidden = !message.introduction.length;
        this.how.append(...message.introduction.map((text) => h("p", text)));
        notify(`seats/${this.key}/claim`); // the server soon frees a seat that nobody claims
        break;
      case "view":
        this.#show(message);
        break;
      case "your_turn":
        this.status.textContent = "Your turn";
        this.status.classList.add("now");
        this.menu.fill(message.menu);
        this.jump.hidden = false;
        // The button that had the focus is gone.
        if (this.moves.length && document.activeElement === document.body)
          this.status.focus({ preventScroll: true });
        announce("Your turn.");
        break;
    }
  }

  #show(view) {
    this.head.textContent = `step ${view.step} of ${view.limit}`;
    if (view.on_turn !== view.role)
      this.status.textContent = `${ROLE_NAMES[view.on_turn]} is on turn …`;
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
}
