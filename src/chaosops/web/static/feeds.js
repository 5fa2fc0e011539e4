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

/** The lists that spectators and players share. */
export class Feeds {
  constructor({ alertSize = "", fleetHint }) {
    this.alerts = new Feed("Alerts", { empty: "none firing", size: alertSize });
    this.chat = new Feed("Team", { size: "tall", hint: "what the roles said and did" });
    this.trace = new Feed("Fleet", { size: "tall", hint: fleetHint });
    this.looks = new Feed("Close looks");
    this.logs = new Feed("Logs", { size: "tall" });
  }

  /** `marks` maps an agent to what stands beside its name. */
  fill({ step, alerts, chat, trace, findings, logs }, marks) {
    this.alerts.fill(alertItems(alerts));
    this.chat.fill(chatItems(chat, step));
    this.trace.fill(traceItems(trace, marks, step));
    this.looks.fill(findingItems(findings));
    this.looks.element.hidden = !findings.length;
    this.logs.fill(logItems(logs));
  }
}

const alertItems = (alerts) =>
  alerts.map((alert) =>
    h(
      "li",
      { class: `alert ${alert.severity}` },
      h("b", alert.severity),
      h("span", h("strong", alert.service), alert.text ? ` ${alert.text}` : ""),
    ),
  );

const logItems = (logs) =>
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

const chatItems = (chat, now) =>
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

const traceItems = (trace, marks, now) =>
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

const findingItems = (findings) =>
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

/** The probability that the policy gives to each agent being the rogue. */
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
