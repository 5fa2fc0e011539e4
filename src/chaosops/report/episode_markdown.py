"""An episode as a Markdown page: its outcome, then turn by turn.

A model's words are in code spans and fences that are longer than any run of backticks in them, so
they cannot become markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from chaosops.core.decision import Exchange
from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.report.tables import by_roles
from chaosops.report.transcript import (
    count,
    outcome_words,
    resolution_words,
    rogue_words,
    scenario_line,
    steps_with,
)

_LOUD = ("rogue_flagged", "resolved", "false_flag", "unknown_flag", "wrong_fix", "out_of_time")


def episode_markdown(episode: Episode, manifest: Mapping[str, Any]) -> str:
    parts = [
        f"# Incident {code(episode.cause)}",
        scenario_line(episode.scenario),
        _verdict(episode),
        _outcome_table(episode, manifest),
        "## Who played",
        "\n".join(_player_lines(episode, manifest)),
        "## Turn by turn",
    ]
    so_far = accumulate(turn.score.total for turn in episode.turns)
    parts += [_turn_block(turn, total) for turn, total in zip(episode.turns, so_far, strict=True)]
    return "\n\n".join(parts) + "\n"


def code(text: str) -> str:
    """A code span, whatever the text holds.

    >>> print(code("a `b` c"), code("`"))
    `` a `b` c `` `` ` ``
    """
    flat = " ".join(printable(text).split()) or " "
    ticks = "`" * (_longest_run(flat) + 1)
    pad = " " if "`" in flat else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str) -> str:
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}text\n{printable(text)}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _cell(text: str) -> str:
    """In a table a pipe ends the cell, even in a code span."""
    return text.replace("|", "\\|")


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _verdict(episode: Episode) -> str:
    rogue = rogue_words(episode)
    if episode.rogue is not None:
        rogue = rogue.replace(episode.rogue, code(episode.rogue))
    words = f"{_sentence(resolution_words(episode))}. {_sentence(rogue)}."
    return f"**{words} Reward {episode.reward:+,.1f}.**"


def _outcome_table(episode: Episode, manifest: Mapping[str, Any]) -> str:
    rubrics = ", ".join(f"{name} {value:+,.1f}" for name, value in episode.rubric_totals.items())
    rows = [
        ("resolved", f"{'yes' if episode.resolved else '**no**'}, {count(episode.steps, 'step')}"),
        ("rogue caught", _caught(episode)),
        ("false flags", _mistakes(episode, episode.false_flags, "false_flag")),
        (
            "flags on unknown agents",
            _mistakes(episode, episode.unknown_flags, "unknown_flag"),
        ),
        ("wrong fixes", _mistakes(episode, episode.wrong_fixes, "wrong_fix")),
        ("reward", f"**{episode.reward:+,.1f}** = {rubrics}"),
    ]
    if episode.exchanges:
        rows += [
            ("tokens", f"{episode.tokens_read:,} read, {episode.tokens_written:,} written"),
            ("replies", f"{episode.unreadable_replies} unreadable, {episode.retries} asked again"),
        ]
    rows += [
        (label, code(str(manifest[name])))
        for name, label in _ORIGIN.items()
        if manifest.get(name) is not None
    ]
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {label} | {_cell(text)} |" for label, text in rows)]
    )


_ORIGIN = {
    "command": "command",
    "version": "ChaosOps",
    "commit": "commit",
    "pack_hash": "pack hash",
}


def _caught(episode: Episode) -> str:
    if episode.rogue is None:
        return "there was none"
    when = steps_with(episode, "rogue_flagged")
    fate = f"yes, step {when[0]}" if when else "**no**"
    return f"{fate} ({code(episode.rogue)})"


def _mistakes(episode: Episode, number: int, event: str) -> str:
    if not number:
        return "0"
    return f"**{number}** (step {', '.join(map(str, steps_with(episode, event)))})"


def _player_lines(episode: Episode, manifest: Mapping[str, Any]) -> list[str]:
    lines = [f"Team {code(episode.team)}", ""]
    for roles, status in by_roles(manifest.get("policy_status") or {}):
        facts = ", ".join(
            f"{name} {code(str(value))}" for name, value in status.items() if value is not None
        )
        lines.append(f"- {', '.join(roles)}: {facts or 'not recorded'}")
    return lines


def _turn_block(turn: Turn, so_far: float) -> str:
    line = f"**{turn.events.step} · {turn.role}** {code(str(turn.decision.action))}"
    facts = [f"{turn.score.total:+,.1f}, so far {so_far:+,.1f}"]
    if words := outcome_words(turn):
        loud = any(getattr(turn.events, name) for name in _LOUD)
        facts.insert(0, f"**{words}**" if loud else words)
    quoted = "> " if turn.events.rogue_flagged else ""  # set apart: what it is all about
    parts = [f"{quoted}{line}<br>\n{quoted}{' · '.join(facts)}"]
    if turn.events.miscommunication is not None:
        parts.append(f"> {code(turn.events.miscommunication)}")
    if turn.decision.exchange is not None:
        parts += _exchange_blocks(turn.decision.exchange)
    return "\n\n".join(parts)


def _exchange_blocks(exchange: Exchange) -> list[str]:
    again = f", {count(exchange.attempts, 'attempt')}" if exchange.attempts > 1 else ""
    parts = [f"<details><summary>Prompt, {count(exchange.tokens_read, 'token')}</summary>"]
    for message in exchange.prompt:
        parts += [f"{code(message.get('role', ''))}:", fence(message.get("content", ""))]
    reply = f"Reply, {count(exchange.tokens_written, 'token')}{again}"
    parts += ["</details>", f"<details><summary>{reply}</summary>", fence(exchange.reply)]
    return [*parts, "</details>"]
