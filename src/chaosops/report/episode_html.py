"""An episode as one HTML page: no script, nothing from elsewhere, readable on a phone.

Whatever a model wrote is escaped, and the page forbids scripts and downloads besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from chaosops.core.decision import Decision, Exchange
from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.core.vocabulary import Role
from chaosops.report.episode_style import STYLE
from chaosops.report.tables import by_seat
from chaosops.report.transcript import count, scenario_line, steps_with

_SUSPECTS = 3
_ROLE_NAMES = {
    Role.SRE: "SRE",
    Role.OVERSIGHT: "Oversight",
    Role.DEV: "Developer",
    Role.MANAGER: "Manager",
}
# What a turn is remembered for, the weightiest first: event, style, words.
_EVENTS = (
    ("rogue_flagged", "caught", "Rogue caught"),
    ("false_flag", "false", "False flag"),
    ("unknown_flag", "lost", "Flag on an unknown agent"),
    ("wrong_fix", "wrong", "Wrong fix"),
    ("second_order", "wrong", "Second-order failure"),
    ("resolved", "good", "Incident resolved"),
    ("out_of_time", "late", "Out of time"),
    ("cause_named", "cause", "Right cause"),
    ("miscommunication", "lost", "Miscommunication"),
)
_LEGEND = {
    "caught": "rogue caught",
    "false": "false flag",
    "wrong": "wrong fix",
    "good": "resolved",
    "late": "out of time",
    "cause": "right cause",
    "lost": "miscommunication or flag on an unknown agent",
}


def episode_html(episode: Episode, manifest: Mapping[str, Any]) -> str:
    so_far = list(accumulate(turn.score.total for turn in episode.turns))
    turns = "\n".join(_turn(turn, at) for turn, at in zip(episode.turns, so_far, strict=True))
    title = f"{episode.cause} · {scenario_line(episode.scenario)}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{_text(title)}</title>
<style>
{STYLE}</style>
</head>
<body>
<main>
{_header(episode)}
{_outcome(episode)}
{_course(episode, so_far)}
{_players(episode, manifest)}
<h2>Turn by turn</h2>
<ol class="turns">
{turns}
</ol>
{_origin(manifest)}
</main>
</body>
</html>
"""


def _text(value: object) -> str:
    return escape(printable(str(value)))


def _signed(value: float) -> str:
    return f"{value:+,.1f}".replace("-", "\N{MINUS SIGN}")


def _header(episode: Episode) -> str:
    return f"""<header>
<p class="eyebrow">Incident transcript</p>
<h1>{_text(episode.cause)}</h1>
<p class="where">{_text(scenario_line(episode.scenario))}</p>
</header>"""


def _outcome(episode: Episode) -> str:
    steps = count(episode.steps, "step")
    verdict = f"Resolved in {steps}" if episode.resolved else f"Not resolved after {steps}"
    tiles = [
        _rogue_tile(episode),
        _mistake_tile("False flags", "false", steps_with(episode, "false_flag")),
        _mistake_tile("Wrong fixes", "wrong", steps_with(episode, "wrong_fix")),
    ]
    if episode.unknown_flags:
        when = steps_with(episode, "unknown_flag")
        tiles.append(_mistake_tile("Flags on unknown agents", "lost", when))
    if episode.exchanges:
        tokens = f"{episode.tokens_read:,} read · {episode.tokens_written:,} written"
        asked = f"{episode.retries} asked again"
        tiles += [
            _tile(
                "Unreadable replies",
                str(episode.unreadable_replies),
                asked,
                "lost" if episode.unreadable_replies else "",
            ),
            _tile("Tokens", f"{episode.tokens_read + episode.tokens_written:,}", tokens),
        ]
    tone = "good" if episode.resolved else "late"
    return f"""<section class="outcome">
<div class="verdict {tone}"><strong>{verdict}</strong>
<span>reward <b>{_signed(episode.reward)}</b></span></div>
<div class="tiles">{"".join(tiles)}</div>
{_rubrics(episode.rubric_totals)}
</section>"""


