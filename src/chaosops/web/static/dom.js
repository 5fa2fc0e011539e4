// Makes elements. Text becomes a text node, so nothing that a model or a link says is markup.

const isNothing = (value) => value === false || value === null || value === undefined;
const make =
  (namespace) =>
  (selector, ...rest) => {
    const [tag, ...classes] = selector.split(".");
    const element = document.createElementNS(namespace, tag);
    if (classes.length) element.setAttribute("class", classes.join(" "));
    const props = rest[0]?.constructor === Object ? rest.shift() : {};
    for (const [name, value] of Object.entries(props)) {
      if (isNothing(value)) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name.startsWith("--")) element.style.setProperty(name, value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...rest.flat(Infinity).filter((child) => !isNothing(child)));
    return element;
  };

/** An element: `h("p.quiet", { title: "…" }, "text", child)`. Attributes may be left out. An
 *  attribute or a child that is false, null or undefined is not there. */
export const h = make("http://www.w3.org/1999/xhtml");
/** An element of a drawing. */
export const s = make("http://www.w3.org/2000/svg");
export const byId = (id) => document.getElementById(id);

/** +184, −1085, 0; one decimal where there is one. */
export function signed(value) {
  const rounded = Math.round(value * 10) / 10;
  if (rounded === 0) return "0";
  return (rounded > 0 ? "+" : "\u2212") + Math.abs(rounded);
}

export const sign = (value) => (value > 0 ? "plus" : value < 0 ? "minus" : "zero");
/** A reward in the colour of its sign. */
export const points = (value) => h(`span.${sign(value)}`, signed(value));
export const plural = (number, noun) =>
  `${number} ${noun}${number === 1 ? "" : noun.endsWith("x") ? "es" : "s"}`;

/** Minutes before and after the incident began: t−3, t+7. */
export const clock = (step) => (step < 0 ? `t\u2212${-step}` : `t+${step}`);

/** Names and their values. */
export const definitions = (kind, pairs) =>
  h(`dl.${kind}`, pairs.map(([name, value]) => h("div", h("dt", name), h("dd", value))));

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

/** The tag beside the name of an agent: {kind, words}, or nothing. */
export const tag = (mark) => Boolean(mark) && h(`em.tag.${mark.kind}`, mark.words);

export const HEALTH_MARKS = { healthy: "●", degraded: "▲", critical: "■" };
export const { roles: ROLE_NAMES, sees: SEES, rubrics: RUBRICS } = JSON.parse(
  document.documentElement.dataset.names,
);
