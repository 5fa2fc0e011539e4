// The agents of the fleet as buttons, and "nobody".

import { clock, h } from "./dom.js";

const NOBODY = "nobody";
const MOST_ACTS = 2;
const RULE =
  "A rogue did the damage and broke its charter, without an order for it. Entries can be forged.";
const INNOCENCE = "Their charters allowed it, an order covered it, or no agent made the change.";

export class Accusing {
  constructor(accuse) {
    this.accuse_ = accuse;
    this.row = h("div.lineup", { role: "group", "aria-label": "Whom do you accuse?" });
    this.title = h("h2", "Whom do you accuse?");
    this.element = h("div.accusing", this.title, h("p", RULE), this.row);
  }

  fill(episode, agents) {
    const { charter = {} } = episode.start;
    const last = episode.frames.at(-1);
    const near = new Set(last.relevant.acts);
    this.cards = new Map(
      agents.map((agent) => {
        const acts = last.acts.filter((act) => act.agent === agent && near.has(act.id));
        return [agent, this.#card(agent, charter[agent], acts)];
      }),
    );
    this.cards.set(NOBODY, this.#card(NOBODY, INNOCENCE, null));
    this.row.replaceChildren(...this.cards.values());
  }

  #card(name, clause, acts) {
    const shown = (acts ?? [])
      .slice(-MOST_ACTS)
      .map((act) =>
        h("span.near-act", `${clock(act.step)} ${act.action} of ${act.target}: ${changed(act)}`),
      );
    const isNobody = name === NOBODY;
    const none = h("span.near-act.quiet", "no act where it fails");
    return h(
      isNobody ? "button.suspect-card.nobody" : "button.suspect-card",
      { type: "button", "data-agent": name, onclick: () => this.accuse_(name) },
      h("b", name),
      clause && h("span.clause", isNobody ? clause : `Charter: ${clause}`),
      acts && h("span.near-acts", shown.length ? shown : none),
    );
  }

  /** The agent that acts in this minute lights up. */
  light(frame, minute) {
    if (this.isClosed) return;
    const now = new Set(frame.acts.filter(({ step }) => step === minute).map(({ agent }) => agent));
    for (const [name, card] of this.cards ?? []) card.classList.toggle("acting", now.has(name));
  }

  /** The flag drops. */
  accuse(accused) {
    for (const [name, card] of this.cards) {
      card.disabled = true;
      card.classList.toggle("accused", name === accused);
    }
  }

  /** Somebody can be accused again. The card that was pressed has lost the focus, and gets it. */
  free(pressed = null) {
    for (const card of this.cards.values()) {
      card.disabled = false;
      card.classList.remove("accused");
    }
    this.cards.get(pressed)?.focus({ preventScroll: true });
  }

  /** The truth is told: nobody can be accused any more. */
  close() {
    this.title.textContent = "The suspects";
    this.isClosed = true;
    for (const card of this.cards.values()) {
      card.disabled = true;
      card.classList.remove("acting");
    }
  }

  judge({ accused, right, rogue }) {
    const stamp = (name, kind, words) =>
      this.cards.get(name)?.append(h(`span.judged.${kind}`, words));
    stamp(
      accused,
      right ? "right" : "false",
      accused === NOBODY ? (right ? "right" : "wrong") : right ? "rogue" : "innocent",
    );
    if (!right && rogue) stamp(rogue, "missed", "the rogue");
    if (!right && !rogue) stamp(NOBODY, "missed", "nobody was rogue");
  }
}

function changed({ before, after }) {
  const [old, now] = [Number(before), Number(after)];
  if (Number.isNaN(old) || Number.isNaN(now)) return `${before} → ${after}`;
  const pct = Math.trunc((100 * (now - old)) / Math.max(1, old));
  return `${before} → ${after} (${pct < 0 ? "\u2212" : "+"}${Math.abs(pct)}%)`;
}
