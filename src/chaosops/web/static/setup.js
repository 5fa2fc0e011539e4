// The form, and the same choice as an address.

import { byId, h } from "./dom.js";
import { isLive, LIVE_WORDS } from "./live.js";

const WATCH = ["left", "right"];
const SEAT = ["mode", "role", "partners"];
export const NOBODY = "none";
const MYSTERY = "mystery";

export class Setup {
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.form = byId("setup");
    const { packs, tiers, roles, policies } = catalogue;
    const names = policies.map((policy) => policy.name);
    const options = {
      pack: packs.map((pack) => pack.name),
      tier: tiers,
      role: roles,
      left: names,
      right: names,
      // A policy that knows the truth would reveal it in the chat.
      partners: policies.filter((policy) => !policy.knows_truth).map((policy) => policy.name),
    };
    for (const [name, values] of Object.entries(options)) offer(byId(name), values);
    for (const option of byId("pack").options) option.textContent = this.packOf(option.value).title;
    byId("right").append(h("option", { value: NOBODY }, "nobody: one team alone"));
    this.form.addEventListener("change", ({ target }) => {
      this.#offerIncidents();
      if (target.name === "pack") {
        const { split, right } = this.packOf(target.value).defaults;
        Object.assign(this.form.elements.split, { value: split });
        Object.assign(this.form.elements.right, { value: right });
      }
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
    const { mode, pack } = this.form.elements;
    const what = this.hasSplits(pack.value) ? "split" : "scenario";
    const who = mode.value === "seat" ? SEAT : WATCH;
    const names = ["pack", what, "tier", "seed", ...who];
    return Object.fromEntries(names.map((name) => [name, this.form.elements[name].value.trim()]));
  }

  write(choice) {
    this.form.elements.mode.value = choice.mode === "seat" ? "seat" : "watch";
    if (choice.pack) this.form.elements.pack.value = choice.pack;
    const isOffered = this.packOf(choice.pack)?.scenarios.includes(choice.scenario) ?? true;
    this.named = isOffered ? null : choice.scenario; // a failure by its own name
    this.#offerIncidents();
    for (const [name, value] of Object.entries(choice)) {
      const field = this.form.elements[name];
      if (field && name !== "mode") field.value = value;
    }
    for (const field of this.form.querySelectorAll("select")) {
      if (field.selectedIndex < 0) field.value = this.catalogue.defaults[field.name] ?? "";
      if (field.selectedIndex < 0) field.selectedIndex = 0;
    }
    this.#show();
  }

  /** Values that an address leaves out get their defaults. A split names its pack. */
  complete(asked) {
    const defaults = defaultsOf(this.catalogue, asked.mode);
    const { scenario, tier, seed, left, role, partners } = defaults;
    const home = this.catalogue.packs.find((known) => known.splits.includes(asked.split));
    const pack = asked.pack ?? home?.name ?? defaults.pack;
    const { split, right } = this.packOf(pack)?.defaults ?? defaults;
    // The server says what is wrong with a pack that it does not offer.
    const incident = !this.packOf(pack) ? {} : this.hasSplits(pack) ? { split } : { scenario };
    const beside = asked.moves ? {} : { right };
    const seat = asked.mode === "seat" || asked.moves ? { role, partners } : {};
    return { tier, seed, left, ...seat, ...beside, ...incident, pack, ...asked };
  }

  hasSplits(pack) {
    return this.packOf(pack)?.splits.length > 0;
  }

  /** The name of a failure, which a link may have, stays out: it may name the rogue. */
  titleOf({ pack, scenario, split, tier, seed, recorded, mode, moves, partners }) {
    const isOffered = this.packOf(pack)?.scenarios.includes(scenario);
    const words = isOffered && incidentWords(scenario);
    const others = partners && !mode && !moves && !recorded && `the other roles: ${partners}`;
    const parts = [pack, words, split, tier, `seed ${seed}`, recorded && "recorded", others];
    return parts.filter(Boolean).join(" · ");
  }

  packOf(name) {
    return this.catalogue.packs.find((known) => known.name === name);
  }

  /** The incidents of the chosen pack. Who plays gets a mystery: an address that names the
   *  failure would give it away. */
  #offerIncidents() {
    const { mode, pack, scenario, split } = this.form.elements;
    const { scenarios, splits } = this.packOf(pack.value) ?? this.catalogue.packs[0];
    const named = [...scenarios, ...(this.named ? [this.named] : [])];
    offer(scenario, mode.value === "seat" ? scenarios.slice(0, 1) : named, incidentWords);
    offer(split, splits);
  }

  #show() {
    const shown = Object.keys(this.read());
    for (const name of ["scenario", "split", "left", "right", "role", "partners"])
      this.form.querySelector(`.field.${name}`).hidden = !shown.includes(name);
    const seat = shown.includes("mode");
    byId("go").textContent = seat ? "Sit down" : "Run";
    byId("about").replaceChildren(...this.#about(seat ? ["partners"] : WATCH));
  }

  /** A line about the chosen policies, and why one cannot be loaded. */
  #about(fields) {
    const chosen = fields.map((field) => this.form.elements[field].value);
    const { pack } = this.read();
    const live = isLive(this, { pack }) ? [h("span", h("strong", pack), ` ${LIVE_WORDS}`)] : [];
    const told = [...new Set(chosen)]
      .flatMap((name) => this.catalogue.policies.filter((policy) => policy.name === name))
      .map(({ name, words, state, why }) => {
        const trouble = state === "unavailable" ? `, UNAVAILABLE: ${why}` : "";
        return h("span", h("strong", name), ` ${words}${trouble}`);
      });
    return [...told, ...live];
  }
}

/** The options of a field; what was chosen stays if it can. */
function offer(field, values, words = (one) => one) {
  const { value } = field;
  field.replaceChildren(...values.map((one) => h("option", { value: one }, words(one))));
  if (values.includes(value)) field.value = value;
}

/** Codes as on a ticket: nobody can tell from one what is broken. */
function incidentWords(scenario) {
  if (scenario === MYSTERY) return "drawn by the seed";
  return scenario.startsWith("inc-") ? scenario.toUpperCase() : "named in the link";
}

/** A player who named the incident would have nothing to find out. */
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

/** The part of a choice that names the incident. `recorded`: it was played in this evaluation or
 *  training run, and is shown as it was. */
export function incidentOf(choice) {
  const { pack, scenario, split, tier, seed, recorded } = choice;
  return { pack, scenario, split, tier, seed, recorded };
}
