// Oversight's desk: the suspects as cards, what fails and what the documents say beside them, and
// a bar with what can be done.

import { h, HEALTH_MARKS, ROLE_NAMES } from "./dom.js";
import { howToPlay } from "./board.js";
import { Documents } from "./documents.js";
import { changed, Feeds } from "./feeds.js";
import { Round } from "./round.js";
import { CallGraph } from "./stage_graph.js";
import { SuspectCard } from "./suspects.js";

const SURE_PCT = { min: 50, max: 100, step: 5, value: 90 };

export class Desk {
  constructor(start, { partners, role }, chosen) {
    Object.assign(this, { start, chosen });
    this.cards = new Map();
    this.head = h("p.quiet");
    this.how = howToPlay(start, false);
    this.suspects = h("div.suspects");
    this.failing = h("ul.failing");
    this.well = h("p.quiet.well");
    this.documents = new Documents();
    this.feeds = new Feeds("");
    this.bar = new Bar(chosen);
    this.map = h("details.desk-map", { ontoggle: () => this.#drawMap() }, h("summary", "Call graph"));
    const others = `The others are played by ${partners}. The score is shown at the end.`;
    this.element = h(
      "div.desk",
      h(
        "header.desk-head",
        h("h2", `You are ${ROLE_NAMES[role] ?? role}`),
        this.head,
        h("p.quiet", others),
        h("a", { href: "guide" }, "New here? Play the first case with a guide."),
      ),
      h("div.desk-more", this.how, this.map),
      h(
        "div.desk-grid",
        h(
          "section",
          { "aria-label": "Suspects" },
          h("h3.title", "Suspects", h("span", "the trace is what agents claim; an audit is true")),
          this.suspects,
        ),
        h("aside.panel.desk-side", { "aria-label": "What you know" }, this.#side()),
      ),
      this.bar.element,
    );
    this.#deal(start.agents);
    this.bar.enable(new Map());
  }

  get status() {
    return this.bar.status;
  }

  get round() {
    return this.bar.round;
  }

  #side() {
    const { chat, looks, logs } = this.feeds;
    return [
      h("section.block.fails", h("h3", "What fails"), this.failing, this.well),
      this.documents.element,
      looks.element,
      chat.element,
      this.bar.message,
      h("details.block.fold", h("summary", "Logs"), logs.element),
    ];
  }

  show(view) {
    this.head.textContent = `Step ${view.step + 1} of ${view.limit}.`; // the one that is decided now
    this.round.show(view);
    this.#showHealth(view);
    this.documents.fill({ runbook: this.start.runbook }, view.relevant);
    // Audits are on the cards.
    this.feeds.fill({ ...view, findings: view.inspections }, new Map());
    const news = view.suspects.filter((suspect) => this.cards.get(suspect.agent).draw(suspect));
    this.bar.forget(view.suspects);
    this.view = view;
    this.#drawMap();
    this.#relate();
    if (news.length) this.cards.get(news.at(-1).agent).bringUp();
  }

  #deal(agents) {
    for (const agent of agents) {
      const audit = () => this.chosen({ action: "audit", target: agent });
      const pick = (act) => {
        this.bar.pick(agent, act);
        this.#relate();
      };
      this.cards.set(agent, new SuspectCard(agent, audit, pick));
    }
    this.suspects.replaceChildren(...[...this.cards.values()].map((card) => card.element));
  }

  /** Drawn while it is open. Acts are dots on their services. */
  #drawMap() {
    if (!this.map.open || !this.view) return;
    if (!this.graph) {
      this.graph = new CallGraph(this.start);
      this.map.append(this.graph.element);
    }
    const acts = this.view.trace.filter(({ id }) => this.view.relevant.acts.includes(id));
    this.graph.draw(this.view.metrics, { acts, step: this.view.step });
    this.#relate();
  }

