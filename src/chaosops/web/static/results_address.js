// What the address of the page of results asks for. A choice that is not there is told, and what
// is shown without it is shown.

export const TIERS = ["easy", "medium", "hard"];
// Random loses by so much that nothing else can be told apart on the same axis.
export const FLATTENS = "random";
const DIRECTIONS = ["descending", "ascending"];

/** One line: what was asked for, and what there is. */
const unknown = (kind, given, allowed) =>
  `unknown ${kind} “${given.slice(0, 40)}” in the address; allowed: ${allowed.join(", ")}`;

/** The choices that need no figures: {state, troubles}. */
export function readChoices({ names, of, against }) {
  const asked = new URLSearchParams(location.search);
  const troubles = [];
  const known = (kind, given, allowed) => {
    if (allowed.includes(given)) return true;
    troubles.push(unknown(kind, given, allowed));
    return false;
  };
  const list = (name, kind, allowed) =>
    (asked.get(name) ?? "").split(",").filter((one) => one && known(kind, one, allowed));
  const named = (name, other) =>
    asked.has(name) && known("policy", asked.get(name), names) ? asked.get(name) : other;
  const state = { of: named("of", of), against: named("against", against) };
  if (state.of === state.against) {
    if (asked.get("of") === asked.get("against"))
      troubles.push(`${state.of} cannot be compared with itself; name two policies`);
    state.against = names.find((name) => name !== state.of);
  }
  const tiers = list("tiers", "tier", TIERS);
  state.tiers = tiers.length ? tiers : TIERS;
  state.pack = asked.get("pack") ?? "";
  const [metric, tier, direction] = (asked.get("sort") ?? "").split("~");
  state.order = asked.get("sort") ? { metric, tier, direction } : null;
  state.cell = asked.get("cell") ?? "";
  state.off = asked.has("off") ? list("off", "policy", names) : [FLATTENS];
  return { state, troubles };
}

/** The choices among the rows of two policies. Changes `state` where there is no such row. */
export function checkRows(state, { packs, metrics, cells }) {
  const troubles = [];
  if (state.pack && !packs.includes(state.pack)) {
    troubles.push(unknown("pack", state.pack, packs));
    state.pack = "";
  }
  if (state.order) {
    const { metric, tier, direction } = state.order;
    const isKnown =
      metrics.includes(metric) && TIERS.includes(tier) && DIRECTIONS.includes(direction);
    if (!isKnown) {
      const allowed = `METRIC~TIER~DIRECTION with ${metrics.join(", ")}; ${TIERS.join(", ")}; ${DIRECTIONS.join(", ")}`;
      troubles.push(unknown("order", [metric, tier, direction].filter(Boolean).join("~"), [allowed]));
      state.order = null;
    }
  }
  if (state.cell && !cells.includes(state.cell)) {
    troubles.push("the address names a cell that this map does not have; choose one of the map");
    state.cell = "";
  }
  return troubles;
}
