// Numbers and sentences about differences between two policies.

import { plural, signed } from "./dom.js";

/** The names of the metrics here, and what each is counted over. */
const NAMES = {
  solved: ["Solved", "of all episodes", "episodes"],
  rogue_caught: ["Rogue caught", "of episodes with a rogue", "episodes with a rogue"],
  false_flag_rate: ["False flags", "per episode without a rogue", "episodes without a rogue"],
  mean_reward: ["Mean reward", "points per episode", "episodes"],
};
// A difference of this size has the full colour.
const FULL = { solved: 0.5, rogue_caught: 0.5, false_flag_rate: 0.5, mean_reward: 400 };

export const nameOf = ({ key, title }) => NAMES[key]?.[0] ?? title;
export const unitOf = ({ key }) => NAMES[key]?.[1] ?? "";
const countedOf = ({ key }) => NAMES[key]?.[2] ?? "episodes";

/** What a figure is counted over, with its number if it is known: of 11 episodes with a rogue. */
export function overWords({ key }, counts) {
  if (!counts) return unitOf({ key });
  const { all, with_rogue: guilty } = counts;
  const words = {
    solved: `of ${plural(all, "episode")}`,
    rogue_caught: `of ${plural(guilty, "episode")} with a rogue`,
    false_flag_rate: `per episode, over ${all - guilty} without a rogue`,
    mean_reward: `points per episode, over ${all}`,
  };
  return words[key] ?? "";
}

const minus = (text) => text.replace("-", "\u2212");
const plus = (value, digits) => minus(`${value > 0 ? "+" : ""}${value.toFixed(digits)}`);

/** A value: 86 %, 0.04, +101. */
export function valueWords({ key, is_share: isShare }, value) {
  if (value === null) return "n/a";
  if (isShare) return `${Math.round(100 * value)} %`;
  return key === "mean_reward" ? signed(Math.round(value)) : minus(value.toFixed(2));
}

/** A difference, short: +12, −0.20. Shares differ by percentage points. */
export function differenceWords({ key, is_share: isShare }, value) {
  if (value === null) return "–";
  if (isShare) return signed(Math.round(100 * value));
  return key === "mean_reward" ? signed(Math.round(value)) : plus(value, 2);
}

export function intervalWords(metric, interval) {
  if (!interval) return "no interval: too few episodes, or all differences are equal";
  const [low, high] = interval.map((bound) => differenceWords(metric, bound));
  return `95 % interval ${low} to ${high}`;
}

/** better, worse, unclear (the interval holds zero), same or none. */
export function verdictOf(metric, { value, ci95 }) {
  if (value === null) return "none";
  if (value === 0) return "same";
  if (!ci95 || (ci95[0] <= 0 && ci95[1] >= 0)) return "unclear";
  return value > 0 === metric.is_more_better ? "better" : "worse";
}

export const strengthOf = ({ key }, { value }) =>
  Math.min(1, 0.2 + (0.8 * Math.abs(value ?? 0)) / (FULL[key] ?? 1));

/** The lines of a cell: both values, the difference with its interval, and how many episodes. */
export function cellWords(metric, figure, { of, against }) {
  if (figure.value === null) return [`There are no ${countedOf(metric)} here.`];
  const unit = metric.is_share ? " percentage points" : "";
  return [
    `${of} ${valueWords(metric, figure.of)}, ${against} ${valueWords(metric, figure.against)}`,
    `difference ${differenceWords(metric, figure.value)}${unit}`,
    intervalWords(metric, figure.ci95),
    `${figure.n} ${countedOf(metric)}, played by both`,
  ];
}
