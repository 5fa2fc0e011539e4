// A training run as a story: what the learner did at some updates, and its curves with the levels
// of policies that do not learn.

import { h } from "./dom.js";
import { LineChart } from "./chart.js";
import { outcomeWords } from "./dots.js";
import { figureTitle } from "./figure_words.js";
import { nameOf, overWords, unitOf, valueWords } from "./measures.js";

const TOLD = 4;
export const METRICS = [
  { key: "solved", title: "solved", is_share: true },
  { key: "rogue_caught", title: "rogue caught", is_share: true },
  { key: "false_flag_rate", title: "false flags / benign episode" },
  { key: "mean_reward", title: "mean reward" },
];

/** The value of a metric at a step, or null. */
function valueAt(run, key, tier, step) {
  const curve = run.validation.find((one) => one.name === key)?.curves[tier] ?? [];
  return curve.find(([x]) => x === step)?.[1] ?? null;
}

export const tiersOf = (run) =>
  Object.keys(run.validation.find((one) => one.name === "mean_reward")?.curves ?? {});

/** The updates of the story: those that were recorded if they are more than the ends, or some of
 *  the validated ones. */
function stepsOf(run, tier) {
  if (run.story?.updates?.length > 2) return run.story.updates.map(({ step }) => step);
  const curve = run.validation.find((one) => one.name === "mean_reward").curves[tier];
  const steps = curve.map(([step]) => step);
  const wanted = Array.from({ length: TOLD }, (_, i) => (steps.at(-1) * i) / (TOLD - 1));
  const near = wanted.map((at) =>
    steps.reduce((best, step) => (Math.abs(step - at) < Math.abs(best - at) ? step : best)),
  );
  return [...new Set(near)];
}

function watchLink(run, update) {
  const first = run.story.updates[0];
  const sides = { left: first.policy, right: update === first ? "none" : update.policy };
  const query = { ...run.story.scenario, ...sides, recorded: run.key };
  return h("a", { href: `./?${new URLSearchParams(query)}` }, "Watch it");
}

const listed = (names) =>
  [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");

/** A run may go on with the adapter of another one. */
const beginning = ({ recipe }) =>
  /^start = "[^"]/m.test(recipe ?? "") ? "Before this stage" : "Before training";

function card(run, tier, step, isLast) {
  const told = METRICS.map((metric) => [metric, valueAt(run, metric.key, tier, step)]);
  const reward = valueAt(run, "mean_reward", tier, step);
  const beaten = Object.entries(run.baselines)
    .filter(([, tiers]) => tiers[tier]?.mean_reward < reward)
    .map(([name]) => name);
  const update = run.story?.updates?.find((one) => one.step === step);
  return h(
    "li.panel.update",
    h("h3", step === 0 ? beginning(run) : `${isLast ? "The end, update" : "Update"} ${step}`),
    h(
      "dl.figures",
      told.map(([metric, value]) =>
        h("div", h("dt", nameOf(metric), h("small", overWords(metric, run.companies[tier]))), h("dd", valueWords(metric, value))),
      ),
    ),
    Object.keys(run.baselines).length > 0 &&
      h(
        "p.quiet",
        beaten.length ? `Earns more than ${listed(beaten)}.` : "Earns less than every script.",
      ),
    update && h("p.one", h("b", oneOf(run.story)), ` ${outcomeWords(update)}. `, watchLink(run, update)),
  );
}

/** The episode that is told of, as no mean. */
const oneOf = ({ scenario: { tier, seed } }) => `One episode alone (${tier}, seed ${seed}):`;

export function storyOf(run, tier) {
  const steps = stepsOf(run, tier);
  const { all } = run.companies[tier] ?? {};
  const words = `The figures are means over ${all ?? "all"} validation episodes of ${tier}.`;
  return [
    h("p.quiet.over", words),
    h("ol.story", steps.map((step) => card(run, tier, step, step === steps.at(-1)))),
  ];
}

/** A chart for each of the four metrics, on one tier. */
export function curvesOf(run, tier, off) {
  return METRICS.flatMap((metric) => {
    const points = run.validation.find((one) => one.name === metric.key)?.curves[tier];
    if (!points?.length) return [];
    const levels = Object.entries(run.baselines)
      .filter(([name]) => !off.includes(name))
      .map(([name, tiers]) => ({ name, value: tiers[tier]?.[metric.key] ?? null }))
      .filter(({ value }) => value !== null);
    const format = (value) => valueWords(metric, value);
    const [first, last] = [points[0][1], points.at(-1)[1]].map(format);
    const beside = levels.map(({ name, value }) => `${name} ${format(value)}`).join(", ");
    const title = `${nameOf(metric)} on ${tier}: from ${first} to ${last}; ${beside}`;
    const chart = new LineChart({ height: 210, xLabel: "update", title, format });
    chart.draw([{ name: "the learner", kind: "c0", points }], { levels });
    return [
      h(
        "figure.panel.chart-card",
        h(
          "figcaption",
          h("h3", figureTitle(metric.title, nameOf(metric)), h("small", ` ${unitOf(metric)}`)),
        ),
        chart.element,
      ),
    ];
  });
}
