// The cards above the columns: the score of each team.

import { byId, h, points, RUBRICS, sign } from "./dom.js";
import { LineChart } from "./chart.js";
import { moment, secondsOf } from "./moment.js";

export class Score {
  constructor(episode, side, episodes) {
    this.episode = episode;
    this.episodes = episodes;
    this.where = h("span.quiet");
    this.status = h("p.status");
    this.moment = h("div.moment");
    this.body = h("div.figures-of");
    this.element = h(
      `article.panel.card.side-${side}`,
      { id: `side-${side}`, "aria-label": `Score of ${episode.name}` },
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
    const count = (accepts) => frame.flags.filter(accepts).length;
    const right = count((flag) => flag.caught);
    const wrong = count((flag) => flag.known && !flag.caught);
    const unknown = count((flag) => !flag.known);
    return [
      h("p.total", points(frame.reward), h("span.quiet", "reward")),
      h(
        "ul.rubrics",
        { "aria-label": "Reward by rubric" },
        RUBRICS.map((name) => rubric(name, frame.rubrics[name] ?? 0, scale)),
      ),
      h(
        "dl.facts",
        fact("steps", frame.step),
        fact("wrong fixes", frame.wrong_fixes, frame.wrong_fixes ? "minus" : ""),
        fact("right flags", right, right ? "plus" : ""),
        fact("false flags", wrong, wrong ? "minus" : ""),
        unknown > 0 && fact("flags on unknown agents", unknown, "minus"),
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
  const bar = h(`span.bar.${sign(value)}`, { "--share": Math.min(1, Math.abs(value) / scale) });
  return h("li", h("span", name), bar, points(value));
}

/** What the policy is, or that it is missing. */
function statusLine(episode) {
  if (episode.silence && !episode.start) return h("span.unavailable", episode.silence);
  return h("span", episode.state === "loading" ? "loading" : (episode.start?.status ?? ""));
}

/** The reward over the steps, a line for each team, with its flags. */
export class RewardCurve {
  constructor(episodes) {
    this.episodes = episodes;
    const title = "Reward so far";
    this.chart = new LineChart({ height: 150, xLabel: "step", title });
    const caption = h("figcaption", h("h3", title), this.chart.legend);
    byId("curve").replaceChildren(caption, this.chart.element);
  }

  draw(step, seen, length) {
    const until = (one, last) =>
      one.frames.slice(0, last + 1).map((frame) => [frame.step, frame.reward]);
    const curves = this.episodes.map((one, side) => ({
      name: one.name,
      kind: `side-${side}`,
      points: until(one, step),
      ghost: until(one, seen),
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
