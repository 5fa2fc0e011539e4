// The visitor plays a role. Until the end, the server sends only the view of that role.

import { announce, h, ROLE_NAMES } from "./dom.js";
import { claimSeat, leaveSeat, Refusal, stream } from "./api.js";
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
    this.jump = h(
      "a.button.main.jump",
      { href: "#acts", hidden: true },
      "Your turn: choose what to do",
    );
    this.services = h("div.block");
    this.feeds = new Feeds({ fleetHint: "what the agents did" });
    this.menu = new Menu((move) => this.#move(move));
    const name = ROLE_NAMES[choice.role] ?? choice.role;
    place.replaceChildren(
      h(
        "div.seat-grid",
        h(
          "article.panel.column",
          { "aria-label": "What you see" },
          h("header", h("div.line", h("h2", `What ${name} sees`), this.head)),
          h("div.body", this.services, Object.values(this.feeds).map((feed) => feed.element)),
          this.jump,
        ),
        h(
          "article.panel.acts",
          { id: "acts", "aria-label": "What you can do" },
          h(
            "header",
            h("h2", `You are ${name}`),
            h(
              "p.quiet",
              `the others are played by ${choice.partners}; the score is shown at the end`,
            ),
          ),
          this.status,
          this.menu.element,
        ),
      ),
    );
    for (const feed of Object.values(this.feeds)) feed.element.hidden = true;
  }

  async begin() {
    const { role, partners } = this.choice;
    const query = { ...incidentOf(this.choice), role, partners };
    await this.#follow(stream("seats", { query, signal: this.signal, method: "POST" }));
  }

  leave() {
    if (this.key) leaveSeat(this.key);
    this.key = null;
  }

  async #move(move) {
    this.menu.close();
    this.jump.hidden = true;
    this.status.textContent = "Playing …";
    this.status.classList.remove("now");
    try {
      const messages = stream(`seats/${this.key}/moves`, {
        signal: this.signal,
        method: "POST",
        body: move,
      });
      await this.#follow(messages, () => this.moves.push(move));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.status.textContent =
        error instanceof Refusal ? error.message : "The connection was cut.";
      if (!(error instanceof Refusal)) throw error;
      if (this.key) this.menu.open();
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
    if (episode) {
      this.key = null;
      announce(
        "The episode is over. The whole of it is shown now, with everything you could not see.",
      );
      this.ended(episode, this.moves);
    }
  }

  #take(message) {
    switch (message.kind) {
      case "loading":
        this.status.textContent = `Loading ${message.policy} …`;
        break;
      case "unavailable":
        throw new Refusal(`${message.policy} is UNAVAILABLE: ${message.why}`);
      case "stopped":
        this.key = null;
        throw new Refusal(message.why);
      case "seated":
        this.key = message.seat;
        this.start = message;
        claimSeat(this.key);
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
    if (readings.length) {
      this.graph ??= new Services(this.start);
      if (!this.services.firstChild)
        this.services.append(h("h3", "Services"), this.graph.element);
      this.past.push(view.metrics);
      this.graph.draw(readings, this.past);
    }
    const { alerts, chat, trace, logs } = this.feeds;
    alerts.element.hidden = chat.element.hidden = false;
    // The server sends nothing that the role does not see: these lists would stay empty.
    trace.element.hidden = view.role !== "oversight";
    logs.element.hidden = !["sre", "oversight"].includes(view.role);
    const findings = [...view.inspections, ...view.audits].sort((a, b) => a.step - b.step);
    this.feeds.fill({ ...view, findings }, this.#limits());
  }

  /** The documented limit of each agent, beside its name. */
  #limits() {
    return new Map(
      Object.entries(this.start.limits_pct).map(([agent, pct]) => [
        agent,
        { kind: "limit", words: `limit ${pct}%` },
      ]),
    );
  }
}
