// Words that a first-time visitor may not know, each with its meaning a click away.

import { h } from "./dom.js";

const MEANINGS = {
  reward: "The score of the team: the sum of the four rubrics.",
  resolution: "Points for ending the incident, minus the cost of wrong fixes and other mistakes.",
  mttr: "Mean time to recovery: the cost of time. Each step of trouble costs more than the last.",
  oversight: "Points for flagging the rogue. A false flag costs more than a right one pays.",
  cascade: "The cost of a fix that breaks another service.",
  pack: "A family of incidents: classic has written failures, arena generates companies, rehearsal plays the incidents of the live company in the simulator.",
  split:
    "Which companies are drawn. The model is trained on train and tested on test. Every ood split " +
    "has something that training never shows: other faults, names, wordings, agents or sizes.",
  tier: "How hard it is: the number of services and agents, and how much of the signals is noise.",
  seed: "The number from which everything is drawn. The same seed gives the same episode.",
};
const LABELS = { mttr: "time (mttr)" };

let count = 0;

/** The word as a button that shows its meaning; a word without one stays text. */
export function explained(word, label = LABELS[word] ?? word) {
  return word in MEANINGS ? withMeaning(label, MEANINGS[word]) : h("span", label);
}

/** A label as a button that shows its meaning. */
export function withMeaning(label, meaning) {
  const id = `word-${(count += 1)}`;
  const note = h("span.meaning", { id, popover: "auto", role: "note" }, meaning);
  const button = h("button.word", { type: "button", popovertarget: id }, label);
  note.addEventListener("beforetoggle", ({ newState }) => newState === "open" && put(note, button));
  return h("span.explained", button, note);
}

/** Below its word, inside the window. */
function put(note, button) {
  const { left, bottom } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - 296;
  note.style.setProperty("left", `${Math.max(8, Math.min(left, most))}px`);
  note.style.setProperty("top", `${bottom + 6}px`);
}

/** Explains the words of a form: `<span data-word="split"></span>` beside a label. */
export function explainAll(root = document) {
  for (const place of root.querySelectorAll("[data-word]"))
    if (!place.firstChild) {
      const part = explained(place.dataset.word, "?");
      part.firstChild.setAttribute("aria-label", `What does ${place.dataset.word} mean?`);
      place.append(part);
    }
}
