// The guided case: Oversight's desk with a coach, and then what would have happened otherwise.

import { announce, byId, complain, h } from "./dom.js";
import { Refusal, Unreachable } from "./api.js";
import { advise, readScreen } from "./coach.js";
import { forgetGame, hideGames, keepGame, offerGame } from "./leaving.js";
import { drawCourse, likelyInnocent, playCourse, tellCourses, yourCourse } from "./lessons.js";
import { readPatiently } from "./patience.js";
import { AGAIN, Seat } from "./seat.js";
import { incidentOf } from "./setup.js";

const PARTNERS = "heuristic";
const HERE = "guide";
const RULES = [
  ["An audit tells the truth", "The trace is only what agents claim: entries are forged, or show too little."],
  ["A flag quarantines", "The agent can do nothing any more. A right flag pays, a false one costs more."],
  ["A rogue that nobody stops strikes again", "Repairs do not last while it is free."],
  ["An innocent agent in quarantine is missed", "Its work is left undone, and other services fail."],
];

/** Says what is new and what to do, and marks where. */
class Coach {
  constructor(place) {
    this.place = place;
    this.chosen = null;
    this.count = h("p.count");
    this.title = h("h2", { tabindex: "-1" });
    this.lines = h("div.lines");
    this.todo = h("strong");
    const show = { type: "button", onclick: () => this.#bringUp() };
    this.where = h("button.button", show, "Show me where");
    this.element = h(
      "section.panel.coach",
      { "aria-label": "Coach" },
      h("div.talk", { "aria-live": "polite" }, this.count, this.title, this.lines),
      h("p.todo", this.todo, this.where),
    );
  }

  /** It is the visitor's turn. */
  speak(start, view, turn) {
    this.before = this.screen;
    this.screen = readScreen(start, view);
    this.turn = turn;
    // What the visitor chose before stays chosen.
    const kept = this.place.querySelector("[name=evidence]:checked");
    this.chosen = kept ? Number(kept.value) : null;
    this.#draw();
    // Where the window is too low for a coach that stays in sight.
    if (turn > 1 && getComputedStyle(this.element).position === "static")
      this.element.scrollIntoView({ block: "nearest" });
  }

  choose(act) {
    this.chosen = act;
    this.#draw();
  }

  #draw() {
    const { title, lines, todo } = advise(this.screen, this.before, this.chosen);
    this.count.textContent = `Your turn ${this.turn}`;
    this.title.textContent = title;
    this.lines.replaceChildren(...lines.map((line) => h("p", line)));
    this.todo.textContent = todo.text;
    this.#mark(todo);
    this.where.hidden = !this.target;
  }

  wait() {
    this.#mark({});
    this.where.hidden = true;
    this.todo.textContent = "Your partners play …";
  }

  /** The server was lost. The moves are kept. */
  lose(words) {
    this.todo.textContent = `Press \u201c${AGAIN}\u201d.`;
    this.lines.replaceChildren(h("p", `${words} Your moves are kept.`));
    this.#mark({ button: AGAIN });
    this.where.hidden = false;
  }

  #mark({ button, act }) {
    this.marked?.classList.remove("coach-here");
    const buttons = [...this.place.querySelectorAll("button")];
    this.target =
      act === undefined
        ? buttons.find((one) => one.textContent === button)
        : this.place.querySelector(`[name=evidence][value="${act}"]`);
    this.marked = this.target?.closest("label") ?? this.target;
    this.marked?.classList.add("coach-here");
  }

  #bringUp() {
    this.marked.scrollIntoView({ block: "center" });
    this.target.focus({ preventScroll: true });
  }
}

async function showEnd(choice, episode, moves) {
  const place = byId("lessons");
  const { start } = episode;
  const innocent = likelyInnocent(episode);
  const query = { ...incidentOf(choice), role: choice.role, partners: choice.partners };
  place.replaceChildren(h("p.panel.waiting", "What would have happened otherwise? The server plays it …"));
  place.hidden = false;
  byId("seat").hidden = true;
  let courses = [yourCourse(episode)];
  try {
    const rounds = { ...query, rounds: start.limit }; // more than there can be
    courses = tellCourses(episode, await otherCourses(episode, rounds, innocent), innocent);
  } catch (error) {
    complain([`what else would have happened cannot be shown: ${error.message}; load the page again`]);
  }
  place.replaceChildren(...ending(episode, courses, query, moves));
  place.querySelector("h2").focus({ preventScroll: true });
  place.scrollIntoView({ block: "start" });
  announce(courses.map(({ title, words, cost }) => `${title}: ${words} ${cost ?? ""}`).join(" "));
}

