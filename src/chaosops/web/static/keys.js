// Keyboard shortcuts. They can be switched off, as speech input would trigger them.

import { byId } from "./dom.js";

const KEPT = "chaosops-keys";

function isOn() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
}

export function listenToKeys(player, { run, copy }) {
  const dialog = byId("keys");
  const choice = byId("keys-on");
  choice.checked = isOn();
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem(KEPT, choice.checked ? "on" : "off");
    } catch {
      // the choice holds for this page only
    }
  });
  byId("show-keys").addEventListener("click", () => dialog.showModal());
  byId("hide-keys").addEventListener("click", () => dialog.close());

  const whilePlaying = {
    " ": () => player.toggle(),
    ArrowLeft: () => player.go(player.step - 1),
    ArrowRight: () => player.go(player.step + 1),
    Home: () => player.go(0),
    End: () => player.toEnd(),
    "+": () => player.faster(1),
    "-": () => player.faster(-1),
  };
  const always = {
    r: run,
    c: copy,
    t: () => document.querySelector("[data-theme-button]").click(),
    "?": () => dialog.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return; // the call graph has arrow keys of its own
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || !choice.checked) return;
    if (isTaken(event)) return;
    const act =
      always[event.key.toLowerCase()] ??
      (player.episodes.length ? whilePlaying[event.key] : undefined);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  });
}

/** Whether the focused element uses this key itself. */
function isTaken({ target, key }) {
  if (target.matches("select, textarea, input:not([type=range], [type=radio], [type=checkbox])"))
    return true;
  if (target.matches("input")) return key !== "?" && key.length > 1;
  if (key === " ") return target.closest("button, a, summary, .feed, .scroller") !== null;
  return ["Home", "End"].includes(key) && target.closest(".feed, .scroller") !== null;
}
