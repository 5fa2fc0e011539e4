// Everything that one evaluation holds: how it was made, its charts and its tables.

import { definitions, h } from "./dom.js";
import { IntervalChart } from "./intervals.js";
import { commands, figuresOf, folded, table } from "./page.js";

// What is open stays open when the sections are drawn again.
const open = new Set();

/** A section for each evaluation, without the policies that are switched off. */
export function evaluations(all, off) {
  if (!open.size && all.length) open.add(location.hash.slice(1) || all[0].key);
  return all.map((one) => (one.error ? broken(one) : evaluation(one, new Set(off))));
}

const broken = ({ key, title, error }) =>
  h("section.panel.report", { id: key }, h("h2", title), h("p.trouble", error));

function evaluation(one, off) {
  const { manifest } = one;
  const where = [manifest.splits.join(", ") || manifest.packs[0].split(",")[0]];
  const words = `${where}, ${manifest.episodes_per_policy} episodes per policy, seeds ${manifest.seeds}`;
  const summary = h("summary", h("h3", one.title.split("/").at(-1)), h("span.quiet", words));
  const section = h("details.panel.report-fold", { id: one.key, open: open.has(one.key) }, summary);
  const draw = () => {
    if (section.open) open.add(one.key);
    else open.delete(one.key);
    if (section.open && !section.querySelector(".report")) section.append(content(one, off));
  };
  section.addEventListener("toggle", draw);
  draw();
  return section;
}

function content(one, off) {
  const { manifest } = one;
  const policies = Object.entries(manifest.policies);
  const models = policies.filter(([, status]) => !status.startsWith("scripted"));
  const isOn = (name) => !off.has(name);
  const rows = one.summary.filter((row) => isOn(row.policy));
  return h(
    "div.report",
    one.warnings.map((words) => h("p.trouble", words)),
    h("h4", "Mean reward, 95 % interval"),
    h(
      "div.tiers",
      [...Map.groupBy(rows, (row) => row.tier)].map(
        ([tier, some]) => new IntervalChart(tier, some).figure,
      ),
    ),
    table("All figures", one.table.headers, one.table.rows.filter((row) => isOn(row[0]))),
    one.oversight &&
      table(
        "Oversight: value and 95 % interval",
        one.oversight.headers,
        one.oversight.rows.filter((row) => isOn(row[0])),
      ),
    h("h4", "How it was made"),
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
    folded("more", "The policies", definitions("manifest.wide", policies)),
    figuresOf(one, "more"),
  );
}
