// Lists of what was said and done, newest first.

import { h, s, clock, plural, tag, ROLE_NAMES } from "./dom.js";

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
    this.at = 0;
    this.list.addEventListener("scroll", () => (this.at = this.list.scrollTop));
    new ResizeObserver(() => this.#updateFocus()).observe(this.list);
  }

  /** Reads no sizes: with a dozen lists, each read would lay out the whole page again. */
  fill(items) {
    const { at } = this;
    this.count.textContent = items.length ? String(items.length) : "";
    this.list.replaceChildren(...(items.length ? items : [h("li.none", this.empty)]));
    if (at) this.list.scrollTop = at;
    requestAnimationFrame(() => this.#updateFocus());
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
    this.near = new Feed("Acts on the services in trouble", { size: "whole" });
    this.trace = new Feed("Fleet", { size: "tall", hint: fleetHint });
    this.looks = new Feed("Close looks");
    this.logs = new Feed("Logs", { size: "tall" });
  }

  /** `marks` maps an agent to the tag beside its name. */
  fill({ step, alerts, chat, trace, findings, logs, relevant, flags = [] }, marks) {
    this.alerts.fill(alerts.map(alertItem));
    this.chat.fill(newestFirst(chat, chatItem(step, flags)));
    const near = relevant.acts.map((id) => trace.find((entry) => entry.id === id));
    this.near.fill(near.filter(Boolean).map(traceItem(marks, step)));
    this.near.element.hidden = !near.length;
    this.trace.fill(newestFirst(trace, traceItem(marks, step)));
    this.looks.fill(newestFirst(findings, findingItem));
    this.looks.element.hidden = !findings.length;
    this.logs.fill(newestFirst(logs, logItem));
  }
}

const newestFirst = (entries, item) => entries.map(item).reverse();

const alertItem = ({ severity, service, text }) =>
  h(`li.alert.${severity}`, h("b", severity), h("span", h("strong", service), ` ${text}`));

const logItem = ({ step, level, service, text }) =>
  h(
    `li.log.${level.toLowerCase()}`,
    time(step),
    h("b", level),
    h("span", h("strong", service), ` ${text}`),
  );

/** `flags` have their verdicts; players learn them at the end. */
const chatItem = (now, flags) => (message) => {
  const whom = message.to ? ` to ${ROLE_NAMES[message.to] ?? message.to}` : "";
  const who = (ROLE_NAMES[message.sender] ?? message.sender) + whom;
  const verb = message.action?.action;
  const flag = verb === "flag_rogue" && flags.find(({ step }) => step === message.step);
  const verdict = flag ? (flag.caught ? "right" : "false") : "";
  const kinds = [message.sender, verb === "flag_rogue" ? `flags ${verdict}` : ""];
  if (message.step === now) kinds.push("new");
  return h(
    "li",
    { class: `message ${kinds.join(" ")}` },
    time(message.step),
    verb === "flag_rogue" && flagIcon(),
    ["audit", "inspect"].includes(verb) && lookIcon(),
    h(
      "span",
      h("strong", who),
      " ",
      h(message.action ? "span.did" : "span.said", spoken(message, verb)),
      flag && tag({ kind: verdict, words: flag.caught ? "right" : "false flag" }),
    ),
  );
};

const spoken = ({ text, action }, verb) => {
  if (verb === "flag_rogue") return `accuses ${action.target}`;
  return verb === "audit" ? `audits ${action.target}` : text;
};

const icon = (kind, shape) => s(`svg.icon-${kind}`, { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape);
const flagIcon = () => icon("flag", s("path", { d: "M3 15V1h10l-2.5 4L13 9H5v6z" }));
const lookIcon = () => icon("look", s("path", { d: "M11 6.5a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0zM10 10l4.5 4.5" }));

const traceItem = (marks, now) => (entry) =>
  h(
    entry.step === now && now > 0 ? "li.act.new" : "li.act",
    time(entry.step),
    h(
      "span",
      // Entries without a number have 0.
      entry.id > 0 && h("span.number", `#${entry.id} `),
      h("strong", entry.agent),
      tag(marks.get(entry.agent)),
      h("span.mono.deed", ` ${entry.action} ${entry.target} `, h("b", changed(entry))),
      h("span.reason", ` ${entry.reason}`),
    ),
  );

/** `68 → 87 (+27%)`; what is not a number has no percentage. */
export function changed({ before, after }) {
  const [old, now] = [Number(before), Number(after)];
  if (Number.isNaN(old) || Number.isNaN(now)) return `${before} → ${after}`;
  const pct = Math.trunc((100 * (now - old)) / Math.max(1, old));
  return `${before} → ${after} (${pct < 0 ? "\u2212" : "+"}${Math.abs(pct)}%)`;
}

function findingItem(found) {
  const isAudit = Boolean(found.acts);
  const limit = found.limit_pct === null ? "" : `: may move ${found.limit_pct}% in one act`;
  const head = isAudit ? `audit of ${found.agent}${limit}` : `inspection of ${found.service}`;
  const rows = (found.acts ?? found.changes).map(isAudit ? auditedAct : changeWith(found));
  const inRows = new Set((found.changes ?? []).map(({ at }) => at));
  const busy = (found.utilisation ?? [])
    .filter(([at]) => !inRows.has(at))
    .map(([at, pct]) => `${clock(at)} ${pct}%`);
  return h(
    "li.finding",
    time(found.step),
    h(
      "details",
      { open: true },
      h("summary", h("strong", head), ` (${plural(rows.length, isAudit ? "act" : "change")})`),
      h("ul.mono", rows, busy.length > 0 && h("li", `busy: ${busy.join(", ")}`)),
    ),
  );
}

const auditedAct = (act) =>
  h(
    "li",
    `${clock(act.at)} ${act.attribute} of ${act.target}: ${changed(act)}, `,
    h("span.order", `order: ${act.order}`),
  );

function changeWith({ utilisation }) {
  const busy = new Map(utilisation);
  return (change) => {
    const load = busy.has(change.at) ? `, utilisation ${busy.get(change.at)}%` : "";
    return h("li", `${clock(change.at)} ${change.attribute}: ${changed(change)}${load}`);
  };
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
