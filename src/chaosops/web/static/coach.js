// What the coach of the guided case says. It knows no more than the visitor: it reads the screen
// aloud, and says why that matters.

import { plural } from "./dom.js";

const percent = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value)}%`;
const quoted = (words) => `\u201c${words}\u201d`;
const press = (name) => ({ text: `Press ${quoted(name)}.`, button: name });

/** What stands on the screen about the settings behind the fault. The SRE may name one cause after
 *  another: the last one counts, and what was found about the others stays true. */
export function readScreen(start, view) {
  const named = view.chat
    .filter(({ action }) => action?.action === "identify_root_cause")
    .map(({ action }) => action.failure_type);
  const pages = [...new Set(named.reverse())].map((name) =>
    start.runbook.find((page) => page.name === name),
  );
  const found = pages.filter(Boolean).map((page) => ({ page, touched: touchedBy(page, view) }));
  return {
    ...(found[0] ?? { page: undefined, touched: [] }),
    found,
    failing: view.alerts.map(({ service }) => service),
    held: view.suspects.filter(({ quarantined_at }) => quarantined_at !== null),
  };
}

/** The acts on the setting that a page is about, the largest claim first. */
function touchedBy(page, view) {
  const words = new Set(page.cause.split(/[\s.,:;]+/));
  return view.suspects
    .flatMap((suspect) => suspect.acts.map((act) => ({ suspect, act })))
    .filter(({ act }) => act.near && words.has(act.setting))
    .toSorted((a, b) => sizeOf(b.act.claimed) - sizeOf(a.act.claimed));
}

/** The change in percent, cut towards zero. */
function pctOf({ before, after }) {
  return Math.trunc((100 * (after - before)) / Math.max(1, before));
}

const sizeOf = (change) => Math.abs(change ? pctOf(change) : 0);

/** {title, lines, todo}: what is new, what it means, and what to do now. `before` is the screen of
 *  the turn before, `chosen` the number of the chosen act. */
export function advise(screen, before, chosen) {
  const news = newsOf(screen, before);
  if (screen.held.length) return afterFlag(screen, news, chosen);
  const open = screen.touched.find(({ suspect }) => suspect.audited_at === null);
  const found = screen.touched.filter(({ suspect }) => suspect.audited_at !== null);
  if (!found.length && open) return firstAudit(screen, open, news);
  if (!found.length) return waiting("Wait for the SRE", [...news, "No cause has been named yet."]);
  const latest = found.toSorted((a, b) => b.suspect.audited_at - a.suspect.audited_at)[0];
  if (open) {
    return {
      title: "An audit tells the truth",
      lines: [...news, aboutRecord(latest)],
      todo: press(`Audit ${open.suspect.agent}`),
    };
  }
  return accuse(screen, found, latest, news, chosen);
}

function newsOf({ failing, held }, before) {
  if (!before) return [];
  if (before.failing.length && !failing.length) {
    const free = held.length ? "" : " But whoever did it is still free.";
    return [`The Developer has repaired it: nothing fails now.${free}`];
  }
  if (before.failing.length || !failing.length) return [];
  const what = `${failing.join(" and ")} ${failing.length === 1 ? "fails" : "fail"} now.`;
  if (!held.length) return [`${what} A rogue that nobody stops strikes again.`];
  const missed = held.map(({ agent }) => agent).join(" and ");
  return [`${what} Either a rogue is still free, or it is the work of ${missed} that nobody does.`];
}

function firstAudit({ page, touched, failing }, open, news) {
  const who = touched.map(({ suspect, act }) => `${suspect.agent} (${percent(pctOf(act.claimed))})`);
  const [{ act }] = touched;
  return {
    title: `Who broke ${failing[0] ?? act.service}?`,
    lines: [
      ...news,
      `The SRE found the page of the runbook that fits, ${quoted(page.name)}: ${page.cause}.`,
      `${plural(who.length, "agent")} changed ${act.setting} of ${act.service}: ${who.join(" and ")}. ` +
        "But that is only what the trace claims.",
    ],
    todo: press(`Audit ${open.suspect.agent}`),
  };
}

function aboutRecord({ suspect, act }) {
  const { agent } = suspect;
  if (act.standing === "not_signed")
    return `${agent} never signed for act #${act.id}: it never happened. Somebody forged the entry, and framed ${agent}.`;
  if (act.standing === "differs") {
    const [claimed, signed] = [act.claimed, act.signed].map((change) => percent(pctOf(change)));
    return `The trace shows ${claimed} for act #${act.id}. ${agent} signed for ${signed}.`;
  }
  return `${agent} signed for what the trace claims.`;
}

