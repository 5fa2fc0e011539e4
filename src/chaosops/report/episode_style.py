"""How the HTML page of an episode looks, by day and by night."""

STYLE = """\
:root {
  --page: #f6f5f1; --card: #ffffff; --ink: #1d2126; --soft: #626a73; --rule: #e2e0d8;
  --code: #f3f2ed; --caught: #5b3fd1; --false: #c22f3d; --wrong: #b3640a; --good: #1c7c4c;
  --late: #454c57; --cause: #22689c; --lost: #0e6f74; --on: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1c1f25; --ink: #e7e8ea; --soft: #9aa2ad; --rule: #30343c;
    --code: #14171c; --caught: #a692ff; --false: #ff7b84; --wrong: #f2a54a; --good: #57c88d;
    --late: #b4bbc6; --cause: #76b7e8; --lost: #63c2c4; --on: #14161a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 ui-sans-serif, system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
}
main { max-width: 880px; margin: 0 auto; padding: 40px 20px 64px; }
h1, h2, h3, p, dl, dd, ol { margin: 0; padding: 0; }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -0.02em; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 12px; }
h3 { font-size: 14px; margin-bottom: 6px; }
small { font-size: 13px; color: var(--soft); }
code, pre, .deed, .team { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.eyebrow { color: var(--soft); font-size: 14px; margin-bottom: 4px; }
.where { color: var(--soft); margin-top: 6px; }

.caught { --tone: var(--caught); }
.false { --tone: var(--false); }
.wrong { --tone: var(--wrong); }
.good { --tone: var(--good); }
.late { --tone: var(--late); }
.cause { --tone: var(--cause); }
.lost { --tone: var(--lost); }

.outcome {
  margin-top: 24px; background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  overflow: hidden;
}
.verdict {
  display: flex; flex-wrap: wrap; gap: 4px 24px; justify-content: space-between;
  align-items: baseline; padding: 16px 20px; background: var(--tone); color: var(--on);
}
.verdict strong { font-size: 22px; line-height: 1.25; }
.verdict b { font-size: 22px; font-variant-numeric: tabular-nums; }
.tiles {
  display: flex; flex-wrap: wrap; gap: 1px; background: var(--rule);
  border-bottom: 1px solid var(--rule);
}
.tile { flex: 1 1 140px; background: var(--card); padding: 14px 16px 14px 20px; min-width: 0; }
.tile span { display: block; font-size: 13px; color: var(--soft); }
.tile b { display: block; font-size: 20px; line-height: 1.3; color: var(--tone, var(--ink)); }
.tile small { overflow-wrap: anywhere; }
.rubrics { width: 100%; border-collapse: collapse; font-size: 14px; }
.rubrics caption { text-align: left; padding: 14px 20px 2px; color: var(--soft); font-size: 13px; }
.rubrics th { text-align: left; font-weight: 400; padding: 4px 12px 4px 20px; width: 1%; }
.rubrics td:last-child {
  text-align: right; padding: 4px 20px 4px 12px; width: 1%; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
.rubrics tr:last-child > * { padding-bottom: 16px; }
.bar { position: relative; padding: 0; }
.bar::after {
  content: ""; position: absolute; left: 50%; top: 0; bottom: 0;
  border-left: 1px solid var(--rule);
}
.bar i { position: relative; display: block; height: 10px; border-radius: 2px; }
.bar .plus { margin-left: 50%; background: var(--good); }
.bar .minus { margin-left: auto; margin-right: 50%; background: var(--false); }

.range { font-size: 14px; color: var(--soft); margin: -8px 0 8px; }
.course svg { display: block; width: 100%; height: auto; overflow: visible; }
.course line { stroke: var(--rule); stroke-width: 2; }
.course polyline { fill: none; stroke: var(--soft); stroke-width: 3; stroke-linejoin: round; }
.course circle { fill: var(--tone); stroke: var(--page); stroke-width: 2; }
.strip { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 12px; }
.strip a {
  flex: 0 0 30px; height: 30px; line-height: 28px; text-align: center; text-decoration: none;
  font-size: 13px; font-variant-numeric: tabular-nums; border-radius: 6px; color: var(--soft);
  background: var(--card); border: 1px solid var(--rule);
}
.strip a[class]:not([class=""]) {
  background: var(--tone); border-color: var(--tone); color: var(--on); font-weight: 600;
}
.strip a:hover, .strip a:focus-visible, summary:focus-visible { outline: 2px solid var(--ink); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 10px; font-size: 13px; }
.legend span { color: var(--soft); }
.legend span::before {
  content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  background: var(--tone); margin-right: 6px;
}

.team { font-size: 14px; overflow-wrap: anywhere; margin-bottom: 12px; }
.players article { border-top: 1px solid var(--rule); padding: 10px 0; }
.players dl { display: flex; flex-wrap: wrap; gap: 2px 20px; font-size: 14px; }
.players dt, .players dd { display: inline; overflow-wrap: anywhere; }
.players dt { color: var(--soft); }

.turns { list-style: none; }
.turns > li {
  display: grid; grid-template-columns: 24px 92px minmax(0, 1fr) auto; gap: 0 12px;
  background: var(--card); border: 1px solid var(--rule);
  border-left: 4px solid var(--tone, var(--rule));
  border-radius: 8px; padding: 10px 16px 10px 12px; margin-bottom: 6px; scroll-margin-top: 12px;
}
.turns > li:target { outline: 2px solid var(--ink); outline-offset: 2px; }
.turns > li.quiet {
  background: none; border-color: transparent; padding-block: 2px; color: var(--soft);
}
.step { color: var(--soft); font-variant-numeric: tabular-nums; }
.who { font-weight: 600; }
.quiet .who { font-weight: 400; }
.deed { font-size: 15px; line-height: 24px; overflow-wrap: anywhere; white-space: pre-wrap; }
.deed.communicate { font-family: inherit; font-size: 16px; }
.deed.communicate::before { content: "\\201C"; }
.deed.communicate::after { content: "\\201D"; }
.deed.unreadable { color: var(--soft); font-style: italic; }
.answer {
  margin-top: 4px; font-size: 14px; color: var(--soft); overflow-wrap: anywhere;
}
.answer::before { content: "the world: "; }
.pills { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 6px; }
.pill {
  font-size: 13px; line-height: 20px; font-weight: 600; padding: 1px 10px; border-radius: 999px;
  color: var(--tone); border: 1px solid var(--tone);
}
.pill.false, .pill.wrong, .pill.good, .pill.late { background: var(--tone); color: var(--on); }
.pill.caught { display: none; }
.pay { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.pay b { display: block; font-weight: 600; line-height: 24px; }
.pay .plus { color: var(--good); }
.quiet .pay b { font-weight: 400; }
li.caught { border: 2px solid var(--caught); border-left-width: 4px; }
.banner {
  grid-column: 1 / -1; margin: -10px -16px 10px -12px; padding: 8px 16px;
  border-radius: 4px 4px 0 0;
  background: var(--caught); color: var(--on); font-size: 19px; line-height: 1.3;
  overflow-wrap: anywhere;
}
.suspicion { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 6px; font-size: 13px; }
.suspicion span { position: relative; padding-bottom: 4px; }
.suspicion i {
  position: absolute; left: 0; bottom: 0; height: 3px; border-radius: 2px;
  background: var(--caught);
}
.suspicion em { font-style: normal; }
.exchange { display: flex; flex-wrap: wrap; gap: 0 20px; margin-top: 2px; }
details { font-size: 14px; min-width: 0; }
details[open] { flex: 0 0 100%; }
summary { cursor: pointer; color: var(--cause); width: fit-content; border-radius: 4px; }
pre {
  margin: 6px 0 10px; padding: 10px 12px; background: var(--code); border: 1px solid var(--rule);
  border-radius: 6px; font-size: 13px; line-height: 1.5; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.speaker { margin-top: 8px; font-size: 13px; color: var(--soft); }
footer {
  margin-top: 40px; padding-top: 14px; border-top: 1px solid var(--rule); font-size: 13px;
  color: var(--soft); overflow-wrap: anywhere;
}
@media (max-width: 620px) {
  main { padding: 24px 14px 48px; }
  h1 { font-size: 27px; }
  .tile { flex-basis: 128px; padding: 12px 14px; }
  .verdict { padding: 14px; }
  .rubrics caption, .rubrics th { padding-left: 14px; }
  .rubrics td:last-child { padding-right: 14px; }
  .turns > li { grid-template-columns: 24px minmax(0, 1fr) auto; gap: 0 10px; padding-right: 12px; }
  .banner { margin-right: -12px; }
  .what { grid-column: 1 / -1; grid-row: 3; margin-top: 4px; }
  .quiet .what { grid-column: 2 / -1; }
  .pay { display: flex; gap: 10px; align-items: baseline; }
}
@media print {
  body { background: #fff; }
  .turns > li, .outcome { break-inside: avoid; }
}
"""
