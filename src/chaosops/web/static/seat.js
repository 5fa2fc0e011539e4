// The visitor plays a role. Until the end, the server sends only the view of that role. The moves
// are the state of the game: the seat can be taken again with them, here or by a link.

import { announce, h, ROLE_NAMES } from "./dom.js";
import { notify, pause, Refusal, stream } from "./api.js";
import { Board } from "./board.js";
import { Desk } from "./desk.js";
import { Episode } from "./episode.js";
import { thinkingWords } from "./moment.js";
import { incidentOf } from "./setup.js";

const TURN_S = 0.5; // a turn of a partner is shown for this long
const GONE = 410;
export const AGAIN = "Go on from here";

export class Seat {
  /** Calls `turn(view)` when the visitor is on turn, `sent()` when a move is sent, `moved(moves)`
   *  when it was accepted, `lost(words)` when the server cannot be asked, and
   *  `ended(episode, moves)` at the end. */
  constructor(place, choice, signal, calls) {
    const nothing = () => {};
    Object.assign(this, { place, choice, signal, turn: nothing, sent: nothing, lost: nothing, ...calls });
    this.moves = [];
    this.hasPressed = false;
    this.key = null;
    this.board = null;
    this.isYourTurn = false;
    this.waiting = h("p.panel.waiting", { role: "status" }, "Taking your seat …");
    place.replaceChildren(this.waiting);
  }

  /** Takes the seat, after the moves that were made before. */
  async begin() {
    const { role, partners, moves } = this.choice;
    const made = this.moves.length ? JSON.stringify(this.moves) : moves;
    const query = { ...incidentOf(this.choice), role, partners, moves: made };
    // The server reads the moves of a link first, and says what is wrong with them.
    const accepted = () => (this.moves = made ? JSON.parse(made) : []);
    const messages = stream("seats", { query, signal: this.signal, method: "POST" });
    await this.#follow(messages, 0, accepted);
  }

  leave() {
    if (this.key) notify(`seats/${this.key}/leave`);
    this.key = null;
  }

  async #move(move) {
    if (!this.isYourTurn) return;
    this.isYourTurn = false;
    this.hasPressed = true;
    this.board.disable(true);
    this.board.tell("Playing …");
    this.sent();
    try {
      await this.#send(move);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#offerAgain(error);
    }
  }

  async #send(move, isAgain = false) {
    const options = { signal: this.signal, method: "POST", body: move };
    const accepted = () => {
      this.moves.push(move);
      this.moved(this.moves);
    };
    try {
      const messages = stream(`seats/${this.key}/moves`, options);
      await this.#follow(messages, pace(), accepted);
    } catch (error) {
      // The server frees a seat that was not used for long, and knows none after a restart.
      if (error.status !== GONE || isAgain) throw error;
      await this.begin();
      await this.#send(move, true);
    }
  }

  /** A move that was refused can be made again. A seat that was lost can be taken again. */
  #offerAgain(error) {
    const isRefused = error instanceof Refusal && error.status > 0 && this.key;
    const words = error instanceof Refusal ? error.message : "The connection was cut.";
    this.board.tell(words, Boolean(isRefused));
    this.isYourTurn = Boolean(isRefused);
    if (isRefused) {
      this.board.disable(false);
      return this.turn(this.view);
    }
    const onclick = () => this.begin().catch((again) => this.#offerAgain(again));
    const button = h("button.button.main", { type: "button", onclick }, AGAIN);
    this.board.status.append(" ", button);
    this.lost(words);
    announce(`${words} Your moves are kept.`);
  }

  async #follow(messages, turnS, accepted = () => {}) {
    let isFirst = true;
    let episode = null;
    let views = 0;
    for await (const message of messages) {
      if (isFirst) accepted();
      isFirst = false;
      if (message.kind === "view" && views++ > 0 && turnS) await pause(turnS, this.signal);
      if (this.signal.aborted) return;
      if (episode) episode.take(message);
      else if (message.kind === "over")
        episode = new Episode(`you as ${ROLE_NAMES[this.choice.role]}`);
      else this.#take(message);
    }
    if (!episode) return;
    this.key = null;
    announce("The episode is over. The whole of it is shown now, with what you could not see.");
    await this.ended(episode, this.moves);
  }

  #take(message) {
    switch (message.kind) {
      case "loading":
        this.waiting.textContent = `Loading ${this.choice.partners} …`;
        break;
      case "unavailable":
        throw new Refusal(`${this.choice.partners} is UNAVAILABLE: ${message.why}`);
      case "stopped":
        this.key = null;
        throw new Refusal(message.why);
      case "seated":
        this.key = message.seat;
        notify(`seats/${this.key}/claim`); // the server soon frees a seat that nobody claims
        this.#sit(message);
        break;
      case "view":
        this.board.show(message);
        if (message.on_turn !== message.role)
          this.board.tell(`${ROLE_NAMES[message.on_turn]} is on turn …`);
        this.view = message;
        break;
      case "thinking":
        this.board?.tell(thinkingWords(message));
        break;
      case "your_turn":
        this.#yourTurn(message.menu);
        break;
    }
  }

  /** A seat that is taken again keeps its board, with what the visitor has opened and written. */
  #sit(start) {
    if (this.board) return;
    const hasDesk = start.role === "oversight" && Object.keys(start.charter ?? {}).length > 0;
    const move = (chosen) => this.#move(chosen);
    this.board = hasDesk
      ? new Desk(start, this.choice, move)
      : new Board(start, this.choice, move);
    if (this.moves.length) this.board.how.open = false;
    this.place.replaceChildren(this.board.element);
  }

  #yourTurn(menu) {
    this.isYourTurn = true;
    this.board.tell("Your turn", true);
    this.board.offer(menu);
    // The button that had the focus is gone.
    if (this.hasPressed && document.activeElement === document.body)
      this.board.status.focus({ preventScroll: true });
    announce(`${this.board.round.words} Your turn.`);
    this.turn(this.view);
  }
}

/** Nothing moves by itself for visitors who asked for that: the round is shown as a whole. */
const pace = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : TURN_S);