def _tile(label: str, value: str, note: str, style: str = "") -> str:
    return (
        f'<div class="tile {style}"><span>{_text(label)}</span><b>{_text(value)}</b>'
        f"<small>{_text(note)}</small></div>"
    )


def _rogue_tile(episode: Episode) -> str:
    if episode.rogue is None:
        return _tile("Rogue", "none", "nobody to catch")
    when = steps_with(episode, "rogue_flagged")
    if when:
        return _tile("Rogue", "caught", f"{episode.rogue}, step {when[0]}", "caught")
    return _tile("Rogue", "not caught", episode.rogue, "false")


def _mistake_tile(label: str, style: str, steps: Sequence[int]) -> str:
    if not steps:
        return _tile(label, "0", "none")
    where = ", ".join(map(str, steps[:6])) + (", …" if len(steps) > 6 else "")
    return _tile(label, str(len(steps)), f"step {where}", style)


def _rubrics(totals: Mapping[str, float]) -> str:
    """Each rubric's share of the reward as a bar to the left or right of zero."""
    largest = max(map(abs, totals.values()), default=0.0) or 1.0
    rows = []
    for name, value in totals.items():
        side = "minus" if value < 0 else "plus"
        width = 50 * abs(value) / largest
        rows.append(
            f"<tr><th scope=row>{_text(name)}</th>"
            f'<td class="bar"><i class="{side}" style="width:{width:.1f}%"></i></td>'
            f"<td>{_signed(value)}</td></tr>"
        )
    return f'<table class="rubrics"><caption>Reward by rubric</caption>{"".join(rows)}</table>'


def _kinds(turn: Turn) -> list[tuple[str, str]]:
    return [
        (style, words)
        for event, style, words in _EVENTS
        if getattr(turn.events, event) not in (False, None)
    ]


def _course(episode: Episode, so_far: Sequence[float]) -> str:
    """The reward so far as a line, and every turn as a coloured link below it."""
    seen: set[str] = set()
    links = []
    for turn in episode.turns:
        kinds = _kinds(turn)
        style, words = kinds[0] if kinds else ("", "")
        seen.add(style)
        hint = f"{turn.events.step} {_ROLE_NAMES[turn.role]}: {words or turn.decision.action}"
        links.append(
            f'<a class="{style}" href="#turn-{turn.events.step}" title="{_text(hint)}">'
            f"{turn.events.step}</a>"
        )
    legend = "".join(
        f'<span class="{style}">{words}</span>' for style, words in _LEGEND.items() if style in seen
    )
    return f"""<section class="course" aria-label="Course of the episode">
<h2>Reward so far</h2>
<p class="range">{_range(so_far)}</p>
{_line(so_far, [_kinds(turn) for turn in episode.turns])}
<nav class="strip" aria-label="Turns">{"".join(links)}</nav>
<p class="legend">{legend}</p>
</section>"""


def _range(so_far: Sequence[float]) -> str:
    worst, last = min(0.0, *so_far), so_far[-1]
    below = f", at worst {_signed(worst)}" if worst < min(0.0, last) else ""
    return f"from 0 to {_signed(last)}{below}"


def _line(so_far: Sequence[float], kinds: Sequence[Sequence[tuple[str, str]]]) -> str:
    width, height, edge = 800.0, 120.0, 10.0
    low, high = min(0.0, *so_far), max(0.0, *so_far)
    scale = (height - 2 * edge) / ((high - low) or 1.0)
    gap = (width - 2 * edge) / max(len(so_far), 1)

    def at(number: int, value: float) -> tuple[float, float]:
        return edge + gap * number, height - edge - (value - low) * scale

    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(i, v) for i, v in enumerate([0, *so_far])))
    dots = ""
    for i, (value, kind) in enumerate(zip(so_far, kinds, strict=True), 1):
        if kind:
            x, y = at(i, value)
            dots += f'<circle class="{kind[0][0]}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
    _, zero = at(0, 0.0)
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="reward so far, ending at {so_far[-1]:+.1f}">'
        f'<line x1="0" x2="{width:.0f}" y1="{zero:.1f}" y2="{zero:.1f}"/>'
        f'<polyline points="{path}"/>{dots}</svg>'
    )


