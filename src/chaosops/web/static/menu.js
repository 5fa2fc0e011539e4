// The legal actions of a role as buttons. A verb with many targets is a list.

import { h } from "./dom.js";

const FEW = 6;

export class Menu {
  constructor(chosen) {
    this.chosen = chosen;
    this.element = h("div.menu");
  }

  fill(groups) {
    // Many repairs of the same services: choose the service once, then the repair.
    const repairs = groups.filter((group) => group.remedy);
    const together = repairs.length > 3 ? repairs : [];
    const others = groups.filter((group) => !together.includes(group));
    const parts = others.map((group) => this.#group(group));
    if (together.length) parts.splice(1, 0, this.#repairs(together));
    this.element.replaceChildren(...parts);
  }

  disable(disabled) {
    const parts = this.element.querySelectorAll("button, select, input");
    for (const part of parts) part.disabled = disabled;
  }

  #group({ verb, title, choices, acts }) {
    if (verb === "communicate") return this.#message(title);
    if (acts) return this.#acts(verb, title, choices);
    if (choices.length === 1)
      return h("div.verb", this.#button(title, verb, () => choices[0].move));
    if (choices.length > FEW) return this.#list(verb, title, choices);
    const buttons = choices.map(({ words, move }) => this.#button(words, verb, () => move));
    return h(
      "div.verb",
      { role: "group", "aria-label": title },
      h("p.label", title),
      h("div.row", buttons),
    );
  }

  #button(words, verb, move) {
    const onclick = () => this.chosen(move());
    return h("button.button", { type: "button", "data-verb": verb, onclick }, words);
  }

  #list(verb, title, choices) {
    const id = `menu-${verb}`;
    const options = choices.map(({ words }, i) => h("option", { value: i }, words));
    const select = h("select", { id }, options);
    const go = this.#button("Do it", verb, () => choices[Number(select.value)].move);
    return h("div.verb", h("label.label", { for: id }, title), h("div.row.joined", select, go));
  }

  /** A flag names an act: first those on the failing services. */
  #acts(verb, title, choices) {
    const id = `menu-${verb}`;
    const option = (choice) => h("option", { value: choices.indexOf(choice) }, choice.words);
    const group = (label, some) =>
      some.length > 0 && h("optgroup", { label }, some.map(option));
    const first = h("option", { value: "" }, "choose the act that did the damage");
    const select = h(
      "select",
      { id },
      first,
      group("on the services in trouble", choices.filter(({ near }) => near)),
      group("elsewhere", choices.filter(({ near }) => !near)),
    );
    const chosen = h("p.quiet.chosen");
    const go = this.#button("Flag its agent", verb, () => choices[Number(select.value)].move);
    const show = () => {
      const choice = select.value === "" ? null : choices[Number(select.value)];
      go.disabled = !choice;
      chosen.textContent = choice?.words ?? "";
    };
    select.addEventListener("change", show);
    show();
    return h("div.verb", h("label.label", { for: id }, title), select, chosen, go);
  }

  #repairs(groups) {
    const names = new Set(groups.flatMap(({ choices }) => choices.map(({ move }) => move.target)));
    const options = [...names].map((name) => h("option", name));
    const service = h("select", { id: "menu-service" }, options);
    const button = ({ verb, title, choices }) => {
      const counts = [...new Set(choices.map(({ move }) => move.replicas))];
      return counts.map((count) =>
        this.#button(count === undefined ? title : `${title} to ${count}`, verb, () => {
          const fits = ({ move }) => move.target === service.value && move.replicas === count;
          return choices.find(fits).move;
        }),
      );
    };
    return h(
      "div.verb",
      { role: "group", "aria-label": "Repair a service" },
      h("label.label", { for: "menu-service" }, "Repair a service"),
      service,
      h("div.row", groups.map(button)),
    );
  }

  #message(title) {
    const id = "menu-message";
    const input = h("input", { type: "text", id, maxlength: 300, autocomplete: "off" });
    const onsubmit = (event) => {
      event.preventDefault();
      const message = input.value.trim();
      if (message) this.chosen({ action: "communicate", message });
    };
    const button = h("button.button", { type: "submit" }, "Say it");
    const form = h("form.row.joined", { onsubmit }, input, button);
    return h("div.verb", h("label.label", { for: id }, title), form);
  }
}
