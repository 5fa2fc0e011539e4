// A live run: real processes on the machine of the server. A person starts it, and no link does.

import { h } from "./dom.js";

export const LIVE_WORDS =
  "Real processes start on the machine of this server: services, a database and the agents. A run takes a " +
  "minute or two, and leaving the page ends them. Only one live incident is played at a time.";

/** Whether this choice starts processes. What was recorded is shown without them. */
export const isLive = (setup, { pack, recorded }) => !recorded && Boolean(setup.packOf(pack)?.real_time);

/** The button on the first page, where the server allows live runs. */
export function offerLive(place, { live, policies }, start) {
  if (!live) return;
  const { words = "" } = policies.find(({ name }) => name === live.left) ?? {};
  const button = h("button.button.main", { type: "button", onclick: () => start(live) }, "Start a live incident");
  place.replaceChildren(
    h(
      "div.told",
      h("h2", { id: "live-title" }, "See it happen on a running system"),
      h("p.quiet", LIVE_WORDS),
      h("p.quiet", `Tier ${live.tier}, seed ${live.seed}, played by `, h("strong", live.left), `: ${words}.`),
    ),
    button,
  );
}

/** What a link to a live run shows. `accept` is called when the visitor starts it. */
export function askToStart(place, title, accept) {
  const button = h("button.button.main", { type: "button", onclick: accept }, "Start it");
  place.hidden = false;
  place.replaceChildren(
    h("div.panel.invitation", h("h2", "A live incident"), h("p.quiet", title), h("p", LIVE_WORDS), h("p", button)),
  );
}
