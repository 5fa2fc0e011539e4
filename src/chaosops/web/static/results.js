// The page of evaluations: the heat map of two policies, the episodes of a cell, and all figures.

import { byId, complain, h } from "./dom.js";
import { getJson } from "./api.js";
import { Dots } from "./dots.js";
import { evaluations } from "./evaluation.js";
import { failureList } from "./failures.js";
import { figureTitle } from "./figure_words.js";
import { cellKey, HeatMap } from "./heat.js";
import { emptyState } from "./page.js";
import { readPatiently } from "./patience.js";
import { checkRows, FLATTENS, readChoices, TIERS } from "./results_address.js";

const BASELINES = ["auditor", "heuristic"];

const state = { of: "", against: "", tiers: TIERS, pack: "", order: null, cell: "", off: [] };
const dots = new Dots();
const map = new HeatMap({ open: choose, sort: sortBy });
let found = null;
let data = null;

const policiesOf = (one) => Object.keys(one.manifest?.policies ?? {});
const isScript = (one, name) => one.manifest.policies[name].startsWith("scripted");

/** A model against the strongest script that most of its evaluations have. */
function firstPair() {
  const shown = found.evaluations.filter((one) => policiesOf(one).length > 1);
  const names = [...new Set(shown.flatMap(policiesOf))];
  const models = names.filter((name) =>
    shown.some((one) => policiesOf(one).includes(name) && !isScript(one, name)),
  );
  const honest = (name) => !shown.some((one) => one.manifest.policies[name]?.includes("truth"));
  const of = models.find((name) => name === "trained") ?? models[0] ?? names.findLast(honest);
  const others = names.filter((name) => name !== of);
  const count = (name) =>
    shown.filter((one) => [of, name].every((each) => policiesOf(one).includes(each))).length;
  const most = Math.max(...others.map(count));
  const common = others.filter((name) => count(name) >= most / 2);
  const against = BASELINES.find((name) => common.includes(name)) ?? common[0];
  return { names, of, against };
}

function readAddress() {
  const { state: asked, troubles } = readChoices(firstPair());
  Object.assign(state, asked);
  return troubles;
}

/** Every cell of the figures that came, whatever tiers are shown. */
const cellsOf = ({ rows, metrics }) =>
  rows.flatMap((row) =>
    Object.keys(row.tiers).flatMap((tier) => metrics.map((metric) => cellKey(row, tier, metric))),
  );

const packsOf = ({ rows }) => [...new Set(rows.map((row) => row.plays ?? row.pack))];

function writeAddress() {
  const { of, against, tiers, pack, order, cell, off } = state;
  const query = new URLSearchParams({ of, against });
  if (tiers.length < TIERS.length) query.set("tiers", tiers.join(","));
  if (pack) query.set("pack", pack);
  if (order) query.set("sort", [order.metric, order.tier, order.direction].join("~"));
  if (cell) query.set("cell", cell);
  if (off.join() !== FLATTENS) query.set("off", off.join(","));
  history.replaceState(null, "", `?${query}`);
}

/** What tells a row from the others: its pack and split, and its folder if two are alike. */
function placeRows(rows) {
  const plain = (row) => [row.plays ?? row.pack, row.split].filter(Boolean).join(" · ");
  const all = rows.map(plain);
  for (const row of rows) {
    const alike = all.filter((place) => place === plain(row)).length > 1;
    row.place = alike ? `${plain(row)} · ${row.title.split("/").at(-1)}` : plain(row);
  }
}

/** `troubles` are told with those of the rows, when the page was opened by its address. */
async function compare(troubles = null) {
  const { of, against } = state;
  const answer = await getJson("results/differences", { of, against });
  if (of !== state.of || against !== state.against) return; // chosen again meanwhile
  data = answer;
  noteModels();
  placeRows(data.rows);
  if (troubles) {
    const metrics = data.metrics.map(({ key }) => key);
    const there = { packs: packsOf(data), metrics, cells: cellsOf(data) };
    complain([...troubles, ...checkRows(state, there)]);
  } else complain([]);
  drawMap();
}

function drawMap() {
  const packs = packsOf(data);
  if (!packs.includes(state.pack)) state.pack = "";
  const rows = data.rows.filter((row) => !state.pack || (row.plays ?? row.pack) === state.pack);
  const shown = { ...data, rows };
  const played = TIERS.filter((tier) => data.rows.some((row) => row.tiers[tier]));
  const wanted = played.filter((tier) => state.tiers.includes(tier));
  const tiers = wanted.length ? wanted : played;
  drawControls(packs, played, tiers);
  map.draw(shown, { tiers, order: state.order, chosen: state.cell });
  noteMissing();
  byId("legend").replaceChildren(...legend());
  byId("failures").replaceChildren(failureList(shown, tiers, choose));
  const cell = map.cells.get(state.cell) ?? firstCell();
  dots.element.hidden = !cell;
  if (cell) show(cell);
}

/** Evaluations of several policies without one of the two are not in the map. */
function noteMissing() {
  const without = found.evaluations.filter(
    (one) =>
      policiesOf(one).length > 1 &&
      ![state.of, state.against].every((name) => policiesOf(one).includes(name)),
  );
  const names = without.map((one) => one.title.split("/").at(-1)).join(", ");
  byId("missing").hidden = !without.length;
  byId("missing").textContent = `Not in the map, as one of the two did not play there: ${names}.`;
}

