// Shared by the pages of reports.

import { byId, complain, h } from "./dom.js";
import { figureAddress, getJson } from "./api.js";

/** Draws a report for each item that the server has, or says how to make one. */
export async function showReports(path, list, draw, nothing) {
  const place = byId("reports");
  try {
    const found = await getJson(path);
    const items = found[list];
    const reports = items.map((item) => (item.error ? broken(item) : draw(item)));
    if (items.length > 1) reports.unshift(contents(items));
    place.replaceChildren(...(items.length ? reports : [nothing(found)]));
  } catch (error) {
    byId("waiting")?.remove();
    complain([error.message]);
  }
}

const contents = (items) =>
  h(
    "nav.contents",
    { "aria-label": "On this page" },
    items.map(({ key, title }) => h("a", { href: `#${key}` }, title.split("/").at(-1))),
  );

const broken = ({ key, title, error }) =>
  h("section.panel.report", { id: key }, h("h2", title), h("p.trouble", error));

export const commands = (...lines) =>
  h("pre.commands", { tabindex: "0" }, lines.map((line) => `$ ${line}\n`).join(""));

/** The figures of a report, folded. */
export function figuresOf(one, kind) {
  if (!one.figures.length) return null;
  const pictures = one.figures.map(({ name, words }) =>
    h(
      "figure.picture",
      h("img", { src: figureAddress(one.key, name), alt: words, loading: "lazy" }),
      h("figcaption", words),
    ),
  );
  return h("details", { class: kind }, h("summary", "Figures"), pictures);
}

export function emptyState(title, words, ...lines) {
  return h("section.panel.report.empty", h("h2", title), h("p", words), commands(...lines));
}

/** A table that scrolls in its own box on a narrow screen. Its first columns stay in sight. */
export function table(caption, headers, rows, words = 2) {
  const cell = (tag, i) => (text) =>
    h(tag, { class: i >= words ? "number" : null, scope: tag === "th" ? "col" : null }, text);
  return h(
    "figure.tabled",
    h("figcaption", caption),
    h(
      "div.scroller",
      { tabindex: "0", role: "group", "aria-label": caption },
      h(
        "table",
        { "aria-label": caption },
        h("thead", h("tr", headers.map((text, i) => cell("th", i)(text)))),
        h(
          "tbody",
          rows.map((row) =>
            h(
              "tr",
              { class: row[0] === "trained" ? "ours" : null },
              row.map((text, i) => cell("td", i)(text)),
            ),
          ),
        ),
      ),
    ),
  );
}
