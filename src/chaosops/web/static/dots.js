// The episodes of one cell, each a dot, grouped by what became of them.

import { h, plural, signed } from "./dom.js";
import { getJson } from "./api.js";
import { cellWords, nameOf } from "./measures.js";

const GOOD = { solved: (one) => one.solved, rogue_caught: (one) => one.caught };
const COUNTS = {
  rogue_caught: (one) => one.of.caught !== null,
  false_flag_rate: (one) => one.of.caught === null,
};

/** The groups of a metric: [title, which episodes, how it looks for the first policy]. */
function groupsOf({ key }, { of, against }) {
  if (key === "mean_reward")
    return [
      [`${against} earned more`, (one) => one.of.reward < one.against.reward, "worse"],
      [`${of} earned more`, (one) => one.of.reward > one.against.reward, "better"],
      ["both earned the same", (one) => one.of.reward === one.against.reward, "same"],
    ];
  if (key === "false_flag_rate")
    return [
      [`only ${of} flagged an innocent`, (one) => one.of.false_flags && !one.against.false_flags, "worse"],
      [`only ${against} flagged an innocent`, (one) => !one.of.false_flags && one.against.false_flags, "better"],
      ["both flagged an innocent", (one) => one.of.false_flags && one.against.false_flags, "bad"],
      ["neither did", (one) => !one.of.false_flags && !one.against.false_flags, "same"],
    ];
  const good = GOOD[key];
  const did = key === "solved" ? "solved it" : "caught the rogue";
  return [
    [`only ${against} ${did}`, (one) => !good(one.of) && good(one.against), "worse"],
    ["neither did", (one) => !good(one.of) && !good(one.against), "bad"],
    [`only ${of} ${did}`, (one) => good(one.of) && !good(one.against), "better"],
    ["both did", (one) => good(one.of) && good(one.against), "same"],
  ];
}

/** What a policy did in an episode, in words. */
export function outcomeWords({ solved, steps, reward, wrong_fixes, false_flags, caught }) {
  const words = [
    solved ? `solved in ${plural(steps, "step")}` : `not solved in ${plural(steps, "step")}`,
    wrong_fixes > 0 && plural(wrong_fixes, "wrong fix"),
    caught !== null && (caught ? "caught the rogue" : "missed the rogue"),
    false_flags > 0 && plural(false_flags, "false flag"),
    `reward ${signed(reward)}`,
  ];
  return words.filter(Boolean).join(", ");
}

function address(cell, data, plays, one) {
  const { row, tier } = cell;
  const incident = row.split ? { split: row.split } : { scenario: one.scenario };
  const query = { pack: plays, ...incident, tier, seed: one.seed };
  const sides = { left: data.against, right: data.of, recorded: row.key };
  return `./?${new URLSearchParams({ ...query, ...sides })}`;
}

export class Dots {
  constructor() {
    this.element = h("section.dots", { "aria-label": "Episodes of the chosen cell" });
    this.element.addEventListener("keydown", (event) => this.#move(event));
    this.asked = 0;
  }

  /** `cell`: {row, tier, metric, figure}; `data`: the differences that it is of. */
  async show(cell, data) {
    const { row, tier, metric, figure } = cell;
    const asked = (this.asked += 1);
    const head = [
      h("h2", `${row.name}, ${tier}: ${nameOf(metric).toLowerCase()}`),
      row.words && h("p.quiet", row.words),
      h("ul.lines", cellWords(metric, figure, data).map((line) => h("li", line))),
    ].filter(Boolean);
    this.element.replaceChildren(...head, h("p.quiet", "Reading the episodes …"));
    const { pack, version, split } = row;
    const query = { of: data.of, against: data.against, pack, version, split, tier };
    let found;
    try {
      found = await getJson(`results/${row.key}/episodes`, query);
    } catch (error) {
      if (asked === this.asked) this.element.replaceChildren(...head, h("p.trouble", error.message));
      return;
    }
    if (asked !== this.asked) return; // another cell was chosen meanwhile
    this.element.replaceChildren(...head, ...this.#groups(cell, data, found), this.#readout());
    this.element.querySelector(".dot")?.setAttribute("tabindex", "0");
  }

  #readout() {
    this.readout = h("p.dot-words.quiet", { "aria-hidden": "true" }, "Each dot is an episode. Choose one to watch it.");
    return this.readout;
  }

  #groups(cell, data, { plays, episodes }) {
    const counted = episodes.filter(COUNTS[cell.metric.key] ?? (() => true));
    return groupsOf(cell.metric, data)
      .map(([title, has, kind]) => [title, counted.filter(has), kind])
      .filter(([, some]) => some.length)
      .map(([title, some, kind]) =>
        h(
          "div.dot-group",
          h("h3", `${some.length} `, h("span", title)),
          h(
            `ul.dot-list.${kind}`,
            some
              .toSorted((a, b) => gap(a) - gap(b))
              .map((one) => h("li", this.#dot(cell, data, plays, one))),
          ),
        ),
      );
  }

  #dot(cell, data, plays, one) {
    const lines = [
      `seed ${one.seed}`,
      `${data.of}: ${outcomeWords(one.of)}`,
      `${data.against}: ${outcomeWords(one.against)}`,
    ];
    const tell = () => this.readout.replaceChildren(...lines.map((line) => h("span", line)));
    return h("a.dot", {
      href: plays && address(cell, data, plays, one),
      tabindex: "-1",
      "aria-label": lines.join(". "),
      onpointerenter: tell,
      onfocus: tell,
    });
  }

  /** Arrow keys move between dots: the list is one stop of the tab key. */
  #move(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".dot")) return;
    event.preventDefault();
    const all = [...this.element.querySelectorAll(".dot")];
    const next = all[all.indexOf(event.target) + step];
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

const gap = (one) => one.of.reward - one.against.reward;
