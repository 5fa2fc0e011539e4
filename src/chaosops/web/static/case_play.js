// A recorded case: it plays by itself, the visitor accuses somebody, and then the truth is told.

import { announce, clock, h } from "./dom.js";
import { getJsonPatiently, postJson, ROOT, stream } from "./api.js";
import { CaseShare } from "./case_share.js";
import { CaseTruth, seatAddress } from "./case_truth.js";
import { Episode } from "./episode.js";
import { Stage } from "./stage.js";
import { Accusing } from "./accusing.js";
import { Transport } from "./transport.js";
import { reasonOf, Trouble } from "./trouble.js";

const NOBODY = "nobody";
const PRELUDE = -12; // minutes; what is older has no part in an incident
const KEPT = (name) => `chaosops case ${name}`;

export class CasePlay {
  /** `root` holds the heading and the line about the case. `failed` is called if there is none. */
  constructor(root, { embedded = false, failed = () => {} } = {}) {
    Object.assign(this, { root, embedded, failed });
    this.transport = new Transport((minute) => this.#draw(minute));
    this.stagePlace = h("div.case-stage");
    this.suspects = new Accusing((accused) => this.#accuse(accused));
    this.reveal = h("div.reveal", { hidden: true });
    this.ways = h("div.ways");
    const board = h(
      "div.case-board",
      h("div.case-left", this.stagePlace, this.transport.element, this.ways),
      this.suspects.element,
    );
    this.share = new CaseShare(() => this.#pausedAt());
    this.trouble = new Trouble();
    root.append(board, this.reveal, this.share.element, this.trouble.element);
    this.parts = [board, this.share.element];
    this.#hide(true);
  }

  /** `asked` is the step in the address, as the visitor wrote it. Ends when the case is shown. */
  async begin(name, asked = null) {
    try {
      this.found = await getJsonPatiently(`cases/${name}`, (seconds) =>
        this.trouble.note(`The server cannot be reached. The case is asked for again in ${seconds} s.`),
      );
    } catch (error) {
      this.failed();
      await new Promise((again) =>
        this.trouble.tell(`No case can be shown. ${reasonOf(error)}`, again),
      );
      return this.begin(name, asked);
    }
    this.trouble.clear();
    this.#hide(false);
    const { lines } = this.found;
    this.question = new Episode("The company");
    for (const line of lines) this.question.take(line);
    this.#show(this.question);
    this.suspects.fill(this.question, this.found.agents);
    this.ways.replaceChildren(...this.#ways());
    this.share.fill(this.found);
    const step = this.#stepOf(asked);
    const accused = recall(this.found);
    const { last } = this.question;
    const isOpen = step === null && !accused;
    const at = step ?? (accused ? last : PRELUDE);
    this.transport.begin({ from: PRELUDE, to: last, at, playing: isOpen });
    if (accused) this.#accuse(accused, { isRecalled: true });
  }

  /** A step that the case does not have is told, and the case begins as usual. */
  #stepOf(asked) {
    if (asked === null) return null;
    const { last } = this.question;
    const step = /^-?\d{1,3}$/.test(asked) ? Number(asked) : NaN;
    if (step >= PRELUDE && step <= last) return step;
    const allowed = `a step of this case is a whole number from ${PRELUDE} to ${last}`;
    this.trouble.tell(`No step “${asked.slice(0, 20)}”: ${allowed}. It begins at ${clock(PRELUDE)}.`);
    return null;
  }

  #hide(isHidden) {
    for (const part of this.parts) part.hidden = isHidden;
  }

  stop() {
    this.transport.stop();
  }

  /** A link from a paused case opens at its step. */
  #pausedAt() {
    const { at, playing } = this.transport;
    return this.episode === this.question && !playing ? at : null;
  }

  #show(episode) {
    this.episode = episode;
    const isQuestion = episode === this.question;
    const seek = (step) => this.transport.go(step);
    this.stage = new Stage(episode, 0, isQuestion ? { seek, roles: [] } : { seek });
    this.stage.element.removeAttribute("id"); // a run on the same page has this id
    this.stage.element.classList.toggle("unplayed", isQuestion);
    this.stagePlace.replaceChildren(this.stage.element);
  }

