// Lists of what was said and done, newest first.

import { h, clock, plural, tag, ROLE_NAMES } from "./dom.js";

const time = (step) => h("span.time", clock(step));

/** A titled list that keeps its element and can be filled again. */
export class Feed {
  /** `size`: tall, short, or as high as its content. */
  constructor(title, { empty = "nothing yet", size = "", hint = "" } = {}) {
    this.empty = empty;
    this.list = h("ul", { class: `feed ${size}`, tabindex: "0", "aria-label": title });
    this.count = h("span.count");
    this.element = h(
      "section.block",
      h("h3", title, " ", this.count, hint !== "" && h("span.hint", hint)),
      this.list,
    );
    new ResizeObserver(() => this.#updateFocus()).observe(this.list);
  }

  fill(items) {
    this.count.textContent = items.length ? String(items.length) : "";
    const at = this.list.scrollTop;
    this.list.replaceChildren(...(items.length ? items : [h("li.none", this.empty)]));
    this.list.scrollTop = at;
    this.#updateFocus();
  }

  /** The keyboard stops at a list only if it can be scrolled. */
  #updateFocus() {
    this.list.tabIndex = this.list.scrollHeight > this.list.clientHeight + 1 ? 0 : -1;
  }
}

/** The lists that spectators and players share. */
export class Feeds {
  constructor(fleetHint, alertSize = "") {
    this.alerts = new Feed("Alerts", { empty: "none firing", size: alertSize });
    this.chat = new Feed("Team", { size: "tall", hint: "what the roles said and did" });
    this.trace = new Feed("Fleet", { size: "tall", hint: fleetHint });
    this.looks = new Feed("Close looks");
    this.logs = new Feed("Logs", { size: "tall" });
  }

  /** `marks` maps an agent to the tag beside its name. */
  fill({ step, alerts, chat, trace, findings, logs }, marks) {
    this.alerts.fill(alerts.map(alertItem));
    this.chat.fill(newestFirst(chat, chatItem(step)));
    this.trace.fill(newestFirst(trace, traceItem(marks, step)));
    this.looks.fill(newestFirst(findings, findingItem));
    this.looks.element.hidden = !findings.length;
    this.logs.fill(newestFirst(logs, logItem));
  }
}

const newestFirst = (entries, item) => entries.toReversed().map(item);

const alertItem = ({ severity, service, text }) =>
  h(`li.alert.${severity}`, h("b", severity), h("span", h("strong", service), ` ${text}`));

const logItem = ({ step, level, service, text }) =>
  h(
    `li.log.${level.toLowerCase()}`,
    time(step),
    h("b", level),
    h("span", h("strong", service), ` ${text}`),
  );

const chatItem = (now) => (message) => {
  const whom = message.to ? ` to ${ROLE_NAMES[message.to] ?? message.to}` : "";
  const who = (ROLE_NAMES[message.sender] ?? message.sender) + whom;
  return h(
    "li",
    { class: `message ${message.sender}${message.step === now ? " new" : ""}` },
    time(message.step),
    h("span", h("strong", who), " ", h(message.action ? "span.did" : "span.said", message.text)),
  );
};

const traceItem = (marks, now) => (entry) =>
  h(
    entry.step === now && now > 0 ? "li.act.new" : "li.act",
    time(entry.step),
    h(
      "span",
      h("strong", entry.agent),
      tag(marks.get(entry.agent)),
      h(
        "span.mono.deed",
        ` ${entry.action} ${entry.target} `,
        h("b", `${entry.before} → ${entry.after}`),
      ),
      h("span.reason", ` ${entry.reason}`),
    ),
  );

const changed = ({ at, attribute, before, after }, where = "") =>
  `${clock(at)} ${attribute}${where}: ${before} → ${after}`;

function findingItem(found) {
  const head = found.acts
    ? `audit of ${found.agent}: may move ${found.limit_pct}% in one act`
    : `inspection of ${found.service}`;
  const rows = found.acts
    ? found.acts.map((act) => `${changed(act, ` of ${act.target}`)}, order ${act.order}`)
    : found.changes.map((change) => changed(change));
  const busy = (found.utilisation ?? []).map(([at, pct]) => `${clock(at)} ${pct}%`).join(", ");
  return h(
    "li.finding",
    time(found.step),
    h(
      "details",
      h("summary", h("strong", head), ` (${plural(rows.length, found.acts ? "act" : "change")})`),
      h("ul.mono", rows.map((row) => h("li", row)), busy !== "" && h("li", `busy: ${busy}`)),
    ),
  );
}

/** The probability that the policy gives to each agent being the rogue. */
export const suspicionItems = (suspicion, marks) =>
  Object.entries(suspicion)
    .sort((a, b) => b[1] - a[1])
    .map(([agent, p]) =>
      h(
        "li.suspect",
        h("span.who", agent, tag(marks.get(agent))),
        h("span.bar", { "--share": Math.max(0, Math.min(1, p)) }),
        h("span.share", `${(100 * p).toFixed(0)}%`),
      ),
    );