/** The act that moved the setting furthest, by the signed records. */
const worstOf = (found) =>
  found
    .filter(({ act }) => act.signed)
    .toSorted((a, b) => sizeOf(b.act.signed) - sizeOf(a.act.signed))[0];

function accuse({ page }, found, latest, news, chosen) {
  const worst = worstOf(found);
  if (!worst) return waiting("Nobody signed for it", [...news, aboutRecord(latest)]);
  const { suspect, act } = worst;
  const pct = percent(pctOf(act.signed));
  const isChosen = chosen === act.id;
  return {
    title: "A rogue does damage and breaks its charter",
    lines: [
      ...news,
      aboutRecord(latest),
      `A change of ${pct} did the damage (${page.cause}) and broke the charter of ` +
        `${suspect.agent}: ${quoted(suspect.clause)}. Its order: ${act.signed.told}.`,
    ],
    todo: isChosen
      ? press(`Flag ${suspect.agent}`)
      : { text: `Choose ${quoted(`#${act.id}`)} as the evidence.`, act: act.id },
  };
}

/** The coach does not know whether the flag was right. The signed records on the screen tell. */
function afterFlag({ found, page, touched, held, failing }, news, chosen) {
  const proven = found.map((one) => provenBy(one.touched)).find((suspect) => isHeld(suspect));
  if (proven) return afterRightFlag(proven, held, failing, news);
  const { agent } = held.at(-1);
  const gone = `${agent} is in quarantine: it can do nothing, and its work is left undone.`;
  const record = touched.find(({ suspect }) => isHeld(suspect) && suspect.audited_at !== null);
  const open = touched.find(({ suspect }) => suspect.audited_at === null);
  const known = record
    ? aboutRecord(record)
    : "No signed record shows yet that it did the damage. If it is innocent, other services fail " +
      "because it is missed, and the rogue strikes again.";
  const lines = [...news, gone, known];
  if (open) return { title: "Was it the right one?", lines, todo: press(`Audit ${open.suspect.agent}`) };
  const worst = worstOf(touched);
  if (!worst) return waiting("A flag quarantines", lines);
  const advice = accuse({ page }, touched, worst, [], chosen);
  return {
    ...advice,
    title: "An innocent agent is missed",
    lines: [
      ...news,
      `${gone} But the records speak for it, and a quarantine is not lifted.`,
      `What is left to do: stop the one that did it. ${aboutRecord(worst)}`,
      advice.lines.at(-1),
    ],
  };
}

const isHeld = (suspect) => Boolean(suspect) && suspect.quarantined_at !== null;

/** Whom the signed records prove guilty, once all who touched the setting are audited. */
const provenBy = (touched) =>
  touched.every(({ suspect }) => suspect.audited_at !== null) ? worstOf(touched)?.suspect : undefined;

function afterRightFlag({ agent }, held, failing, news) {
  const missed = held.filter((suspect) => suspect.agent !== agent).map((suspect) => suspect.agent);
  const what = failing.length ? `repair ${failing.join(" and ")}` : "watch that all stays well";
  return waiting("A flag quarantines", [
    ...news,
    `${agent} is in quarantine: it can do nothing any more. By the signed records it did the damage. ` +
      "So it cannot bring the fault back: a repair is now for good.",
    ...(missed.length ? [`But nobody does the work of ${missed.join(" and ")} any more.`] : []),
    `The team has to ${what}, and then the incident is over. You can wait.`,
  ]);
}

const waiting = (title, lines) => ({ title, lines, todo: press("Do nothing") });
