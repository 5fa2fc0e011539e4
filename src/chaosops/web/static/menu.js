// The legal actions of a role as buttons; what has many targets is chosen from a list.

import { h } from "./dom.js";

const FEW = 6;

export class Menu {
  constructor(chosen) {
    this.chosen = chosen;
    this.element = h("div", { class: "menu" });
  }

  fill(groups) {
    // Many verbs on the same many things: choose the thing once, then what to do with it.
    const repairs = groups.filter((group) => group.remedy);
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

  #group({ verb, title, choices }) {
    if (verb === "communicate") return this.#message(title);
    if (choices.length === 1)
      return h("div", { class: "verb" }, this.#button(title, choices[0].move, verb));
    const label = h("p", { class: "label" }, title);
    if (choices.length <= FEW) {
      return h(
        "div",
        { class: "verb", role: "group", "aria-label": title },
        label,
        h(
          "div",
          { class: "row" },
          choices.map(({ words, move }) => this.#button(words, move, verb)),
        ),
      );
    }
    return this.#list(verb, title, choices);
  }

  #button(words, move, verb) {
    return h(
      "button",
      { class: "button", type: "button", "data-verb": verb, onclick: () => this.chosen(move) },
      words,
    );
  }

  #list(verb, title, choices) {
    const id = `menu-${verb}`;
    const select = h(
      "select",
      { id },
      choices.map(({ words }, i) => h("option", { value: i }, words)),
    );
    const go = h(
      "button",
      {
        class: "button",
        type: "button",
        "data-verb": verb,
        onclick: () => this.chosen(choices[Number(select.value)].move),
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
    const button = ({ verb, title, choices }) => {
      const counts = [...new Set(choices.map(({ move }) => move.replicas))];
      return counts.map((count) =>
        h(
          "button",
          { class: "button", type: "button", "data-verb": verb, onclick: () => act(verb, count) },
          title,
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
