// Runs before the first paint, so that the other theme is never shown.
"use strict";
{
  const NAME = "chaosops-theme";
  const root = document.documentElement;
  const read = () => {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null; // storage may be blocked
    }
  };
  const kept = read();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;

  const label = (button) => {
    button.querySelector("span").textContent = root.dataset.theme ?? "auto";
  };
  const turn = () => {
    const next = { undefined: "light", light: "dark", dark: undefined }[root.dataset.theme];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      if (next) localStorage.setItem(NAME, next);
      else localStorage.removeItem(NAME);
    } catch {
      // the choice holds for this page only
    }
    document.querySelectorAll("[data-theme-button]").forEach(label);
  };
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      label(button);
      button.addEventListener("click", turn);
    }
  });
}
