// The form, and the address that says the same thing.

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
    this.#options(
      "pack",
      packs.map((pack) => pack.name),
    );
    this.#options(
      "scenario",
      packs.flatMap((pack) => pack.scenarios),
    );
    this.#options(
      "split",
      packs.flatMap((pack) => pack.splits),
    );
    this.#options("tier", tiers);
    this.#options("role", roles);
    const names = policies.map((policy) => policy.name);
    this.#options("left", names);
    this.#options("right", [...names, [NOBODY, "nobody: one team alone"]]);
    // Who knows the truth would tell it.
    this.#options(
      "partners",
      policies.filter((policy) => !policy.knows_truth).map((policy) => policy.name),
    );
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

  /** What is chosen, as the address writes it. */
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

  hasSplits(pack) {
    return this.catalogue.packs.find((known) => known.name === pack)?.splits.length > 0;
  }

  #options(name, values) {
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

  /** A line on who has been chosen; a model that cannot be loaded is told here already. */
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

/** Who picks an incident by its name has nothing left to find out: a seat is for a mystery. */
export function defaultsOf({ defaults }, mode) {
  return mode === "seat" ? { ...defaults, scenario: MYSTERY } : defaults;
}

/** The choice in an address, or null where there is none. What is empty is not chosen, but for a
 *  side: there, it says that nobody plays. */
export function fromAddress() {
  const given = [...new URLSearchParams(location.search)];
  const query = Object.fromEntries(given.filter(([name, value]) => value || WATCH.includes(name)));
  return Object.keys(query).length ? query : null;
}

export const toAddress = (choice) => `?${new URLSearchParams(choice)}`;

/** The part of a choice that says which incident it is. */
export function incidentOf(choice) {
  const { pack, scenario, split, tier, seed } = choice;
  return { pack, scenario, split, tier, seed };
}

export const isNobody = (name) => name === NOBODY || name === "";

export function titleOf(choice) {
  const { pack = "classic", scenario, split, tier, seed } = choice;
  return [pack, pack === "classic" ? scenario : split, tier, `seed ${seed}`]
    .filter(Boolean)
    .join(" · ");
}
