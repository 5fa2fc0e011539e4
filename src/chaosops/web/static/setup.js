// The form, and the same choice as an address.

import { byId, h } from "./dom.js";

const WATCH = ["left", "right"];
const SEAT = ["role", "partners"];
const NOBODY = "none";
const MYSTERY = "mystery";

export class Setup {
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.form = byId("setup");
    const { packs, tiers, roles, policies } = catalogue;
    const names = policies.map((policy) => policy.name);
    const options = {
      pack: packs.map((pack) => pack.name),
      scenario: packs.flatMap((pack) => pack.scenarios),
      split: packs.flatMap((pack) => pack.splits),
      tier: tiers,
      role: roles,
      left: names,
      right: [...names, [NOBODY, "nobody: one team alone"]],
      // A policy that knows the truth would tell it in the chat.
      partners: policies.filter((policy) => !policy.knows_truth).map((policy) => policy.name),
    };
    for (const [name, values] of Object.entries(options)) this.#fill(name, values);
    this.form.addEventListener("change", ({ target }) => {
      if (target.name === "mode")
        byId("scenario").value = defaultsOf(catalogue, target.value).scenario;
      this.#show();
    });
    byId("another-seed").addEventListener("click", () => {
      byId("seed").value = String(Math.floor(Math.random() * 100000));
    });
    this.write(catalogue.defaults);
  }

  /** The choice, as the address has it. */
  read() {
    const value = (name) => this.form.elements[name].value.trim();
    const mode = value("mode");
    const pack = value("pack");
    const what = this.hasSplits(pack)
      ? { pack, split: value("split") }
      : { pack, scenario: value("scenario") };
    const common = { ...what, tier: value("tier"), seed: value("seed") };
    const names = mode === "seat" ? SEAT : WATCH;
    const who = Object.fromEntries(names.map((name) => [name, value(name)]));
    return mode === "seat" ? { mode, ...common, ...who } : { ...common, ...who };
  }

  write(choice) {
    for (const [name, value] of Object.entries(choice)) {
      const field = this.form.elements[name];
      if (field) field.value = value;
    }
    for (const field of this.form.querySelectorAll("select")) {
      if (field.selectedIndex < 0) field.value = this.catalogue.defaults[field.name] ?? "";
    }
    this.form.elements.mode.value = choice.mode === "seat" ? "seat" : "watch";
    this.#show();
  }

  /** What an address leaves out has its default; a split names its pack. */
  complete(asked) {
    const { scenario, split, right, ...others } = defaultsOf(this.catalogue, asked.mode);
    const home = this.catalogue.packs.find((known) => known.splits.includes(asked.split));
    const pack = asked.pack ?? home?.name ?? others.pack;
    const incident = this.hasSplits(pack) ? { split } : { scenario };
    const beside = asked.moves ? {} : { right };
    return { ...others, ...beside, ...incident, pack, ...asked };
  }

  hasSplits(pack) {
    return this.catalogue.packs.find((known) => known.name === pack)?.splits.length > 0;
  }

  #fill(name, values) {
    byId(name).replaceChildren(
      ...values.map((value) => {
        const [key, words] = Array.isArray(value) ? value : [value, value];
        return h("option", { value: key }, words);
      }),
    );
  }

  #show() {
    const seat = this.form.elements.mode.value === "seat";
    const splits = this.hasSplits(this.form.elements.pack.value);
    const visible = {
      scenario: !splits,
      split: splits,
      left: !seat,
      right: !seat,
      role: seat,
      partners: seat,
    };
    for (const [name, shown] of Object.entries(visible)) {
      this.form.querySelector(`.field.${name}`).hidden = !shown;
    }
    byId("go").textContent = seat ? "Sit down" : "Run";
    byId("about").replaceChildren(...this.#about(seat));
  }

  /** A line about the chosen policies, and why one cannot be loaded. */
  #about(seat) {
    const names = (seat ? ["partners"] : WATCH).map((name) => this.form.elements[name].value);
    const lines = [];
    for (const name of new Set(names)) {
      const policy = this.catalogue.policies.find((known) => known.name === name);
      if (!policy) continue;
      const trouble = policy.state === "unavailable" ? `, UNAVAILABLE: ${policy.why}` : "";
      lines.push(h("span", h("strong", name), ` ${policy.words}${trouble}`));
    }
    return lines;
  }
}

/** A player who chose the incident by its name has nothing to find out. */
export function defaultsOf({ defaults }, mode) {
  return mode === "seat" ? { ...defaults, scenario: MYSTERY } : defaults;
}

/** The choice in an address, or null. An empty value is left out, except for a side: nobody plays
 *  there. */
export function fromAddress() {
  const given = [...new URLSearchParams(location.search)];
  const query = Object.fromEntries(given.filter(([name, value]) => value || WATCH.includes(name)));
  return Object.keys(query).length ? query : null;
}

export const toAddress = (choice) => `?${new URLSearchParams(choice)}`;

/** The part of a choice that names the incident. */
export function incidentOf(choice) {
  const { pack, scenario, split, tier, seed } = choice;
  return { pack, scenario, split, tier, seed };
}

export const isNobody = (name) => name === NOBODY || name === "";

export function titleOf({ pack, scenario, split, tier, seed }) {
  return [pack, scenario, split, tier, `seed ${seed}`].filter(Boolean).join(" · ");
}
