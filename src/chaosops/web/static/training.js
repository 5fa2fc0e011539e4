// The page of training runs.

import { h, signed } from "./dom.js";
import { LineChart } from "./chart.js";
import { emptyState, figuresOf, showReports, table } from "./page.js";

const TITLES = {
  auroc: "AUROC, last turn", // in runs of earlier versions
  kl_from_start: "Distance from the start, nats",
  regret: "Points lost by the likeliest action",
  divergence: "Divergence from what was taught, nats",
  loss: "Loss",
  entropy: "Entropy, nats",
  gradient: "Length of the gradient",
  learning_rate: "Learning rate",
  spread: "Widest spread of returns in a turn",
  states: "Turns in an update",
  episodes: "Episodes so far",
};
// A tier has the same colour in every chart.
const TIERS = ["easy", "medium", "hard"];

// Metrics bring their titles from the table of metrics.
const titleOf = ({ name, title }) => title ?? TITLES[name] ?? name.replaceAll("_", " ");

function plain(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en").replace("-", "\u2212");
  const text = size < 0.001 ? value.toExponential(1) : Number(value.toPrecision(3)).toString();
  return text.replace("-", "\u2212");
}

function chart(one) {
  const { name, curves } = one;
  const title = titleOf(one);
  const format = name === "mean_reward" ? signed : plain;
  const parts = Object.entries(curves);
  const words = parts
    .map(([part, points]) => `${part} from ${format(points[0][1])} to ${format(points.at(-1)[1])}`)
    .join(", ");
  const drawing = new LineChart({
    height: 190,
    xLabel: "update",
    title: `${title}: ${words}`,
    format,
  });
  drawing.draw(
    parts.map(([part, points], i) => ({
      name: part === name ? title : part,
      kind: `c${(TIERS.includes(part) ? TIERS.indexOf(part) : i) % 8}`,
      points,
    })),
  );
  return h(
    "figure.panel.chart-card",
    h("figcaption", h("h3", title), parts.length > 1 ? drawing.legend : null),
    drawing.element,
  );
}

function valuesOf(charts) {
  return charts.map((one) => {
    const { name, curves } = one;
    const parts = Object.keys(curves);
    const steps = [...new Set(parts.flatMap((part) => curves[part].map(([step]) => step)))];
    const format = name === "mean_reward" ? signed : plain;
    const at = (part, step) => curves[part].find(([x]) => x === step)?.[1];
    const rows = steps.map((step) => [
      String(step),
      ...parts.map((part) => (at(part, step) === undefined ? "" : format(at(part, step)))),
    ]);
    return table(titleOf(one), ["update", ...parts], rows, 1);
  });
}

function run(one) {
  return h(
    "section.run-report",
    { id: one.key },
    h("h2", one.title),
    h(
      "p.quiet",
      `${one.updates} updates${one.each_point > 1 ? `; a point of a training curve is the mean of ${one.each_point}` : ""}.`,
    ),
    one.validation.length
      ? [
          h("h3", "Validation"),
          h("div.charts", one.validation.map(chart)),
          h("details.panel.more", h("summary", "The same as tables"), valuesOf(one.validation)),
        ]
      : h("p", "This run was not validated."),
    h("h3", "Training"),
    h("div.charts", one.training.map(chart)),
    one.recipe
      ? h(
          "details.panel.more",
          h("summary", "Recipe"),
          h("pre.commands", { tabindex: "0" }, one.recipe),
        )
      : null,
    figuresOf(one, "panel more"),
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
