// The page of evaluations.

import { h } from "./dom.js";
import { IntervalChart } from "./intervals.js";
import { commands, emptyState, facts, figuresOf, showReports, table } from "./page.js";

function evaluation(one) {
  const { manifest } = one;
  return h(
    "section.panel.report",
    { id: one.key },
    h("h2", one.title),
    commands(manifest.command),
    facts([
      ["commit", manifest.commit ?? "unknown"],
      ["version", manifest.version],
      ["pack", manifest.packs.join(", ")],
      ["split", manifest.splits.join(", ")],
      ["tiers", manifest.tiers.join(", ")],
      ["seeds", manifest.seeds],
      ["episodes", `${manifest.episodes_per_policy} per policy`],
    ]),
    modelsOf(manifest.policies),
    one.warnings.map((words) => h("p.trouble", words)),
    h("h3", "Mean reward, 95 % interval"),
    h(
      "div.tiers",
      tiersOf(one.summary).map(([tier, rows]) => new IntervalChart(tier, rows).element),
    ),
    table("All figures", one.table.headers, one.table.rows),
    one.oversight
      ? table("Oversight: value and 95 % interval", one.oversight.headers, one.oversight.rows)
      : null,
    h(
      "details.more",
      h("summary", "Which policies these were"),
      h(
        "dl.manifest.wide",
        Object.entries(manifest.policies).map(([name, status]) =>
          h("div", h("dt", name), h("dd", status)),
        ),
      ),
    ),
    figuresOf(one, "more"),
  );
}

/** Which weights a model was stands beside its numbers; scripts are told below. */
function modelsOf(policies) {
  const models = Object.entries(policies).filter(([, status]) => !status.startsWith("scripted"));
  if (!models.length) return null;
  const rows = models.map(([name, status]) => h("div", h("dt", name), h("dd", status)));
  return h("dl.manifest.wide", rows);
}

function tiersOf(summary) {
  const tiers = new Map();
  for (const row of summary) {
    if (!tiers.has(row.tier)) tiers.set(row.tier, []);
    tiers.get(row.tier).push(row);
  }
  return [...tiers];
}

showReports("results", "evaluations", evaluation, ({ variable }) =>
  emptyState(
    "No evaluation here yet",
    `Evaluate some policies, then start the server with the folder in ${variable}:`,
    "chaosops eval --pack arena --split test --policies random,heuristic,trained,oracle --out results/arena",
    `export ${variable}=results`,
  ),
);
