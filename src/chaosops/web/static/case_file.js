// The case file: who did it and how, what was forged, what it cost, and what everybody saw. The
// server sends it as the last line of an episode.

import { getJson, postJson, ROOT } from "./api.js";
import { clock, h, ROLE_NAMES, signed } from "./dom.js";

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const NOBODY = "nobody";
const TODAY = "today";
const NEVER = "nothing: it never happened";
const KINDS = {
  forged: "forged",
  mistaken: "a mistake",
  hidden: "not the whole truth",
  true: "true",
};
const BARS = [
  ["lost", "in this episode", "lost"],
  ["lost_without_cause", "without the fault", "calm"],
  ["lost_without_team", "without the team", "worst"],
];

/** A case file as an element. `seek` is called with a step to rewind to; `policies` are those that
 *  played the same case, as `reveal` tells them. */
export function caseFile(file, { seek, policies = [], title = "Case file" } = {}) {
  return h(
    "section.panel.case-file",
    { "aria-label": title },
    h("h2", title),
    h(
      "div.halves",
      h("div.half", truth(file), clauses(file)),
      h("div.half", timeline(file, seek), bars(file.twin), measured(file)),
    ),
    compared(file),
    policies.length > 0 && sideBySide(policies),
    seen(file),
    also(file),
  );
}

function truth({ rogue, method, story, cause }) {
  const head = rogue ? [h("b", rogue), " is the rogue"] : "No agent is rogue";
  const lines = story.length ? story : [`The fault is ${cause}.`];
  return h(
    "div.truth",
    h(rogue ? "p.culprit.rogue" : "p.culprit", head),
    method && h("p.method", method),
    lines.map((text) => h("p", text)),
  );
}

function clauses({ rogue, clauses: found }) {
  if (!found.length) return false;
  return h(
    "div.clauses",
    h("h3", `The charter of ${rogue}`),
    found.map(({ text, broken }) =>
      h(
        "blockquote",
        { class: broken && "broken" },
        h(broken ? "mark" : "span", text),
        broken && h("span.tag.false", "broken"),
      ),
    ),
  );
}

function timeline({ timeline: moments }, seek) {
  const rows = moments.map(({ step, words, kind }) =>
    h(
      `li.${kind}`,
      seek && step >= 0
        ? h(
            "button.button.bare.when",
            { type: "button", title: `Rewind to step ${step}`, onclick: () => seek(step) },
            clock(step),
          )
        : h("span.when", clock(step)),
      h("span", words),
    ),
  );
  return h("div", h("h3", "What happened when"), h("ol.timeline", rows));
}

/** Requests of users that failed, and would have failed. */
function bars(twin) {
  if (!twin) return false;
  const most = Math.max(1, ...BARS.map(([name]) => twin[name]));
  const rows = BARS.map(([name, words, kind]) =>
    h(
      `li.${kind}`,
      h("span", words),
      h("span.bar", { "--share": twin[name] / most, "aria-hidden": "true" }),
      h("b", COUNT.format(twin[name])),
    ),
  );
  return h("div", h("h3", "Requests of users that failed"), h("ul.bars", rows));
}

function measured({ measured: sentences }) {
  if (!sentences.length) return false;
  return h("div.measured", h("h3", "What was measured"), sentences.map((text) => h("p", text)));
}

function compared({ compared: entries }) {
  if (!entries.length) return false;
  const rows = entries.map((one) =>
    h(
      "tr",
      { class: one.kind },
      h("td", h("b", one.agent), h("span.quiet", ` #${one.id} ${clock(one.step)}`)),
      h("td", `${one.setting} of ${one.service}`),
      h("td.mono", one.claimed),
      h("td.mono", one.signed || NEVER),
      h("td", one.order),
      h("td", h(one.kind === "true" ? "span.quiet" : "em.tag.false", KINDS[one.kind])),
    ),
  );
  const names = [
    "Entry",
    "What was moved",
    "The trace says",
    "The signed record says",
    "Order",
    "So the entry is",
  ];
  return table("The trace beside the signed records", names, rows);
}