  #draw(minute) {
    const { stage, episode, transport } = this;
    stage.draw(Math.max(0, minute), transport.to);
    if (minute < 0) this.#drawBefore(minute);
    this.suspects.light(episode.at(Math.max(0, minute)), minute);
  }

  /** Before the incident only the acts of the agents are known. */
  #drawBefore(minute) {
    const frame = this.episode.frames[0];
    const acts = frame.acts.filter(({ step }) => step <= minute);
    const before = { ...frame, acts, step: minute, readings: [], turn: null };
    const nothing = { verdicts: new Map(), marks: new Map() };
    this.stage.lanes.draw([before], { to: this.transport.to, ...nothing });
    this.stage.graph?.rest(acts, minute);
  }

  /** A vote that the server did not get can be made again. One that it got stays, whatever
   *  follows. */
  async #accuse(accused, { isRecalled = false } = {}) {
    const { name } = this.found;
    this.trouble.clear();
    this.suspects.accuse(accused);
    this.transport.stop();
    let told;
    try {
      told = await postJson(`cases/${name}/reveal`, { accused });
    } catch (error) {
      this.suspects.free(isRecalled ? null : accused);
      const words = `Your vote for ${accused} was not counted. ${reasonOf(error)}`;
      return this.trouble.tell(words, () => this.#accuse(accused, { isRecalled }));
    }
    remember(name, accused);
    this.suspects.judge(told.verdict);
    this.suspects.close();
    this.#reveal(told);
    if (!isRecalled) {
      announce(told.verdict.words.join(" "));
      this.truth.element.querySelector("h2").focus();
    }
    const [best] = this.#policies();
    await this.#follow(best, (episode) => this.#file(episode));
  }

  /** What is known after an accusation, or null if the visitor only watches. */
  #reveal(told) {
    this.truth = new CaseTruth(this.found, told, {
      watch: (policy) => this.watch(policy),
      embedded: this.embedded,
    });
    this.reveal.hidden = false;
    this.reveal.replaceChildren(this.truth.element);
    this.ways.replaceChildren();
  }

  /** Plays a recorded episode. It tells the truth. */
  async watch(policy) {
    await this.#follow(policy, (episode) => {
      this.#play(episode);
      this.stagePlace.scrollIntoView({ block: "nearest" });
      if (!this.truth) {
        this.suspects.close();
        this.#reveal(null);
        this.transport.button.focus({ preventScroll: true }); // the button that was pressed is gone
      }
      this.#file(episode);
    });
  }

  #file(episode) {
    this.truth.file(episode, (step) => this.#rewind(episode, step));
  }

  /** Loads a recorded episode. Of several that are asked for, the last is shown. */
  async #follow(policy, shown) {
    this.trouble.clear();
    const asked = (this.asked = {});
    let episode;
    try {
      episode = await this.#load(policy);
    } catch (error) {
      if (asked !== this.asked) return;
      const words = `The recorded run of ${policy} was not loaded. ${reasonOf(error)}`;
      return this.trouble.tell(words, () => this.#follow(policy, shown));
    }
    if (asked === this.asked) shown(episode);
  }

  #play(episode, at = 0, playing = true) {
    this.#show(episode);
    const isHeld = (step) => Boolean(episode.frames[step]?.flag);
    this.transport.begin({ from: 0, to: episode.last, at, playing, isHeld });
  }

  #rewind(episode, step) {
    this.#play(episode, step, false);
    this.stagePlace.scrollIntoView({ block: "nearest" });
  }

  async #load(policy) {
    const { name } = this.found;
    const episode = new Episode(policy);
    for await (const line of stream(`cases/${name}/replay`, { query: { policy } }))
      episode.take(line);
    if (!episode.caseFile) throw new Error("the last line is missing");
    return episode;
  }

  /** The last one to be recorded first: a model comes after the scripts. */
  #policies() {
    return this.found.policies.map(({ policy }) => policy).reverse();
  }

  #ways() {
    const watch = this.#policies().map((policy) =>
      h(
        "button.button",
        { type: "button", onclick: () => this.watch(policy) },
        `Watch ${policy} decide`,
      ),
    );
    const target = this.embedded ? { target: "_top" } : {};
    const guide = new URL("guide", ROOT).href;
    return [
      h("span.quiet", "Or:"),
      ...watch,
      h("a.button", { href: seatAddress(this.found), ...target }, "Take Oversight’s seat"),
      h("a", { href: guide, ...target }, "New here? A guided case"),
    ];
  }
}

/** Whom the visitor accused before a reload, if the case still has this agent. */
function recall({ name, agents }) {
  try {
    const accused = sessionStorage.getItem(KEPT(name));
    return [...agents, NOBODY].includes(accused) ? accused : null;
  } catch {
    return null;
  }
}

function remember(name, accused) {
  try {
    sessionStorage.setItem(KEPT(name), accused);
  } catch {
    // a reload asks again
  }
}
