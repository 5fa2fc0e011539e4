"""An episode as one HTML page: no script, no other files, readable on a phone.

Models write much of the text. It is escaped, and the page's policy forbids scripts and downloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.events import EVENT_WORDS
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import ROLE_NAMES, Role
from chaosops.env import Env
from chaosops.report.tables import by_roles
from chaosops.report.templating import templates
from chaosops.report.transcript import count, scenario_line, steps_with
from chaosops.report.wording import worded_episode
from chaosops.wire.ending import explanation

_SUSPECTS = 3
# The most important event first: it gives a turn its colour.
_STYLES = {
    "rogue_flagged": "caught",
    "false_flag": "false",
    "unknown_flag": "lost",
    "wrong_fix": "wrong",
    "second_order": "wrong",
    "resolved": "good",
    "out_of_time": "late",
    "cause_named": "cause",
    "miscommunication": "lost",
}


def episode_html(episode: Episode, manifest: Mapping[str, Any]) -> str:
    episode = worded_episode(episode)
    environment = templates("chaosops.report")
    environment.filters |= {
        "signed": lambda value: f"{value:+,.1f}".replace("-", "\N{MINUS SIGN}"),
        "sign": lambda value: "minus" if value < 0 else "plus",
        "count": count,
    }
    so_far = list(accumulate(turn.score.total for turn in episode.turns))
    rubrics = map(abs, episode.rubric_totals.values())
    return environment.get_template("episode.html").render(
        episode=episode,
        manifest=manifest,
        where=scenario_line(episode.scenario),
        explanation=explanation(episode),
        rules=rules_of(episode),
        steps_with=partial(steps_with, episode),
        largest_rubric=max(rubrics, default=0.0) or 1.0,
        curve=_curve(so_far),
        turns=[_turn(turn, total) for turn, total in zip(episode.turns, so_far, strict=True)],
        kinds=[(style, EVENT_WORDS[event].capitalize()) for event, style in _STYLES.items()],
        players=[
            (_role_names(roles), status)
            for roles, status in by_roles(manifest.get("policy_status") or {})
        ],
    )


def rules_of(episode: Episode) -> Rulebook:
    """With the documents of its company."""
    return Env.again(episode).world.public.rules


def _role_names(roles: Sequence[Role]) -> str:
    if len(roles) == len(Role):
        return "All four roles"
    return ", ".join(ROLE_NAMES[role] for role in roles)


def _curve(so_far: Sequence[float]) -> dict[str, Any]:
    """The reward so far as a line from 0, in the coordinates of its picture."""
    width, height, edge = 800, 120, 10
    low, high = min(0.0, *so_far), max(0.0, *so_far)
    scale = (height - 2 * edge) / ((high - low) or 1.0)
    gap = (width - 2 * edge) / len(so_far)

    def y(value: float) -> float:
        return round(height - edge - (value - low) * scale, 1)

    points = [(round(edge + gap * i, 1), y(value)) for i, value in enumerate([0.0, *so_far])]
    return {"width": width, "height": height, "low": low, "zero": y(0.0), "points": points}


def _turn(turn: Turn, so_far: float) -> dict[str, Any]:
    kinds = [
        (style, EVENT_WORDS[event].capitalize())
        for event, style in _STYLES.items()
        if getattr(turn.events, event) not in (False, None)
    ]
    styles = [style for style, _ in kinds]
    is_quiet = turn.decision.action.verb == "noop" and not kinds
    classes = [*styles, f"role-{turn.role}", *["quiet"] * is_quiet]
    return {
        "step": turn.events.step,
        "role": ROLE_NAMES[turn.role],
        "decision": turn.decision,
        "events": turn.events,
        "score": turn.score,
        "so_far": so_far,
        "kinds": kinds,
        "style": styles[0] if kinds else "",
        "classes": " ".join(dict.fromkeys(classes)),
        "suspects": _suspects(turn.decision),
        "evidence": getattr(turn.decision.action, "evidence", None),
    }


def _suspects(decision: Decision) -> list[tuple[str, float]]:
    """The agents that are suspected most. A share that is shown as 0% is left out."""
    ranked = sorted((decision.suspicion or {}).items(), key=lambda item: (-item[1], item[0]))
    return [(agent, value) for agent, value in ranked[:_SUSPECTS] if round(100 * value) > 0]
