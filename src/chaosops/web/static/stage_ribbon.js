// Suspicion above the timeline of the player: the darker, the surer Oversight is of one agent.

import { h } from "./dom.js";

const FAINT = 0.05;

/** A ribbon for each side that reports suspicion. It shows nothing after the step `seen`. */
export class Ribbons {
  constructor(place, episodes) {
    this.place = place;
    this.episodes = episodes;
  }

  draw(seen, length) {
    const ribbons = this.episodes.map((episode, side) => {
      const spans = spansOf(episode.frames.slice(0, seen + 1));
      return spans.length > 0 && ribbon(episode, side, spans, length);
    });
    this.place.replaceChildren(...ribbons.filter(Boolean));
  }
}

function ribbon(episode, side, spans, length) {
  const parts = spans.map(({ agent, from, to, p }) => {
    const place = { "--from": from / length, "--to": to / length, "--share": p };
    return h("span.span", place, h("span", `${agent} ${Math.round(100 * p)}%`));
  });
  return h(`div.ribbon.side-${side}`, { title: `whom ${episode.name} suspects most` }, parts);
}

/** Steps in a row with the same first suspect and the same probability are one span. */
function spansOf(frames) {
  const spans = [];
  for (const { step, suspicion } of frames.slice(1)) {
    const [agent, p] = Object.entries(suspicion ?? {}).reduce(
      (best, one) => (one[1] > best[1] ? one : best),
      [null, FAINT],
    );
    const last = spans.at(-1);
    if (agent === null) continue;
    if (last?.to === step - 1 && last.agent === agent && last.p === p) last.to = step;
    else spans.push({ agent, p, from: step - 1, to: step });
  }
  return spans;
}
