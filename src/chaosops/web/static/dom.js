// Makes elements. Text becomes a text node, so nothing that a model or a link says is markup.

const SVG = "http://www.w3.org/2000/svg";

function make(namespace, selector, rest) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElementNS(namespace, tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const [props, children] = rest[0]?.constructor === Object ? [rest[0], rest.slice(1)] : [{}, rest];
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
  return element;
}

/** An element: `h("p.quiet", { title: "…" }, "text", child)`. Attributes may be left out. */
export const h = (selector, ...rest) => make("http://www.w3.org/1999/xhtml", selector, rest);
/** An element of a drawing. */
export const s = (selector, ...rest) => make(SVG, selector, rest);
export const byId = (id) => document.getElementById(id);

/** +184, −1085, 0; one decimal where there is one. */
export function signed(value) {
  const rounded = Math.round(value * 10) / 10;
  if (rounded === 0) return "0";
  const digits = Math.abs(rounded).toLocaleString("en", {
    maximumFractionDigits: 1,
    useGrouping: false,
  });
  return (rounded > 0 ? "+" : "\u2212") + digits;
}

export const sign = (value) => (value > 0 ? "plus" : value < 0 ? "minus" : "zero");
export const plural = (number, noun) =>
  `${number} ${noun}${number === 1 ? "" : noun.endsWith("x") ? "es" : "s"}`;

/** Minutes before and after the incident began: t−3, t+7. */
export const clock = (step) => (step < 0 ? `t\u2212${-step}` : `t+${step}`);

/** Names and their values. */
export const definitions = (kind, pairs) =>
  h(
    "dl",
    { class: kind },
    pairs.map(([name, value]) => h("div", h("dt", name), h("dd", value))),
  );

/** Shows errors above the content; an empty list hides them. */
export function complain(errors) {
  const words = [...new Set(errors)];
  byId("notice").hidden = words.length === 0;
  byId("notice").replaceChildren(
    ...words.map((line) => h("p", h("strong", "Not possible: "), line)),
  );
}

/** Gives a screen reader something to say. */
export function announce(words) {
  byId("announce").textContent = words;
}

/** Replaces the children of a list and keeps its scroll position. */
export function refill(list, children) {
  const at = list.scrollTop;
  list.replaceChildren(...children);
  list.scrollTop = at;
}

export const HEALTH_MARKS = { healthy: "●", degraded: "▲", critical: "■" };
export const ROLE_NAMES = {
  sre: "SRE",
  oversight: "Oversight",
  dev: "Developer",
  manager: "Manager",
};
