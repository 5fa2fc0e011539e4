// Shared by the pages of reports.

import { byId, complain, h } from "./dom.js";
import { figureAddress } from "./api.js";
import { figureTitle } from "./figure_words.js";
import { readPatiently } from "./patience.js";

/** Draws a report for each item that the server has, or says how to make one. */
export async function showReports(path, list, draw, nothing) {
  const place = byId("reports");
  try {
    const found = await readPatiently(path);
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

export const folded = (kind, title, ...content) =>
  h(`details.${kind}`, h("summary", title), content);

/** The figures of a report, folded. */
export function figuresOf(one, kind) {
  const pictures = one.figures.map(({ name, words }) =>
    h(
      "figure.picture",
      h("img", { src: figureAddress(one.key, name), alt: words, loading: "lazy" }),
      h("figcaption", words),
    ),
  );
  return pictures.length > 0 && folded(kind, "Figures", pictures);
}

export function emptyState(title, words, ...lines) {
  return h("section.panel.report.empty", h("h2", title), h("p", words), commands(...lines));
}

/** The files of figures have hyphens; the page has one sign for minus. */
const withMinus = (text) => String(text).replace(/(?<![\w-])-(?=\d)/g, "\u2212");

/** A table that scrolls in its own box on a narrow screen. Its first columns stay in sight. */
export function table(caption, headers, rows, words = 2) {
  const kind = (i) => i >= words && "number";
  const head = headers.map((text, i) =>
    h("th", { class: kind(i), scope: "col" }, figureTitle(text)),
  );
  const body = rows.map((row) =>
    h(
      row[0] === "trained" ? "tr.ours" : "tr",
      row.map((text, i) => h("td", { class: kind(i) }, kind(i) ? withMinus(text) : text)),
    ),
  );
  const name = { "aria-label": caption };
  return h(
    "figure.tabled",
    h("figcaption", caption),
    h(
      "div.scroller",
      { tabindex: "0", role: "group", ...name },
      h("table", name, h("thead", h("tr", head)), h("tbody", body)),
    ),
  );
}