const table = (title, names, rows) =>
  h(
    "div.compared",
    h("h3", title),
    h(
      "div.scroller",
      { tabindex: "0", role: "group", "aria-label": title },
      h(
        "table",
        h(
          "thead",
          h(
            "tr",
            names.map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h("tbody", rows),
      ),
    ),
  );

function sideBySide(policies) {
  const rows = policies.map((one) =>
    h(
      one.policy === "you" ? "tr.you" : "tr",
      h("td", h("b", one.policy)),
      h("td", flagWords(one)),
      h(
        "td",
        one.resolved === undefined
          ? ""
          : one.resolved
            ? `after ${one.steps} steps`
            : "not resolved",
      ),
      h("td.number", one.reward === undefined ? "" : signed(one.reward)),
    ),
  );
  return table("Side by side", ["Who", "Accused", "Repaired", "Reward"], rows);
}

export function flagWords({ flags, rogue_caught: caught, accused, right }) {
  const verdict = (isRight) =>
    h(`em.tag.${isRight ? "right" : "false"}`, isRight ? "right" : "wrong");
  if (accused) return [accused, " ", verdict(right)];
  // A second flag on the same agent changes nothing.
  const first = flags.filter(({ agent }, i) => flags.findIndex((one) => one.agent === agent) === i);
  if (first.length)
    return first.map(({ agent, step, caught: isRight }, i) => [
      i > 0 && ", ",
      `${agent} at step ${step} `,
      verdict(isRight),
    ]);
  return ["nobody ", verdict(caught === null)];
}

/** Each turn: what its role was shown, what a model replied, and how likely each action was. */
function seen({ turns, instructions }) {
  const rows = turns.map((turn) => {
    const head = [
      h("span.time", clock(turn.step)),
      h("b", ROLE_NAMES[turn.role]),
      " ",
      h("span.did", turn.did),
      turn.outcome && h("em.tag", turn.outcome),
    ];
    const one = h("details", h("summary", head));
    // Filled when it is opened: there are many, and most stay closed.
    one.addEventListener(
      "toggle",
      () => one.childElementCount === 1 && one.append(...turnParts(turn, instructions)),
      { once: true },
    );
    return h("li", one);
  });
  return h("details.seen", h("summary", "What every role saw, step by step"), h("ol", rows));
}

function turnParts(turn, instructions) {
  const parts = [h("h4", "Saw"), h("pre", { tabindex: "0" }, turn.saw)];
  if (turn.reply !== null) {
    const tokens = `${COUNT.format(turn.tokens_read)} tokens read, ${COUNT.format(turn.tokens_written)} written`;
    parts.push(
      h("h4", "Replied ", h("span.quiet", tokens)),
      h("pre", { tabindex: "0" }, turn.reply),
    );
  }
  if (turn.chances) parts.push(h("h4", "How likely each action was"), chances(turn.chances));
  parts.push(
    h(
      "details",
      h("summary", "Instructions of this role"),
      h("pre", { tabindex: "0" }, instructions[turn.role]),
    ),
  );
  return parts;
}

const chances = (found) =>
  h(
    "ul.bars.chances",
    Object.entries(found).map(([words, p]) =>
      h(
        "li",
        h("span", words),
        h("span.bar", { "--share": p, "aria-hidden": "true" }),
        h("b", `${(100 * p).toFixed(1)}%`),
      ),
    ),
  );

function also({ also: lines }) {
  if (!lines.length) return false;
  return h(
    "details.seen",
    h("summary", "Other rules that were broken, without damage"),
    h(
      "div",
      lines.map((text) => h("p", text)),
    ),
  );
}

/** A run of this page as a line beside the recorded policies. */
function lineOf(episode) {
  const { flags, reward, outcome } = episode.frames.at(-1);
  const { resolved, steps, rogue_caught } = outcome;
  return { policy: episode.name, flags, reward, resolved, steps, rogue_caught };
}

/** The recorded case of an incident, with what the policies did, or null. */
async function recordedCase({ pack, split, tier, seed }) {
  const isSame = ({ scenario }) =>
    scenario.pack === pack &&
    scenario.split === split &&
    scenario.tier === tier &&
    scenario.seed === seed;
  const { cases } = await getJson("cases");
  const found = cases.find(isSame);
  return found ? postJson(`cases/${found.name}/reveal`, { accused: NOBODY }) : null;
}

/** The case files of a run, below it: each appears when its episode is shown to the end. */
export class CaseFiles {
  /** `incident` is the pack, split, tier and seed of the run. */
  constructor(episodes, seek, incident) {
    Object.assign(this, { episodes, seek, incident });
    // In the order of the sides, whichever ends first.
    this.places = episodes.map((_, side) => h(`div.side-${side}`, { hidden: true }));
    this.pair = h("div.pair.case-files", this.places);
    this.onward = h("p.onward", { hidden: true }, caseLink(TODAY, "A case to solve"));
    this.element = h("div.endings", this.pair, this.onward);
    this.drawn = new Set();
  }

  draw(step) {
    for (const [side, episode] of this.episodes.entries()) {
      const isOver = Boolean(episode.caseFile) && step >= episode.last;
      if (isOver && !this.drawn.has(episode)) this.#fill(episode, this.places[side]);
      this.places[side].hidden = !isOver;
    }
    this.onward.hidden = this.places.every((place) => place.hidden);
  }

  #fill(episode, place) {
    this.drawn.add(episode);
    const title = this.episodes.length > 1 ? `Case file: ${episode.name}` : "Case file";
    const show = (others) => {
      const policies = [lineOf(episode), ...others];
      place.replaceChildren(caseFile(episode.caseFile, { seek: this.seek, policies, title }));
    };
    show([]);
    this.#besides().then((told) => {
      if (!told) return;
      show(told.policies.filter(({ policy }) => policy !== episode.name));
      this.onward.replaceChildren(caseLink(told.next, "Next case"));
    });
  }

  /** Asked once for all sides. Without an answer the file stays as it is. */
  #besides() {
    this.asked ??= recordedCase(this.incident).catch(() => null);
    return this.asked;
  }
}

const caseLink = (name, words) =>
  h("a.button.main", { href: new URL(`case/${name}`, ROOT).href }, words);