def _players(episode: Episode, manifest: Mapping[str, Any]) -> str:
    groups = []
    for roles, status in by_seat(manifest.get("policy_status") or {}):
        who = "All four roles" if len(roles) == len(Role) else ", ".join(map(_role_name, roles))
        facts = "".join(
            f"<div><dt>{_text(name.replace('_', ' '))}</dt> <dd>{_text(value)}</dd></div>"
            for name, value in status.items()
            if value is not None
        )
        groups.append(f"<article><h3>{who}</h3><dl>{facts}</dl></article>")
    return f"""<section class="players">
<h2>Who played</h2>
<p class="team">{_text(episode.team).replace(",", ",<wbr>")}</p>
{"".join(groups)}
</section>"""


def _role_name(role: Role) -> str:
    return _ROLE_NAMES[role]


def _turn(turn: Turn, so_far: float) -> str:
    action, events = turn.decision.action, turn.events
    kinds = _kinds(turn)
    pills = "".join(f'<span class="pill {style}">{words}</span>' for style, words in kinds)
    classes = " ".join(dict.fromkeys([*(style for style, _ in kinds), f"role-{turn.role}"]))
    quiet = " quiet" if action.verb == "noop" and not kinds else ""
    deed = f'<p class="deed {action.verb}">{_text(action)}</p>'
    answer = ""
    if events.miscommunication is not None:
        answer = f'<p class="answer">{_text(events.miscommunication)}</p>'
    banner = ""
    if events.rogue_flagged:
        target = getattr(action, "target", "")
        banner = f'<p class="banner">Rogue caught: <b>{_text(target)}</b></p>'
    exchange = turn.decision.exchange
    sign = "minus" if turn.score.total < 0 else "plus"
    return f"""<li id="turn-{events.step}" class="{classes}{quiet}">{banner}
<div class="step">{events.step}</div>
<div class="who">{_ROLE_NAMES[turn.role]}</div>
<div class="what">{deed}{answer}{f'<p class="pills">{pills}</p>' if pills else ""}
{_suspicion(turn.decision)}{_exchange(exchange) if exchange else ""}</div>
<div class="pay"><b class="{sign}">{_signed(turn.score.total)}</b>
<small>so far {_signed(so_far)}</small></div>
</li>"""


def _suspicion(decision: Decision) -> str:
    """The most suspected agents; nothing where nobody is suspected at all."""
    ranked = sorted((decision.suspicion or {}).items(), key=lambda item: (-item[1], item[0]))
    shown = [(agent, value) for agent, value in ranked[:_SUSPECTS] if value > 0]
    if not shown:
        return ""
    bars = "".join(
        f'<span><i style="width:{min(100 * value, 100):.0f}%"></i>'
        f"<em>{_text(agent)}</em> {value:.0%}</span>"
        for agent, value in shown
    )
    return f'<p class="suspicion"><small>suspects</small>{bars}</p>'


def _exchange(exchange: Exchange) -> str:
    attempts = f" · {count(exchange.attempts, 'attempt')}" if exchange.attempts > 1 else ""
    messages = _messages((m.get("role", ""), m.get("content", "")) for m in exchange.prompt)
    return f"""<div class="exchange">
<details><summary>Prompt <small>{exchange.tokens_read:,} tokens</small></summary>
{messages}</details>
<details><summary>Reply <small>{exchange.tokens_written:,} tokens{attempts}</small></summary>
<pre>{_text(exchange.reply)}</pre></details>
</div>"""


def _messages(messages: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f'<p class="speaker">{_text(role)}</p><pre>{_text(content)}</pre>'
        for role, content in messages
    )


def _origin(manifest: Mapping[str, Any]) -> str:
    facts = [f"<code>{_text(manifest['command'])}</code>"] if manifest.get("command") else []
    named = {"version": "ChaosOps", "commit": "commit", "pack_hash": "pack"}
    facts += [
        f"{label} {_text(manifest[name])}"
        for name, label in named.items()
        if manifest.get(name) is not None
    ]
    return f"<footer>{'<br>'.join(facts)}</footer>"
