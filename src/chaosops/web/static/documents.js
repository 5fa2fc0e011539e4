// The documents of a company. What belongs to the failing services is open, the rest is folded.

import { definitions, h, plural } from "./dom.js";

export class Documents {
  constructor() {
    this.element = h("section.block.documents", { hidden: true });
    this.opened = new Map(); // what the visitor has opened or closed, by name
  }

  /** `relevant` has the names of the pages and agents that concern what fails now. */
  fill({ runbook = [], charter = {} }, relevant) {
    const key = JSON.stringify([relevant.pages, relevant.agents]);
    if (key === this.key || !runbook.length) return;
    this.key = key;
    this.element.hidden = false;
    const pages = runbook.map((page) => [page.name, page]);
    const clauses = Object.entries(charter);
    this.element.replaceChildren(
      ...this.#document("Runbook", "page", pages, relevant.pages),
      ...this.#document("Charter", "agent", clauses, relevant.agents),
    );
  }

  #document(title, noun, entries, names) {
    if (!entries.length) return [];
    const isNamed = ([name]) => names.includes(name);
    const open = names.flatMap((name) => entries.filter(([known]) => known === name));
    const folded = entries.filter((entry) => !isNamed(entry));
    const words = plural(folded.length, open.length ? `other ${noun}` : noun);
    const list = (some, isOpen) => h("div.pages", some.map((one) => this.#item(one, isOpen)));
    return [
      h("h3", title, " ", h("span.count", String(entries.length))),
      open.length > 0 && list(open, true),
      // Where no page concerns what fails, it has to be found among all of them.
      folded.length > 0 && this.#fold(title, [words], list(folded, false), !open.length),
    ].filter(Boolean);
  }

  /** Who judges acts reads of a page only what does damage, and of an agent its clauses. */
  #item([name, value], isOpen) {
    if (!value.signs) return h("p", h("strong", name), ` ${value.cause ?? value}`);
    const rest = definitions("details", [
      ["does damage", value.cause],
      ["remedy", value.remedy],
    ]);
    return this.#fold(name, [h("strong", name), ` ${value.signs}`], rest, isOpen);
  }

  #fold(name, words, content, isOpen) {
    const note = () => this.opened.set(name, !element.open);
    const element = h("details", h("summary", { onclick: note }, words), content);
    element.open = this.opened.get(name) ?? isOpen;
    return element;
  }
}