/** What the visitor could have done instead. */
async function otherCourses(episode, rounds, innocent) {
  const { signal } = new AbortController();
  const flag = (target) => [{ action: "flag_rogue", target }];
  const [waited, wrong, right] = await Promise.all([
    playCourse(rounds, [], signal),
    playCourse(rounds, flag(innocent), signal),
    playCourse(rounds, flag(episode.frames.at(-1).outcome.rogue), signal),
  ]);
  return { waited, wrong, right };
}

function ending(episode, courses, query, moves) {
  const { outcome } = episode.frames.at(-1);
  const address = (more) => `./?${new URLSearchParams({ ...query, ...more })}`;
  const seed = String(Math.floor(Math.random() * 100000));
  const again = h("a.button", { href: "guide" }, "Play it again");
  const late = "You caught the rogue, but the incident was not resolved in time";
  const caught = outcome.resolved ? "Case closed: you caught it" : late;
  const title = outcome.rogue_caught ? caught : "The rogue got away";
  return [
    h("h2", { tabindex: "-1" }, title),
    h("div.courses", courses.map(drawCourse)),
    h(
      "p.course-legend",
      { "aria-hidden": "true" },
      "A cell is a step:",
      ["healthy", "degraded", "critical", "flag"].map((word) => h("span", h(`i.${word}`), word)),
    ),
    h("h2", "What to remember"),
    h(
      "ol.rules",
      RULES.map(([rule, why]) => h("li.panel", h("h3", rule), h("p", why))),
    ),
    h(
      "p.next",
      h("a.button.main", { href: address({ mode: "seat", seed }) }, "Take a case without help"),
      again,
      h("a.button", { href: address({ moves: JSON.stringify(moves) }) }, "See your case step by step"),
    ),
  ];
}

/** The moves are in the address and in the browser: who leaves can go on later. */
function keepMoves(made) {
  const query = `?${new URLSearchParams({ moves: JSON.stringify(made) })}`;
  history.replaceState(null, "", query);
  hideGames();
  keepGame(HERE + query);
}

function makeSeat(place, coach, choice) {
  const { signal } = new AbortController();
  const seat = new Seat(place, choice, signal, {
    moved: keepMoves,
    sent: () => coach.wait(),
    lost: (words) => coach.lose(words),
    turn: (view) => {
      byId("coach").replaceChildren(coach.element);
      coach.speak(seat.board.start, view, seat.moves.length + 1);
    },
    ended: (episode, made) => {
      forgetGame(`${HERE}?`);
      byId("coach").replaceChildren();
      return showEnd(choice, episode, made);
    },
  });
  return seat;
}

/** The case cannot begin. Moves that cannot be played would fail again, so a new case is offered. */
function offerAnew(place, error, moves, again) {
  const { message, status } = error;
  const isBusy = error instanceof Unreachable || status === 429;
  const isDamaged = moves !== undefined && !isBusy;
  const words = isDamaged ? `The moves in this address cannot be played: ${message}.` : message;
  const way = isDamaged
    ? h("a.button.main", { href: "guide" }, "Start the case anew")
    : h("button.button.main", { type: "button", onclick: again }, "Try again");
  place.replaceChildren(h("p.panel.waiting.anew", { role: "alert" }, h("span", words), way));
}

async function main() {
  const place = byId("seat");
  const coach = new Coach(place);
  place.addEventListener("change", ({ target }) => {
    if (target.name === "evidence") coach.choose(Number(target.value));
  });
  const moves = new URLSearchParams(location.search).get("moves") ?? undefined;
  if (!moves) offerGame(byId("main"), HERE);
  let seat = null;
  window.addEventListener("pagehide", () => seat?.leave());
  const begin = async () => {
    try {
      const { guided } = await readPatiently("catalogue");
      seat = makeSeat(place, coach, { ...guided, role: "oversight", partners: PARTNERS, moves });
      await seat.begin();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      offerAnew(place, error, moves, begin);
    }
  };
  await begin();
}

main();
