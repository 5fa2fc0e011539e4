// The latest turn of each role, in the order of the turns. Who is on turn comes last.

import { h, ROLE_NAMES } from "./dom.js";

const ORDER = Object.keys(ROLE_NAMES);

export class Round {
  constructor() {
    this.element = h("ol.round", { "aria-label": "The latest round" });
  }

  /** What was done at step N stands in the chat with this step; who did nothing is not there. */
  show({ step, on_turn, role, chat }) {
    const last = ORDER.indexOf(on_turn) + ORDER.length;
    const turns = [];
    const told = [];
    for (let back = Math.min(step, ORDER.length - 1); back > 0; back -= 1) {
      const who = ORDER[(last - back) % ORDER.length];
      const at = step - back + 1;
      const done = chat.find((said) => said.step === at && said.sender === who);
      const words = done?.text ?? "did nothing";
      turns.push(this.#turn(who, at, words, back === 1 && "new"));
      told.push(`${ROLE_NAMES[who]}: ${words}.`);
    }
    this.words = told.join(" "); // for a screen reader
    const waits = on_turn === role ? "your turn" : "decides …";
    this.element.replaceChildren(...turns, this.#turn(on_turn, step + 1, waits, "now"));
  }

  #turn(who, at, words, kind) {
    const name = ROLE_NAMES[who] ?? who;
    return h(
      "li",
      { class: kind, "aria-current": kind === "now" && "step" },
      h("span.who", h("b", name), ` step ${at}`),
      h("span.what", words),
    );
  }
}