  /** What belongs to the chosen act: who else changed its setting, the pages about it, and where
   *  it was. */
  #relate() {
    const act = this.bar.choice?.act ?? null;
    for (const card of this.cards.values()) card.relate(act);
    const words = (page) => page.textContent.split(/[\s.,:;]+/);
    for (const page of this.documents.element.querySelectorAll(".pages > p"))
      page.classList.toggle("related", act !== null && words(page).includes(act.setting));
    this.graph?.point(act ? [act.service] : []);
  }

  #showHealth({ metrics, alerts }) {
    const texts = new Map(alerts.map(({ service, text }) => [service, text]));
    const sick = metrics.filter(({ health }) => health !== "healthy");
    const items = sick.map(({ service, health }) =>
      h(
        "li",
        { "data-health": health },
        h("p.name", h("span", { "aria-hidden": "true" }, HEALTH_MARKS[health]), service),
        h("span.word", health),
        h("p", texts.get(service)),
        h("p.quiet", this.#neighbours(service)),
      ),
    );
    this.failing.replaceChildren(...(items.length ? items : [h("li.none", "nothing fails now")]));
    const well = metrics.filter(({ health }) => health === "healthy");
    this.well.textContent = `Healthy: ${well.map(({ service }) => service).join(", ") || "none"}`;
  }

  #neighbours(service) {
    const { calls } = this.start;
    const callers = Object.keys(calls).filter((name) => calls[name].includes(service));
    const words = [
      calls[service].length > 0 && `calls ${calls[service].join(", ")}`,
      callers.length > 0 && `called by ${callers.join(", ")}`,
    ];
    return words.filter(Boolean).join("; ");
  }

  tell(words, isYours = false) {
    this.bar.tell(words, isYours);
  }

  offer(menu) {
    this.#enable(menu);
  }

  disable(disabled) {
    this.how.open = false;
    this.#enable(disabled ? [] : this.menu);
  }

  /** What the server offers can be done. */
  #enable(menu) {
    if (menu.length) this.menu = menu;
    const moves = new Map(menu.map(({ verb, choices }) => [verb, choices.map(({ move }) => move)]));
    const audits = new Set((moves.get("audit") ?? []).map(({ target }) => target));
    for (const [agent, card] of this.cards) card.enable(audits.has(agent), moves.size > 0);
    this.bar.enable(moves);
  }
}

/** What Oversight can do on a turn: flag the chosen act, wait, or say something. */
class Bar {
  constructor(chosen) {
    this.chosen = chosen;
    this.choice = null;
    this.isOn = false;
    this.round = new Round();
    this.status = h("p.your-turn", { tabindex: "-1" }, "Taking your seat …");
    this.words = h("p.chosen", { "aria-live": "polite" });
    const range = { type: "range", id: "desk-sure", ...SURE_PCT };
    this.sure = h("input", { ...range, oninput: () => this.#draw() });
    this.share = h("output", { for: "desk-sure" });
    const label = h("label", { for: "desk-sure" }, "How sure?");
    this.certainty = h("div.sure", label, this.sure, this.share);
    this.flag = h("button.button.main.flag-it", { type: "button", onclick: () => this.#flag() });
    const wait = () => chosen({ action: "noop" });
    this.wait = h("button.button", { type: "button", onclick: wait }, "Do nothing");
    this.message = this.#messageForm();
    this.element = h(
      "section.desk-bar",
      { "aria-label": "What you can do" },
      this.round.element,
      h(
        "div.desk-acts",
        this.status,
        this.words,
        this.certainty,
        this.flag,
        this.wait,
      ),
    );
    this.#draw();
  }

  pick(agent, act) {
    this.choice = { agent, act };
    this.#draw();
  }

  /** An agent in quarantine cannot be flagged again. */
  forget(suspects) {
    const { agent } = this.choice ?? {};
    if (suspects.some((one) => one.agent === agent && one.quarantined_at !== null))
      this.choice = null;
    this.#draw();
  }

  tell(words, isYours) {
    this.status.textContent = words;
    this.status.classList.toggle("now", isYours);
  }

  enable(moves) {
    this.isOn = moves.has("flag_rogue");
    this.wait.disabled = !moves.has("noop");
    for (const part of this.message.querySelectorAll("input, button"))
      part.disabled = !moves.has("communicate");
    this.#draw();
  }

  #draw() {
    const { agent, act } = this.choice ?? {};
    this.certainty.hidden = !agent;
    this.share.textContent = `${this.sure.value}%`;
    this.flag.disabled = !this.isOn || !agent;
    this.flag.textContent = agent ? `Flag ${agent}` : "Flag its agent";
    const change = act && `#${act.id}: ${act.setting} of ${act.service} ${changed(act.claimed)}`;
    const invitation = "To flag an agent, choose the act that did the damage.";
    this.words.textContent = change ? `Evidence ${change}` : invitation;
  }

  #flag() {
    const { agent, act } = this.choice;
    const confidence = Number(this.sure.value) / 100;
    this.chosen({ action: "flag_rogue", target: agent, confidence, evidence: act.id });
  }

  #messageForm() {
    const id = "desk-message";
    const input = h("input", { type: "text", id, maxlength: 300, autocomplete: "off" });
    const onsubmit = (event) => {
      event.preventDefault();
      const message = input.value.trim();
      if (!message) return;
      input.value = "";
      this.chosen({ action: "communicate", message });
    };
    const button = h("button.button", { type: "submit" }, "Say it");
    const label = h("label.label", { for: id }, "Say something to the team (it takes your turn)");
    return h("form.desk-say", { onsubmit }, label, h("div.joined", input, button));
  }
}
