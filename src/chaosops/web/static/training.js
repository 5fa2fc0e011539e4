// The page of training runs.

import { h, signed } from "./dom.js";
import { LineChart } from "./chart.js";
import { curvesOf, METRICS, storyOf, tiersOf } from "./training_story.js";
import { figureTitle } from "./figure_words.js";
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

// Random is so far below that the curve of the learner would be flat beside it.
const FLATTENS = "random";
const asked = new URLSearchParams(location.search);
const state = { tier: asked.get("tier") ?? "", off: (asked.get("off") ?? FLATTENS).split(",") };

function writeAddress() {
  const query = new URLSearchParams({ tier: state.tier });
  if (state.off.join() !== FLATTENS) query.set("off", state.off.join(","));
  history.replaceState(null, "", `?${query}${location.hash}`);
}

const chip = (words, isOn, onclick, kind = "chip") =>
  h(`button.${kind}`, { type: "button", "aria-pressed": String(isOn), onclick }, words);

let fields = 0;

function chips(label, ...buttons) {
  const id = `chips-${(fields += 1)}`;
  return h(
    "div.chips-field",
    h("span.label", { id }, label),
    h("div.chips", { role: "group", "aria-labelledby": id }, buttons),
  );
}

/** What is drawn anew when another tier is chosen or a baseline is switched off. */
function story(one) {
  const place = h("div.told");
  const draw = (focused) => {
    const tiers = tiersOf(one);
    const hardest = tiers.findLast((name) => TIERS.includes(name)) ?? tiers[0];
    const tier = tiers.includes(state.tier) ? state.tier : hardest;
    const choose = (name) => {
      state.tier = name;
      writeAddress();
      draw(name);
    };
    const toggle = (name) => {
      const isOff = state.off.includes(name);
      state.off = isOff ? state.off.filter((other) => other !== name) : [...state.off, name];
      writeAddress();
      draw(name);
    };
    const scripts = Object.keys(one.baselines);
    place.replaceChildren(
      h(
        "div.told-head",
        chips(figureTitle("tier", "Tier"), tiers.map((name) => chip(name, name === tier, () => choose(name), "chip.one"))),
        scripts.length > 0 &&
          chips(
            "Dashed lines: scripts on the same episodes",
            scripts.map((name) => chip(name, !state.off.includes(name), () => toggle(name))),
          ),
      ),
      ...storyOf(one, tier),
      h("div.charts", curvesOf(one, tier, state.off)),
    );
    [...place.querySelectorAll(".chip")].find((button) => button.textContent === focused)?.focus();
  };
  draw();
  return place;
}

function run(one) {
  const mean = one.each_point > 1 && `A point is the mean of ${one.each_point} updates.`;
  const others = one.validation.filter(({ name }) => !METRICS.some(({ key }) => key === name));
  return h(
    "section.run-report",
    { id: one.key },
    h("h2", one.title.split("/").at(-1), h("small.quiet", ` ${one.updates} updates`)),
    one.story?.error && h("p.trouble", `The company of this run: ${one.story.error}`),
    one.validation.length ? story(one) : h("p", "This run was not validated."),
    folded(
      "panel.more",
      "All curves",
      others.length > 0 && [h("h3", "Validation"), h("div.charts", others.map(chart))],
      h("h3", "Training"),
      mean && h("p.quiet", mean),
      h("div.charts", one.training.map(chart)),
    ),
    one.validation.length > 0 &&
      folded("panel.more", "Validation as tables", one.validation.map(values)),
    one.recipe && folded("panel.more", "Recipe", h("pre.commands", { tabindex: "0" }, one.recipe)),
    figuresOf(one, "panel.more"),
  );
}

showReports("training", "runs", run, ({ variable }) =>
  emptyState(
    "No training run here yet",
    `Train an adapter, then start the server with its folder in ${variable}:`,
    "chaosops train reading_first --out runs/reading_first",
    `export ${variable}=runs`,
  ),
);
