"""An episode as a Markdown page: its outcome, then turn by turn.

Text of models is in code spans and fences that are longer than any run of backticks in it, so it
cannot become markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.report.episode_html import rules_of
from chaosops.report.tables import by_roles
from chaosops.report.templating import templates
from chaosops.report.transcript import (
    count,
    outcome_words,
    resolution_words,
    rogue_words,
    scenario_line,
    steps_with,
)
from chaosops.report.wording import worded_episode
from chaosops.wire.ending import explanation

_LOUD = ("rogue_flagged", "resolved", "false_flag", "unknown_flag", "wrong_fix", "out_of_time")


def episode_markdown(episode: Episode, manifest: Mapping[str, Any]) -> str:
    episode = worded_episode(episode)
    environment = templates("chaosops.report", html=False)
    # In a table a pipe ends the cell, even in a code span.
    environment.filters |= {"cell": lambda text: text.replace("|", "\\|"), "outcome": _outcome}
    environment.filters |= {
        "code": code,
        "fence": fence,
        "count": count,
        "signed": "{:+,.1f}".format,
    }
    rogue, caught = rogue_words(episode), "there was none"
    if episode.rogue is not None:
        name, when = code(episode.rogue), steps_with(episode, "rogue_flagged")
        rogue = rogue.replace(episode.rogue, name)
        caught = f"{f'yes, step {when[0]}' if when else '**no**'} ({name})"
    sentences = (words[0].upper() + words[1:] for words in (resolution_words(episode), rogue))
    so_far = accumulate(turn.score.total for turn in episode.turns)
    text = environment.get_template("episode.md").render(
        episode=episode,
        manifest=manifest,
        where=scenario_line(episode.scenario),
        explanation=explanation(episode),
        rules=rules_of(episode),
        verdict=". ".join(sentences) + ".",
        caught=caught,
        steps_with=partial(steps_with, episode),
        players=by_roles(manifest.get("policy_status") or {}),
        turns=list(zip(episode.turns, so_far, strict=True)),
    )
    return text.rstrip() + "\n"


def code(value: object) -> str:
    """A code span, whatever the text holds.

    >>> print(code("a `b` c"), code("`"))
    `` a `b` c `` `` ` ``
    """
    flat = " ".join(printable(str(value)).split()) or " "
    ticks = "`" * (_longest_run(flat) + 1)
    pad = " " if "`" in flat else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str) -> str:
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}text\n{printable(text)}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _outcome(turn: Turn) -> str:
    words = outcome_words(turn)
    if any(getattr(turn.events, name) for name in _LOUD):
        words = f"**{words}**"
    return words and f"{words} · "
