// A link to a seat beside a model invites. Nobody who only opens a link starts a model.

import { h, ROLE_NAMES } from "./dom.js";

/** Whether the others in this seat's game are played by a model. */
export const needsModel = ({ policies }, { partners }) =>
  policies.some(({ name, is_model: isModel }) => name === partners && isModel);

/** Shows the invitation; `accept` is called when the visitor sits down. */
export function invite(place, { role, partners }, title, accept) {
  const sit = h("button.button.main", { type: "button", onclick: accept }, "Sit down");
  place.hidden = false;
  place.replaceChildren(
    h(
      "div.panel.invitation",
      h("h2", `A seat is free: ${ROLE_NAMES[role] ?? role}`),
      h("p.quiet", title),
      h("p", `The other roles are played by ${partners}, a model. It starts when you sit down.`),
      h("p", sit),
    ),
  );
}
