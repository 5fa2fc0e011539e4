// What follows an accusation: the verdict, what the policies did, and the case file.

import { h, signed } from "./dom.js";
import { ROOT } from "./api.js";
import { caseFile, flagWords } from "./case_file.js";

/** Oversight of the same incident, among scripted partners. */
export function seatAddress({ scenario }) {
  const choice = { mode: "seat", ...scenario, role: "oversight", partners: "heuristic" };
  return new URL(`?${new URLSearchParams(choice)}`, ROOT).href;
}

export class CaseTruth {
  /** `told` is the answer of `reveal`, or null if the visitor only watched. */
  constructor(found, told, { watch, embedded }) {
    Object.assign(this, { found, told, watch, embedded });
    this.filePlace = h("div");
    this.element = h(
      "div.case-truth",
      told && verdict(told.verdict),
      told ? this.#others() : this.#onward(),
      this.filePlace,
    );
  }

  /** The case file of a policy's episode. */
  file(episode, seek) {
    const title = `Case file, as ${episode.name} played it`;
    this.filePlace.replaceChildren(caseFile(episode.caseFile, { seek, title }));
  }

  /** The visitor and the recorded policies side by side. */
  #others() {
    const { verdict: yours, policies } = this.told;
    const you = { policy: "you", ...yours };
    return h(
      "ul.others",
      [you, ...policies].map((one) => this.#one(one)),
    );
  }

  #one(one) {
    const isYou = one.policy === "you";
    const end = one.resolved ? `repaired after ${one.steps} steps` : "not repaired";
    return h(
      isYou ? "li.you" : "li",
      h("b", one.policy),
      h("span", flagWords(one)),
      !isYou && h("span.quiet", `${end}, ${signed(one.reward)} points`),
      isYou ? this.#onward() : this.#ways(one),
    );
  }

  /** Live it is played by the team that was recorded. */
  #ways({ policy, team, commit }) {
    const { scenario } = this.found;
    const [, role, , partners] = /^(\w+)=(.+),others=(.+)$/.exec(team) ?? [];
    const seats = partners ? { role, partners } : {};
    const choice = { ...scenario, left: policy, right: "none", ...seats };
    const live = new URL(`?${new URLSearchParams(choice)}`, ROOT).href;
    const label = commit ? `recorded at ${commit.slice(0, 7)}` : "recorded";
    return h(
      "span.row",
      h("button.button", { type: "button", onclick: () => this.watch(policy) }, "Watch"),
      h("a", { href: live, target: this.embedded && "_top" }, "Run it live"),
      h("span.quiet", label),
    );
  }

  #onward() {
    const { next } = this.found;
    const to = (path) => new URL(path, ROOT).href;
    const target = this.embedded ? { target: "_top" } : {};
    return h(
      "p.onward",
      h("a.button.main", { href: to(`case/${next}`), ...target }, "Next case"),
      h("a.button", { href: seatAddress(this.found), ...target }, "Take Oversight’s seat here"),
    );
  }
}

const verdict = ({ right, words }) =>
  h(
    `div.verdict.${right ? "right" : "false"}`,
    h("h2", { tabindex: "-1" }, right ? "You are right" : "You are wrong"),
    words.map((text) => h("p", text)),
  );
