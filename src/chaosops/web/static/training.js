// The page of training runs.

import { h, signed } from "./dom.js";
import { LineChart } from "./chart.js";
import { emptyState, figuresOf, folded, showReports, table } from "./page.js";

const TITLES = {
  auroc: "AUROC, last turn", // in runs of earlier versions
  kl_from_start: "Distance from the start, nats",
  regret: "Points lost by the likeliest action",
  divergence: "Divergence from the target, nats",
  loss: "Loss",
  entropy: "Entropy, nats",
  gradient: "Gradient norm",
  learning_rate: "Learning rate",
  spread: "Widest spread of returns in a turn",
  states: "Turns in an update",
  episodes: "Episodes so far",
};
// A tier has the same colour in every chart.
const TIERS = ["easy", "medium", "hard"];

// Other titles come from the table of metrics.
const titleOf = ({ name, title }) => title ?? TITLES[name] ?? name.replaceAll("_", " ");

function plain(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en").replace("-", "\u2212");
  const text = size < 0.001 ? value.toExponential(1) : Number(value.toPrecision(3)).toString();
  return text.replace("-", "\u2212");
}

const formatOf = ({ name }) => (name === "mean_reward" ? signed : plain);

function chart(one) {
  const { name, curves } = one;
  const title = titleOf(one);
  const format = formatOf(one);
  const parts = Object.entries(curves);
  const words = parts
    .map(([part, points]) => `${part} from ${format(points[0][1])} to ${format(points.at(-1)[1])}`)
    .join(", ");
  const label = `${title}: ${words}`;
  const drawing = new LineChart({ height: 190, xLabel: "update", title: label, format });
  drawing.draw(
    parts.map(([part, points], i) => ({
      name: part === name ? title : part,
      kind: `c${(TIERS.includes(part) ? TIERS.indexOf(part) : i) % 8}`,
      points,
    })),
  );
  return h(
    "figure.panel.chart-card",
    h("figcaption", h("h3", title), parts.length > 1 && drawing.legend),
    drawing.element,
  );
}

function values(one) {
  const parts = Object.keys(one.curves);
  const byPart = Object.values(one.curves).map((points) => new Map(points));
  const steps = new Set(byPart.flatMap((points) => [...points.keys()]));
  const rows = [...steps].map((step) => [
    step,
    ...byPart.map((points) => (points.has(step) ? formatOf(one)(points.get(step)) : "")),
  ]);
  return table(titleOf(one), ["update", ...parts], rows, 1);
}

function run(one) {
  const mean = `; a point of a training curve is the mean of ${one.each_point}`;
  const validation = [
    h("h3", "Validation"),
    h("div.charts", one.validation.map(chart)),
    folded("panel.more", "The same as tables", one.validation.map(values)),
  ];
  return h(
    "section.run-report",
    { id: one.key },
    h("h2", one.title),
    h("p.quiet", `${one.updates} updates${one.each_point > 1 ? mean : ""}.`),
    one.validation.length ? validation : h("p", "This run was not validated."),
    h("h3", "Training"),
    h("div.charts", one.training.map(chart)),
    one.recipe && folded("panel.more", "Recipe", h("pre.commands", { tabindex: "0" }, one.recipe)),
    figuresOf(one, "panel.more"),
  );
}

showReports("training", "runs", run, ({ variable }) =>
  emptyState(
    "No training run here yet",
    `Train an adapter, then start the server with its folder in ${variable}:`,
    "chaosops train menu_first --out runs/menu_first",
    `export ${variable}=runs`,
  ),
);
