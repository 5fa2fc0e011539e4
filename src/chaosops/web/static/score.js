// The cards above the columns: the score of each team.

import { h, signed, sign, byId } from "./dom.js";
import { countFlags, unknownFlags } from "./episode.js";
import { LineChart } from "./chart.js";
import { moment, secondsOf } from "./moment.js";

const RUBRICS = ["resolution", "mttr", "oversight", "cascade"];

export class Score {
  constructor(episode, side, episodes) {
    this.episode = episode;
    this.episodes = episodes;
    this.where = h("span.quiet");
    this.status = h("p.status");
    this.moment = h("div.moment");
    this.body = h("div.figures-of");
    this.element = h(
      "article",
      {
        class: `panel card side-${side}`,
        id: `side-${side}`,
        "aria-label": `Score of ${episode.name}`,
      },
      h("header", h("h2", episode.name), this.where, this.status),
      this.moment,
      this.body,
    );
  }

  draw(step) {
    const { episode } = this;
    const frame = episode.at(step);
    this.status.replaceChildren(statusLine(episode));
    this.where.textContent = frame ? `step ${frame.step} of ${episode.start.limit}` : "";
    this.element.dataset.state = episode.state;
    this.#drawMoment(step);
    // A policy that did not play to the end has no number.
    const shown = frame && episode.state !== "stopped";
    this.body.hidden = !shown;
    if (shown) this.body.replaceChildren(...this.#figures(frame, this.#scale(step)));
  }

  /** Draws a banner once, as it is animated. */
  #drawMoment(step) {
    const { episode } = this;
    const seconds = episode.state === "loading" ? secondsOf(episode) : "";
    const key = `${episode.state} ${Math.min(step, episode.last)} ${seconds}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.moment.replaceChildren(moment(episode, step));
  }

  #figures(frame, scale) {
    const fact = (label, value, tone = "") =>
      h("div", h("dt", label), h("dd", { class: tone }, String(value)));
    const right = countFlags(frame, true);
    const wrong = countFlags(frame, false);
    const unknown = unknownFlags(frame);
    return [
      h(
        "p.total",
        h("span", { class: sign(frame.reward) }, signed(frame.reward)),
        h("span.quiet", "reward"),
      ),
      h(
        "ul.rubrics",
        { "aria-label": "Reward by rubric" },
        RUBRICS.map((name) => rubric(name, frame.rubrics[name] ?? 0, scale)),
      ),
      h(
        "dl.facts",
        fact("steps", frame.step),
        fact("wrong fixes", frame.wrong_fixes, frame.wrong_fixes ? "minus" : ""),
        fact("flags right", right, right ? "plus" : ""),
        fact("flags false", wrong, wrong ? "minus" : ""),
        unknown ? fact("flags on unknown agents", unknown, "minus") : null,
      ),
    ];
  }

  /** The largest figure of any rubric: both teams share the scale. */
  #scale(step) {
    const values = this.episodes.flatMap((one) => Object.values(one.at(step)?.rubrics ?? {}));
    return Math.max(100, ...values.map(Math.abs));
  }
}

function rubric(name, value, scale) {
  const bar = h("span", { class: `bar ${sign(value)}` });
  bar.style.setProperty("--share", String(Math.min(1, Math.abs(value) / scale)));
  return h("li", h("span", name), bar, h("span", { class: sign(value) }, signed(value)));
}

/** What the policy is, or that it is missing. */
function statusLine(episode) {
  if (episode.silence && !episode.start)
    return h("span.unavailable", episode.silence);
  if (episode.state === "loading") return h("span", "loading");
  return h("span", episode.status);
}

/** The reward over the steps, a line for each team, with its flags. */
export class RewardCurve {
  constructor(episodes) {
    this.episodes = episodes;
    this.chart = new LineChart({ height: 150, xLabel: "step", title: "Reward so far" });
    byId("curve").replaceChildren(
      h("figcaption", h("h3", "Reward so far"), this.chart.legend),
      this.chart.element,
    );
  }

  draw(step, seen, length) {
    const curves = this.episodes.map((one, side) => ({
      name: one.name,
      kind: `side-${side}`,
      points: one.frames.slice(0, step + 1).map((frame) => [frame.step, frame.reward]),
      ghost: one.frames.slice(0, seen + 1).map((frame) => [frame.step, frame.reward]),
      marks: (one.at(step)?.flags ?? []).map((flag) => ({
        x: flag.step,
        y: one.frames[flag.step].reward,
        kind: flag.caught ? "right" : "false",
        words: `flags ${flag.agent}`,
      })),
    }));
    byId("curve").hidden = curves.every((curve) => curve.ghost.length === 0);
    this.chart.draw(curves, { from: 0, to: Math.max(1, length), at: step });
  }
}
