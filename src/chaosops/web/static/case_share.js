// How a case is sent to somebody: a link, and the code of a frame.

import { announce, h } from "./dom.js";
import { ROOT } from "./api.js";

const COPIED_MS = 2500;
const NOT_FRAMED =
  "A page of another site stays empty there until who runs this server names the site in CHAOSOPS_WEB_FRAME_ANCESTORS.";
const isFramed = document.documentElement.dataset.framed !== undefined;

export class CaseShare {
  /** `step` answers the step that the link names, or null. */
  constructor(step) {
    this.step = step;
    this.element = h("details.share");
    this.element.addEventListener("toggle", () => this.#nameStep());
  }

  fill({ name, title }) {
    this.name = name;
    const frame = new URL(`embed/${name}`, ROOT).href;
    const code = `<iframe src="${frame}" title="${title}" width="960" height="760"></iframe>`;
    this.link = field("case-link", "Link, without the answer", () => this.#nameStep());
    const embed = field("case-embed", "Code for a page");
    embed.input.value = code;
    this.element.replaceChildren(
      h("summary", "Send this case to somebody"),
      h("div", this.link.parts, embed.parts, !isFramed && h("p.quiet", NOT_FRAMED)),
    );
    this.#nameStep();
  }

  #nameStep() {
    const link = new URL(`case/${this.name}`, ROOT);
    const step = this.step();
    if (step !== null) link.searchParams.set("step", step);
    this.link.input.value = link.href;
  }
}

/** A text to copy. Where the clipboard cannot be written, it is selected. */
function field(id, label, refresh = () => {}) {
  const input = h("input", { type: "text", id, readonly: true });
  input.addEventListener("focus", () => {
    refresh();
    input.select();
  });
  const button = h("button.button", { type: "button", "aria-label": `Copy: ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    refresh();
    try {
      await navigator.clipboard.writeText(input.value);
    } catch {
      input.focus();
      return announce("It is selected; copy it.");
    }
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
  });
  return { input, parts: [h("label", { for: id }, label), h("span.joined", input, button)] };
}
