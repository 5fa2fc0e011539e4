// Lists of what was said and done, newest first.

import { h, refill, clock, plural, ROLE_NAMES } from "./dom.js";

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
      h("h3", title, " ", this.count, hint ? h("span.hint", hint) : null),
      this.list,
    );
    new ResizeObserver(() => this.#updateFocus()).observe(this.list);
  }

  fill(items) {
    this.count.textContent = items.length ? String(items.length) : "";
    refill(this.list, items.length ? items : [h("li.none", this.empty)]);
    this.#updateFocus();
  }

  /** The keyboard stops at a list only if it can be scrolled. */
  #updateFocus() {
    this.list.tabIndex = this.list.scrollHeight > this.list.clientHeight + 1 ? 0 : -1;
  }
}

export const alertItems = (alerts) =>
  alerts.map((alert) =>
    h(
      "li",
      { class: `alert ${alert.severity}` },
      h("b", alert.severity),
      h("span", h("strong", alert.service), alert.text ? ` ${alert.text}` : ""),
    ),
  );

export const logItems = (logs) =>
  [...logs]
    .reverse()
    .map((entry) =>
      h(
        "li",
        { class: `log ${entry.level.toLowerCase()}` },
        time(entry.step),
        h("b", entry.level),
        h("span", h("strong", entry.service), ` ${entry.text}`),
      ),
    );

export const chatItems = (chat, now) =>
  [...chat].reverse().map((message) => {
    const talk = !message.action;
    const whom = message.to ? ` to ${ROLE_NAMES[message.to] ?? message.to}` : "";
    const who = (ROLE_NAMES[message.sender] ?? message.sender) + whom;
    const said = h("span", { class: talk ? "said" : "did" }, message.text);
    return h(
      "li",
      { class: `message ${message.sender}${message.step === now ? " new" : ""}` },
      time(message.step),
      h("span", h("strong", who), " ", said),
    );
  });

/** `marks` maps an agent to how it stands: flagged, cleared or proven. */
export const traceItems = (trace, marks, now) =>
  [...trace].reverse().map((entry) => {
    const mark = marks.get(entry.agent);
    return h(
      "li",
      { class: `act${entry.step === now && now > 0 ? " new" : ""}` },
      time(entry.step),
      h(
        "span",
        h("strong", entry.agent),
        mark ? h("em", { class: `tag ${mark.kind}` }, mark.words) : null,
        h(
          "span.mono.deed",
          ` ${entry.action} ${entry.target} `,
          h("b", `${entry.before} → ${entry.after}`),
        ),
        h("span.reason", ` ${entry.reason}`),
      ),
    );
  });

export const findingItems = (findings) =>
  [...findings].reverse().map((found) => {
    const isAudit = found.acts !== undefined;
    const head = isAudit
      ? `audit of ${found.agent}: may move ${found.limit_pct}% in one act`
      : `inspection of ${found.service}`;
    const rows = isAudit
      ? found.acts.map(
          (act) =>
            `${clock(act.at)} ${act.attribute} of ${act.target}: ${act.before} → ${act.after}, order ${act.order}`,
        )
      : found.changes.map(
          (change) => `${clock(change.at)} ${change.attribute}: ${change.before} → ${change.after}`,
        );
    const busy = found.utilisation?.length
      ? [`busy: ${found.utilisation.map(([at, pct]) => `${clock(at)} ${pct}%`).join(", ")}`]
      : [];
    return h(
      "li.finding",
      time(found.step),
      h(
        "details",
        h("summary", h("strong", head), ` (${plural(rows.length, isAudit ? "act" : "change")})`),
        h("ul.mono", [...rows, ...busy].map((row) => h("li", row))),
      ),
    );
  });

/** How likely each agent is the rogue, in the policy's own opinion. */
export const suspicionItems = (suspicion, marks) =>
  Object.entries(suspicion)
    .sort((a, b) => b[1] - a[1])
    .map(([agent, p]) => {
      const bar = h("span.bar");
      bar.style.setProperty("--share", String(Math.max(0, Math.min(1, p))));
      const mark = marks.get(agent);
      return h(
        "li.suspect",
        h("span.who", agent, mark ? h("em", { class: `tag ${mark.kind}` }, mark.words) : null),
        bar,
        h("span.share", `${(100 * p).toFixed(0)}%`),
      );
    });
