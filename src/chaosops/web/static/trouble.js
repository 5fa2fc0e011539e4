// One line about what failed, with a button that tries again. It stays in sight.

import { h } from "./dom.js";
import { Refusal } from "./api.js";

export class Trouble {
  constructor() {
    this.element = h("p.notice.trouble-line", { role: "alert", hidden: true });
  }

  /** `again` is called by the button. Without it the line can only be closed. */
  tell(words, again = null) {
    const onclick = () => {
      this.clear();
      again?.();
    };
    const button = h("button.button", { type: "button", onclick }, again ? "Try again" : "Close");
    this.element.replaceChildren(h("span", words), button);
    this.element.hidden = false;
  }

  /** A line without a button: something is tried again by itself. */
  note(words) {
    this.element.replaceChildren(h("span", words));
    this.element.hidden = false;
  }

  clear() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}

/** Why a request failed, for a visitor. An answer can break off in the middle. */
export const reasonOf = (error) =>
  error instanceof Refusal ? error.message : "The connection was cut.";
