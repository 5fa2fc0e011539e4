// The heat map: splits by tiers for each metric, one policy minus another.

import { h } from "./dom.js";
import { figureTitle } from "./figure_words.js";
import {
  cellWords,
  differenceWords,
  nameOf,
  strengthOf,
  unitOf,
  verdictOf,
} from "./measures.js";

const SIGNS = { better: "better", worse: "worse", unclear: "not clear", same: "equal", none: "" };
const ARROWS = { descending: " ↓", ascending: " ↑" };

export const cellKey = (row, tier, metric) =>
  [row.key, row.pack, row.version, row.split, tier, metric.key].join("~");

export class HeatMap {
  /** `open` is called with {row, tier, metric, figure}; `sort` with {metric, tier}. */
  constructor({ open, sort }) {
    Object.assign(this, { open, sort });
    this.tip = h("div.tip", { id: "cell-tip", role: "tooltip", hidden: true });
    this.parts = h("div.heat-parts");
    this.element = h("div.heat", this.parts, this.tip);
    this.element.addEventListener("keydown", (event) => this.#move(event));
    this.element.addEventListener("pointerleave", () => this.#hide());
  }

  /** `order`: {metric, tier, direction}, or nothing. `chosen`: the key of the open cell. */
  draw(data, { tiers, order, chosen }) {
    this.data = data;
    this.cells = new Map();
    this.#hide();
    const rows = sorted(data.rows, order);
    const parts = data.metrics.map((metric) => this.#part(metric, rows, tiers, order));
    this.parts.replaceChildren(...parts);
    this.choose(chosen);
  }

  /** Marks a cell as open. One cell of the map is in the order of the tab key. */
  choose(key) {
    for (const [other, { button }] of this.cells) {
      button.setAttribute("aria-pressed", String(other === key));
      button.tabIndex = other === key ? 0 : -1;
    }
    if (!this.cells.has(key)) this.#buttons()[0]?.setAttribute("tabindex", "0");
  }

  #part(metric, rows, tiers, order) {
    const heads = tiers.map((tier) => {
      const mine = order?.metric === metric.key && order.tier === tier ? order.direction : null;
      const words = `Sort by ${nameOf(metric)}, ${tier}`;
      return h(
        "th",
        { scope: "col", "aria-sort": mine ?? "none" },
        h(
          "button.sorter",
          {
            type: "button",
            title: words,
            "data-metric": metric.key,
            "data-tier": tier,
            onclick: () => this.sort({ metric: metric.key, tier }),
          },
          tier,
          h("span", { "aria-hidden": "true" }, ARROWS[mine] ?? ""),
        ),
      );
    });
    const body = rows.map((row) =>
      h(
        "tr",
        h("th", { scope: "row", title: row.words }, h("b", row.name), h("code", row.place)),
        tiers.map((tier) => h("td", this.#cell(row, tier, metric))),
      ),
    );
    const caption = `${nameOf(metric)}: ${this.data.of} minus ${this.data.against}`;
    return h(
      "figure.heat-part",
      h("figcaption", h("b", figureTitle(metric.title, nameOf(metric))), h("small", unitOf(metric))),
      h(
        "table",
        { "aria-label": caption },
        h("thead", h("tr", h("th", { scope: "col" }, figureTitle("split", "Split")), heads)),
        h("tbody", body),
      ),
    );
  }

  #cell(row, tier, metric) {
    const figure = row.tiers[tier]?.[metric.key];
    const title = `${row.name}, ${tier}, ${nameOf(metric)}`;
    const lines = figure ? cellWords(metric, figure, this.data) : ["Not played."];
    if (!figure || figure.value === null) {
      const words = h("span.unseen", ` ${title}: ${lines[0]}`);
      return h("span.cell.none", { title: lines[0] }, "–", words);
    }
    const verdict = verdictOf(metric, figure);
    const button = h(
      `button.cell.${verdict}`,
      {
        type: "button",
        tabindex: "-1",
        "--strength": strengthOf(metric, figure),
        "aria-label": `${title}: ${lines.join("; ")}; ${SIGNS[verdict]}`,
        onpointerenter: ({ pointerType }) =>
          pointerType === "mouse" && this.#show(button, title, lines, verdict),
        onpointerleave: () => this.#hide(),
        onfocus: () => button.matches(":focus-visible") && this.#show(button, title, lines, verdict),
        onblur: () => this.#hide(),
        onclick: () => this.open({ row, tier, metric, figure }),
      },
      differenceWords(metric, figure.value),
    );
    this.cells.set(cellKey(row, tier, metric), { button, row, tier, metric, figure });
    return button;
  }

  #show(button, title, lines, verdict) {
    this.tip.replaceChildren(
      h("b", title),
      ...lines.map((line) => h("span", line)),
      h(`em.${verdict}`, SIGNS[verdict]),
    );
    this.tip.hidden = false;
    const [box, home] = [button.getBoundingClientRect(), this.element.getBoundingClientRect()];
    const left = box.x - home.x + box.width / 2 - this.tip.offsetWidth / 2;
    const most = home.width - this.tip.offsetWidth;
    this.tip.style.setProperty("left", `${Math.max(0, Math.min(left, most))}px`);
    this.tip.style.setProperty("top", `${box.bottom - home.y + 6}px`);
  }

  #hide() {
    this.tip.hidden = true;
  }

  #buttons() {
    return [...this.parts.querySelectorAll("button.cell")];
  }

  /** Arrow keys move between cells; Escape hides what a cell says. */
  #move(event) {
    if (event.key === "Escape") this.#hide();
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const step = steps[event.key];
    if (!step || !event.target.matches("button.cell")) return;
    event.preventDefault();
    const next = this.#beside(event.target, ...step);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  /** The nearest cell in a direction, over what is not a button. */
  #beside(button, across, down) {
    const grid = this.#grid();
    let y = grid.findIndex((line) => line.includes(button));
    let x = grid[y].indexOf(button);
    for (;;) {
      [x, y] = [x + across, y + down];
      const found = grid[y]?.[x];
      if (found === undefined) return null;
      if (found) return found;
    }
  }

  /** Rows of all parts side by side. */
  #grid() {
    const parts = [...this.parts.querySelectorAll("tbody")];
    const rows = parts[0] ? [...parts[0].rows].map((_, i) => i) : [];
    return rows.map((i) =>
      parts.flatMap((part) =>
        [...part.rows[i].querySelectorAll("td")].map((td) => td.querySelector("button.cell")),
      ),
    );
  }
}

/** Rows without a value come last. */
function sorted(rows, order) {
  if (!order) return rows;
  const value = (row) => row.tiers[order.tier]?.[order.metric]?.value ?? null;
  const sign = order.direction === "ascending" ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return (left === null) - (right === null);
    return sign * (left - right);
  });
}
