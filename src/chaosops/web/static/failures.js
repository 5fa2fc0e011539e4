// Where a policy falls short, in sentences.

import { h } from "./dom.js";
import { differenceWords, valueWords, verdictOf } from "./measures.js";

const MOST = 3;
const POOR = 0.5; // a share of episodes below this is named even if the other policy is no better
const WHAT = {
  solved: (of, value, tier) => `${of} solves ${value} of ${tier} episodes`,
  rogue_caught: (of, value, tier) => `${of} catches the rogue in ${value} of ${tier} episodes`,
  false_flag_rate: (of, value, tier) => `${of} raises ${value} false flags per honest ${tier} episode`,
};

/** The worst cell of each split, as {row, tier, metric, figure}, the worst split first. */
export function failuresOf(data, tiers) {
  const found = data.rows.flatMap((row) => {
    const cells = tiers.flatMap((tier) =>
      data.metrics
        .filter((metric) => WHAT[metric.key] && row.tiers[tier])
        .map((metric) => ({ row, tier, metric, figure: row.tiers[tier][metric.key] })),
    );
    const worst = cells.filter(isFailure).toSorted((a, b) => badness(b) - badness(a))[0];
    return worst ? [worst] : [];
  });
  return found.toSorted((a, b) => badness(b) - badness(a)).slice(0, MOST);
}

function isFailure({ metric, figure }) {
  if (figure.value === null) return false;
  return verdictOf(metric, figure) === "worse" || (metric.is_share && figure.of < POOR);
}

/** How far behind the other policy, and how far from perfect. */
function badness({ metric, figure }) {
  const behind = metric.is_more_better ? -figure.value : figure.value;
  const missing = metric.is_share ? 1 - figure.of : figure.of;
  return Math.max(behind, 0) + missing;
}

function sentence({ row, tier, metric, figure }, { of, against }) {
  const what = WHAT[metric.key](of, valueWords(metric, figure.of), tier);
  const unit = metric.is_share ? " points" : "";
  const difference = `${differenceWords(metric, figure.value)}${unit}`;
  const beside = `${against} ${valueWords(metric, figure.against)} (${difference})`;
  return `${what}, ${beside}.${row.words ? ` ${row.words}` : ""}`;
}

export function failureList(data, tiers, open) {
  const failures = failuresOf(data, tiers);
  if (!failures.length) {
    const words = `Nowhere is ${data.of} clearly worse than ${data.against}, and it succeeds in at least half of the episodes of every cell.`;
    return h("p.quiet", words);
  }
  return h(
    "ul.failures",
    failures.map((cell) =>
      h(
        "li",
        h("button.link", { type: "button", onclick: () => open(cell) }, cell.row.name),
        `: ${sentence(cell, data)}`,
      ),
    ),
  );
}