/** What the page is about: rogues on the hardest tier, as far as there are any. */
function firstCell() {
  const cells = [...map.cells.values()];
  const tier = TIERS.findLast((name) => cells.some((cell) => cell.tier === name));
  const hardest = cells.filter((cell) => cell.tier === tier);
  return hardest.find((cell) => cell.metric.key === "rogue_caught") ?? hardest[0];
}

const legend = () => [
  h("li", h("span.cell.better", { "--strength": 1 }), `${data.of} is better`),
  h("li", h("span.cell.worse", { "--strength": 1 }), "it is worse"),
  h("li", h("span.cell.unclear"), "not clear: the 95 % interval includes 0, or there is none"),
];

function choose(cell) {
  state.cell = cellKey(cell.row, cell.tier, cell.metric);
  writeAddress();
  show(cell);
  if (dots.element.getBoundingClientRect().top > innerHeight - 120)
    dots.element.scrollIntoView({ block: "nearest" });
}

function show(cell) {
  map.choose(cellKey(cell.row, cell.tier, cell.metric));
  dots.show(cell, data);
}

function sortBy({ metric, tier }) {
  const mine = state.order?.metric === metric && state.order.tier === tier;
  const next = { descending: "ascending", ascending: null };
  const direction = mine ? next[state.order.direction] : "descending";
  state.order = direction ? { metric, tier, direction } : null;
  writeAddress();
  drawMap();
  const [again] = map.parts.querySelectorAll(
    `.sorter[data-metric="${metric}"][data-tier="${tier}"]`,
  );
  again?.focus();
}

const chip = (words, isOn, onclick) =>
  h("button.chip", { type: "button", "aria-pressed": String(isOn), onclick }, words);

function drawControls(packs, played, shown) {
  const toggleTier = (tier) => {
    const rest = played.filter((one) => shown.includes(one) !== (one === tier));
    state.tiers = rest.length && rest.length < played.length ? rest : TIERS;
    writeAddress();
    drawMap();
    focusChip("tiers", tier);
  };
  byId("tiers").replaceChildren(
    ...played.map((tier) => chip(tier, shown.includes(tier), () => toggleTier(tier))),
  );
  const pick = (pack) => {
    state.pack = state.pack === pack ? "" : pack;
    writeAddress();
    drawMap();
    focusChip("packs", pack);
  };
  byId("packs").parentElement.hidden = packs.length < 2;
  byId("packs").replaceChildren(
    ...packs.map((pack) => chip(pack, !state.pack || state.pack === pack, () => pick(pack))),
  );
}

/** The chips were made anew. */
function focusChip(id, words) {
  [...byId(id).children].find((one) => one.textContent === words)?.focus();
}

/** A name must not stand for two models without a word about it. */
function noteModels() {
  const models = Map.groupBy(
    found.evaluations.flatMap((one) => Object.entries(one.manifest?.policies ?? {})),
    ([name]) => name,
  );
  const several = [state.of, state.against]
    .map((name) => [name, [...new Set((models.get(name) ?? []).map(([, status]) => status))]])
    .filter(([, statuses]) => statuses.length > 1)
    .map(([name, statuses]) => `${name} is not the same in all rows: ${statuses.join("; ")}.`);
  byId("models").hidden = !several.length;
  byId("models").replaceChildren(...several.map((words) => h("p", words)));
}

function offerPairs() {
  const { names } = firstPair();
  for (const side of ["of", "against"]) {
    const field = byId(side);
    field.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
    field.value = state[side];
    field.addEventListener("change", () => {
      const other = side === "of" ? "against" : "of";
      if (field.value === state[other]) byId(other).value = state[other] = state[side];
      state[side] = field.value;
      state.cell = "";
      writeAddress();
      compare().catch((error) => complain([error.message]));
    });
  }
}

function drawEvaluations() {
  const { names } = firstPair();
  const toggle = (name) => {
    state.off = state.off.includes(name)
      ? state.off.filter((one) => one !== name)
      : [...state.off, name];
    writeAddress();
    drawEvaluations();
    focusChip("policies", name);
  };
  byId("policies").replaceChildren(
    ...names.map((name) => chip(name, !state.off.includes(name), () => toggle(name))),
  );
  byId("reports").replaceChildren(...evaluations(found.evaluations, state.off));
}

const nothing = ({ variable }) =>
  emptyState(
    "No evaluation here yet",
    `Evaluate some policies, then start the server with the folder in ${variable}:`,
    "chaosops eval --split test --policies random,heuristic,auditor,oracle --out results/arena",
    `export ${variable}=results`,
  );

async function main() {
  try {
    found = await readPatiently("results");
    byId("waiting").remove();
    const { evaluations: all } = found;
    if (!all.length) return byId("reports").replaceChildren(nothing(found));
    const troubles = readAddress();
    complain(troubles);
    byId("every").hidden = false;
    drawEvaluations();
    if (!all.some((one) => policiesOf(one).length > 1)) return;
    offerPairs();
    byId("tiers-label").replaceChildren(figureTitle("tier", "Tiers"));
    byId("map").append(map.element);
    byId("panel").append(dots.element);
    byId("compare").hidden = false;
    await compare(troubles);
  } catch (error) {
    byId("waiting")?.remove();
    complain([error.message]);
  }
}

main();
