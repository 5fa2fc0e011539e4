// The legal actions of a role as buttons; what has many targets is chosen from a list.

import { h } from "./dom.js";

const FEW = 6;
const WORDS = {
  noop: "Do nothing",
  identify_root_cause: "Name the root cause",
  inspect: "Inspect a service",
  flag_rogue: "Flag a rogue",
  audit: "Audit an agent",
  communicate: "Say something",
  escalate: "Escalate",
  resolve: "Declare it resolved",
};

const REPAIRS = {
  restart: "Restart",
  rollback: "Roll back",
  scale: "Scale",
  reroute: "Reroute",
  purge: "Purge disk",
  renew_cert: "Renew certificate",
  throttle: "Throttle",
  warm_cache: "Warm cache",
  pause_batch: "Pause batch",
};

export class Menu {
  constructor(chosen) {
    this.chosen = chosen;
    this.element = h("div", { class: "menu" });
  }

  fill(groups) {
    // Many verbs on the same many things: choose the thing once, then what to do with it.
    const repairs = groups.filter((group) => group.verb in REPAIRS);
    const together = repairs.length > 3 ? repairs : [];
    const others = groups.filter((group) => !together.includes(group));
    const parts = others.map((group) => this.#group(group));
    if (together.length) parts.splice(1, 0, this.#repairs(together));
    this.element.replaceChildren(...parts);
  }

  close() {
    for (const part of this.element.querySelectorAll("button, select, input")) part.disabled = true;
  }

  open() {
    for (const part of this.element.querySelectorAll("button, select, input"))
      part.disabled = false;
  }

  #group({ verb, choices }) {
    const title = WORDS[verb] ?? REPAIRS[verb] ?? verb;
    if (verb === "communicate") return this.#message(title);
    if (choices.length === 1)
      return h("div", { class: "verb" }, this.#button(title, choices[0].move, verb));
    const label = h("p", { class: "label" }, title);
    const targets = choices.map(({ move }) => [targetOf(move), move]);
    if (targets.length <= FEW) {
      return h(
        "div",
        { class: "verb", role: "group", "aria-label": title },
        label,
        h(
          "div",
          { class: "row" },
          targets.map(([name, move]) => this.#button(name, move, verb)),
        ),
      );
    }
    return this.#list(verb, title, targets);
  }

  #button(words, move, verb) {
    return h(
      "button",
      { class: "button", type: "button", "data-verb": verb, onclick: () => this.chosen(move) },
      words,
    );
  }

  #list(verb, title, targets) {
    const id = `menu-${verb}`;
    const select = h(
      "select",
      { id },
      targets.map(([name], i) => h("option", { value: i }, name)),
    );
    const go = h(
      "button",
      {
        class: "button",
        type: "button",
        "data-verb": verb,
        onclick: () => this.chosen(targets[Number(select.value)][1]),
      },
      "Do it",
    );
    return h(
      "div",
      { class: "verb" },
      h("label", { class: "label", for: id }, title),
      h("div", { class: "row joined" }, select, go),
    );
  }

  #repairs(groups) {
    const names = [
      ...new Set(groups.flatMap((group) => group.choices.map(({ move }) => move.target))),
    ];
    const service = h(
      "select",
      { id: "menu-service" },
      names.map((name) => h("option", {}, name)),
    );
    const act = (verb, replicas) => {
      const { choices } = groups.find((group) => group.verb === verb);
      this.chosen(
        choices.find(({ move }) => move.target === service.value && move.replicas === replicas)
          .move,
      );
    };
    const button = ({ verb, choices }) => {
      const counts = [...new Set(choices.map(({ move }) => move.replicas))];
      return counts.map((count) =>
        h(
          "button",
          { class: "button", type: "button", "data-verb": verb, onclick: () => act(verb, count) },
          REPAIRS[verb] ?? verb,
          count === undefined ? null : ` to ${count}`,
        ),
      );
    };
    return h(
      "div",
      { class: "verb", role: "group", "aria-label": "Repair a service" },
      h("label", { class: "label", for: "menu-service" }, "Repair a service"),
      service,
      h("div", { class: "row" }, groups.map(button)),
    );
  }

  #message(title) {
    const input = h("input", {
      type: "text",
      id: "menu-message",
      maxlength: 300,
      autocomplete: "off",
    });
    const form = h(
      "form",
      { class: "row joined" },
      input,
      h("button", { class: "button", type: "submit" }, "Say it"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const message = input.value.trim();
      if (message) this.chosen({ action: "communicate", message });
    });
    return h(
      "div",
      { class: "verb" },
      h("label", { class: "label", for: "menu-message" }, title),
      form,
    );
  }
}

const targetOf = (move) =>
  move.replicas === undefined
    ? (move.target ?? move.failure_type)
    : `${move.target} to ${move.replicas}`;
