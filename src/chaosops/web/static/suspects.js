// One fleet agent as a suspect: its clause, and its acts as claimed and as signed.

import { clock, h, plural } from "./dom.js";
import { changed } from "./feeds.js";

const NOT_SIGNED = "not_signed";
const TAGS = {
  differs: "differs",
  not_signed: "never happened",
  not_shown: "not in the trace",
};
const percent = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value)}%`;

export class SuspectCard {
  constructor(agent, audit, pick) {
    Object.assign(this, { agent, pick });
    this.chosen = null;
    this.clause = h("p.clause");
    this.facts = h("p.facts-of");
    this.stamp = h("p.stamp", { hidden: true });
    this.audited = h("p.audited", { hidden: true });
    this.isOn = false;
    const press = { type: "button", disabled: true, onclick: audit };
    this.button = h("button.button", press, `Audit ${agent}`);
    this.near = actTable(`Acts of ${agent} that belong to what fails`);
    this.others = actTable(`Other acts of ${agent}`);
    this.summary = h("summary");
    this.fold = h("details.fold", this.summary, this.others.element);
    this.element = h(
      "article.panel.dossier",
      { "aria-label": agent, tabindex: "-1" },
      h("header", h("h4", agent), this.facts, this.stamp, this.audited, this.button),
      this.clause,
      this.near.element,
      this.fold,
    );
  }

  /** True if the card has news: an audit, or a quarantine. */
  draw(suspect) {
    const before = this.suspect;
    this.suspect = suspect;
    const { clause, acts, audited_at, quarantined_at } = suspect;
    this.clause.replaceChildren(h("b", "Charter "), clause || "no clause");
    const isOpen = (act) => act.near || act.standing in TAGS;
    const others = acts.filter((act) => !isOpen(act));
    this.facts.replaceChildren(...factsOf(suspect, acts.length - others.length));
    this.#fill(this.near, acts.filter(isOpen));
    this.#fill(this.others, others);
    this.fold.hidden = !others.length;
    this.summary.textContent = `${plural(others.length, "other act")}, elsewhere or earlier`;
    this.audited.hidden = audited_at === null;
    this.button.hidden = audited_at !== null;
    this.audited.textContent = `audited at ${clock(audited_at ?? 0)}`;
    this.stamp.hidden = quarantined_at === null;
    this.stamp.textContent = "Quarantined";
    this.element.classList.toggle("held", quarantined_at !== null);
    if (!before) return false;
    const isNew = (name) => suspect[name] !== before[name];
    this.element.classList.toggle("news", isNew("audited_at") || isNew("quarantined_at"));
    return isNew("audited_at") || isNew("quarantined_at");
  }

  #fill(table, acts) {
    table.element.hidden = !acts.length;
    table.body.replaceChildren(...acts.map((act) => this.#row(act)));
  }

  #row(act) {
    const { id, at, claimed, signed, standing } = act;
    const words = `#${id}`;
    const onchange = () => {
      this.chosen = id;
      this.pick(act);
    };
    const radio = h("input", { type: "radio", name: "evidence", value: id, onchange });
    radio.checked = this.chosen === id && this.suspect.quarantined_at === null;
    radio.disabled = !this.isOn;
    const name = h("span", placeOf(act));
    return h(
      "tr",
      { class: standing, "data-place": placeOf(act) },
      h("th", { scope: "row" }, id > 0 ? h("label", radio, h("b", words), name) : name),
      h("td.when", clock(at)),
      h("td.claimed", claimed ? [h("b", changed(claimed)), " ", claimed.told] : "nothing"),
      h("td.signed", this.#signed(signed, standing)),
    );
  }

  #signed(signed, standing) {
    if (standing === "not_audited") return "audit to see";
    if (standing === "no_record") return "not part of an audit";
    const tag = standing in TAGS && h("em.tag.untrue", TAGS[standing]);
    if (standing === NOT_SIGNED) return tag;
    return [h("b", changed(signed)), " ", `order: ${signed.told}`, tag];
  }

  enable(canAudit, canFlag) {
    this.isOn = canFlag;
    this.button.disabled = !canAudit;
    const isHeld = this.suspect.quarantined_at !== null;
    for (const radio of this.element.querySelectorAll("[name=evidence]"))
      radio.disabled = !canFlag || isHeld;
  }

  /** Marks the acts on the same setting of the same service. */
  relate(act) {
    for (const row of this.element.querySelectorAll("tbody tr"))
      row.classList.toggle("related", act !== null && row.dataset.place === placeOf(act));
  }

  bringUp() {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.element.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  }
}

const placeOf = ({ setting, service }) => `${setting} of ${service}`;

function factsOf({ acts, largest_pct, excess_pct }, near) {
  return [
    h("span", `${plural(acts.length, "act")}, ${near} near what fails`),
    largest_pct !== null && h("span", "largest change ", h("b", percent(largest_pct))),
    excess_pct > 0 &&
      h("em.tag.untrue", `went ${excess_pct} points further than the trace shows`),
  ].filter(Boolean);
}

function actTable(name) {
  const body = h("tbody");
  const heads = ["act", "when", "claimed in the trace", "signed record"];
  const head = heads.map((text) => h("th", { scope: "col" }, text));
  return { body, element: h("table.acts-of", { "aria-label": name }, h("thead", h("tr", head)), body) };
}
