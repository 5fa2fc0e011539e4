"""Draw frames in a terminal with Rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from chaosops.core.episode import Episode
from chaosops.core.telemetry import Message, ServiceReading
from chaosops.core.vocabulary import Health, Role
from chaosops.report.frames import FlagMoment, Frame
from chaosops.report.transcript import count, mistake_words, outcome_words, rogue_words
from chaosops.terminal.documents import document_lines, finding_lines

_HEALTH = {
    Health.HEALTHY: ("green", "● healthy"),
    Health.DEGRADED: ("yellow", "▲ degraded"),
    Health.CRITICAL: ("bold red", "■ critical"),
}
_ROLE_STYLE = {
    Role.SRE: "cyan",
    Role.OVERSIGHT: "magenta",
    Role.DEV: "blue",
    Role.MANAGER: "yellow",
}
_LEVEL_STYLE = {"error": "red", "warn": "yellow", "info": "dim", "page": "bold red"}
_FRAME_ROWS = 18  # without lists and services
SERVICE_ROWS = 6  # a large company shows its worst services only
_BARS = "▁▂▃▄▅▆▇█"


class Room(NamedTuple):
    """How many lines each list gets, so that a frame fits the terminal."""

    alerts: int
    logs: int
    trace: int
    chat: int
    compact: bool = False
    documents: int = 0
    looks: int = 0

    @classmethod
    def for_height(cls, height: int, services: int = 4, *, documents: bool = False) -> Room:
        rows = _FRAME_ROWS + min(services, SERVICE_ROWS)
        rooms = [cls(3, 7, 7, 7), cls(2, 5, 5, 5), cls(2, 3, 4, 3)]
        if documents:
            rows += 2  # titles
            rooms = [
                cls(3, 4, 7, 6, documents=10, looks=4),
                cls(2, 2, 5, 4, documents=6, looks=3),
                cls(1, 1, 3, 3, documents=3, looks=1),
            ]
        for room in rooms:
            if rows + sum(room) < height:
                return room
        return cls(1, 1, 2, 2, compact=True)


def sparkline(values: Sequence[float], top: float) -> str:
    """Draw values as bars. The fixed top keeps small changes small.

    >>> sparkline([0, 50, 100], 100)
    '▁▄█'
    """
    last = len(_BARS) - 1
    return "".join(_BARS[min(last, max(0, int(last * value / top)))] for value in values)


def draw(frames: Sequence[Frame], room: Room) -> RenderableType:
    """Draw episodes side by side, at any width."""
    grid = Table.grid(expand=True, padding=(0, 1))
    for _ in frames:
        grid.add_column(ratio=1)
    grid.add_row(*(_draw(frame, room) for frame in frames))
    return grid


def _draw(frame: Frame, room: Room) -> RenderableType:
    lists = [
        _section("alerts", _alerts(frame), room.alerts),
        _section("logs", _logs(frame), room.logs),
        _section("fleet trace (Oversight only)", _trace(frame), room.trace),
        _section("chat and actions", map(_chat_line, frame.chat), room.chat),
    ]
    if room.documents:
        looks = [line for found in frame.findings for line in finding_lines(found)]
        lists.append(_section("audits and inspections", looks, room.looks))
        documents = document_lines(frame)[: room.documents]
        lists.append(_section("documents that concern this", documents, room.documents))
    if room.compact:
        parts = [_headline(frame), _services(frame, None), *lists, _rewards(frame)]
    else:
        header = Panel(
            _headline(frame), title=Text(frame.title), title_align="left", box=box.ROUNDED
        )
        rewards = _section("reward by rubric", [_rewards(frame)], 1)
        parts = [header, _services(frame, box.SIMPLE), *lists, rewards]
    return Group(*parts, _moment(frame))


def _headline(frame: Frame) -> RenderableType:
    active = frame.turn.role if frame.turn is not None else frame.on_turn
    turn = Text(" → ").join(
        Text(role, style=f"reverse {_ROLE_STYLE[role]}" if role is active else "dim")
        for role in Role
    )
    grid = Table.grid(expand=True)
    grid.add_column()
    grid.add_column(justify="right")
    grid.add_row(Text(frame.team, style="bold"), Text(f"step {frame.step} of {frame.limit}"))
    grid.add_row(turn, Text(f"{frame.reward:+.1f}", style="bold " + _sign_style(frame.reward)))
    return grid


def _services(frame: Frame, frame_box: box.Box | None) -> RenderableType:
    table = Table(box=frame_box, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("service", "health"):
        table.add_column(name, no_wrap=True)
    for name in ("n", "cpu", "mem", "latency", "errors"):
        table.add_column(name, justify="right", no_wrap=True)
    for past in _shown(frame):
        reading = past[-1]
        style, word = _HEALTH[reading.health]
        latency = sparkline([one.latency_ms for one in past[-8:]], 1200)
        errors = sparkline([one.error_pct for one in past[-8:]], 60)
        table.add_row(
            Text(reading.service),
            Text(word, style=style),
            str(reading.replicas),
            f"{reading.cpu_pct}%",
            f"{reading.memory_mb}",
            Text.assemble((latency, style), f" {reading.latency_ms:>4}ms"),
            Text.assemble((errors, style), f" {reading.error_pct:>4.1f}%"),
        )
    return table


def _shown(frame: Frame) -> Sequence[Sequence[ServiceReading]]:
    """The readings of each service so far. Services are sorted by their worst error rate, so that
    rows seldom move."""
    services = list(zip(*frame.history, strict=True))
    if len(services) > SERVICE_ROWS:
        services.sort(key=lambda past: -max(reading.error_pct for reading in past))
    return services[:SERVICE_ROWS]


def _section(title: str, lines: Iterable[Text], rows: int) -> RenderableType:
    """The last lines of a list, in a fixed number of rows, so that the screen does not jump."""
    shown = list(lines)[-rows:]
    for line in shown:
        line.no_wrap, line.overflow = True, "ellipsis"
    padding = [Text(" ")] * (rows - len(shown))
    return Group(Text(title, style="bold underline"), *shown, *padding)


def _alerts(frame: Frame) -> list[Text]:
    return [
        Text.assemble((f"{a.severity:<5}", _LEVEL_STYLE[a.severity]), f"{a.service}: {a.text}")
        for a in frame.alerts
    ] or [Text("none firing", style="green")]


def _logs(frame: Frame) -> list[Text]:
    return [
        Text.assemble(
            (f"{line.step:+3d} {line.level:<6}", _LEVEL_STYLE[line.level.lower()]),
            f"{line.service}: {line.text}",
        )
        for line in frame.logs
    ]


def _trace(frame: Frame) -> list[Text]:
    """The latest acts; in a company with documents, those on the services in trouble."""
    flagged = {flag.agent: "bold green" if flag.caught else "bold red" for flag in frame.flags}
    return [
        Text.assemble(
            f"#{e.id} {e.step:+3d} " if frame.relevant.acts else f"{e.step:+3d} ",
            (e.agent, flagged.get(e.agent, "magenta")),
            f" {e.action} {e.target}: {e.before} → {e.after} ({e.reason})",
        )
        for e in frame.relevant.acts or frame.trace
    ]


def _chat_line(message: Message) -> Text:
    style = next((s for role, s in _ROLE_STYLE.items() if role == message.sender), "dim")
    whom = f" → {message.to}" if message.to else ""
    talk = message.is_talk
    return Text.assemble(
        f"{message.step:>3} ",
        (f"{message.sender}{whom}", style),
        ": " if talk else " ▸ ",
        (message.text.replace("\n", " "), "" if talk else "bold"),
    )


def _rewards(frame: Frame) -> Text:
    line = Text()
    for name in ("resolution", "mttr", "oversight", "cascade"):
        value = frame.rubrics.get(name, 0.0)
        line.append(f"{name} ")
        line.append(f"{value:+.0f}  ", style=_sign_style(value))
    return line


def _sign_style(value: float) -> str:
    return "green" if value > 0 else "red" if value < 0 else "dim"


def _moment(frame: Frame) -> RenderableType:
    """The most important line: the end, a flag, or the latest turn."""
    flag = frame.flag_now
    if frame.outcome is not None:
        return _final_card(frame.outcome, frame.flags)
    if flag is not None:
        return _flag_card(flag)
    if frame.turn is None:
        text = Text("The incident has begun.", style="dim")
    else:
        turn = frame.turn
        text = Text.assemble(
            (turn.role, _ROLE_STYLE[turn.role]),
            f" {turn.decision.action}  ".replace("\n", " "),
            (f"{turn.score.total:+.0f} ", _sign_style(turn.score.total)),
            (outcome_words(turn), "bold"),
        )
    text.no_wrap, text.overflow = True, "ellipsis"
    return Panel(text, box=box.ROUNDED, height=4)


def _flag_card(flag: FlagMoment) -> RenderableType:
    if flag.caught:
        style, verdict = "bold white on green", "and it is the rogue"
    elif flag.known:
        style, verdict = "bold white on red", "who is innocent: a false flag"
    else:
        style, verdict = "bold white on red", "no agent has this name: nobody is accused"
    return Panel(
        Text(
            f"OVERSIGHT FLAGS {flag.agent.upper()}\n{verdict}{flag.act and f' ({flag.act})'}",
            style=style,
            justify="center",
            overflow="ellipsis",
            no_wrap=True,
        ),
        box=box.HEAVY,
        style=style,
        height=4,
    )


def _final_card(episode: Episode, flags: Sequence[FlagMoment]) -> RenderableType:
    head = f"RESOLVED in {count(episode.steps, 'step')}" if episode.resolved else "NOT RESOLVED"
    when = next((f" at step {flag.step}" for flag in flags if flag.caught), "")
    body = (
        f"{head} · reward {episode.reward:+.0f} · it was {episode.cause}\n"
        f"{rogue_words(episode)}{when} · {mistake_words(episode)}"
    )
    style = "bold green" if episode.resolved else "bold red"
    return Panel(Text(body, style=style, overflow="fold"), box=box.HEAVY, style=style, height=4)
