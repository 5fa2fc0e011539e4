// The page of evaluations.

import { definitions, h } from "./dom.js";
import { IntervalChart } from "./intervals.js";
import { commands, emptyState, figuresOf, folded, showReports, table } from "./page.js";

function evaluation(one) {
  const { manifest } = one;
  const policies = Object.entries(manifest.policies);
  const models = policies.filter(([, status]) => !status.startsWith("scripted"));
  return h(
    "section.panel.report",
    { id: one.key },
    h("h2", one.title),
    commands(manifest.command),
    definitions("manifest", [
      ["commit", manifest.commit ?? "unknown"],
      ["version", manifest.version],
      ["pack", manifest.packs.join(", ")],
      ...(manifest.splits.length ? [["split", manifest.splits.join(", ")]] : []),
      ["tiers", manifest.tiers.join(", ")],
      ["seeds", manifest.seeds],
      ["episodes", `${manifest.episodes_per_policy} per policy`],
    ]),
    models.length > 0 && definitions("manifest.wide", models),
    one.warnings.map((words) => h("p.trouble", words)),
    h("h3", "Mean reward, 95 % interval"),
    h(
      "div.tiers",
      [...Map.groupBy(one.summary, (row) => row.tier)].map(
        ([tier, rows]) => new IntervalChart(tier, rows).figure,
      ),
    ),
    table("All figures", one.table.headers, one.table.rows),
    one.oversight &&
      table("Oversight: value and 95 % interval", one.oversight.headers, one.oversight.rows),
    folded("more", "The policies", definitions("manifest.wide", policies)),
    figuresOf(one, "more"),
  );
}

showReports("results", "evaluations", evaluation, ({ variable }) =>
  emptyState(
    "No evaluation here yet",
    `Evaluate some policies, then start the server with the folder in ${variable}:`,
    "chaosops eval --split test --policies random,heuristic,auditor,oracle --out results/arena",
    `export ${variable}=results`,
  ),
);
