"""An episode in a notebook: what was done, what it earned, and the truth at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaosops.core.events import event_words
from chaosops.core.html import box, heading, paragraph, table

if TYPE_CHECKING:
    from chaosops.core.episode import Episode

SHOWN = 40  # turns; few episodes have more


def episode_card(episode: Episode) -> str:
    scenario = episode.scenario
    split = f" {scenario.split}" if scenario.split else ""
    where = f"{scenario.pack}{split} · {scenario.tier} · seed {scenario.seed}"
    rows = [
        (turn.events.step, turn.role, turn.decision.action, f"{turn.score.total:+.1f}", words)
        for turn in episode.turns[:SHOWN]
        for words in [event_words(turn.events)]
    ]
    left_out = episode.steps - len(rows)
    return box(
        heading(episode.team, where),
        table(("step", "role", "action", "reward", "outcome"), rows),
        paragraph(f"… and {left_out} more turns") if left_out else "",
        paragraph(
            f"{'resolved' if episode.resolved else 'NOT resolved'} after {episode.steps} steps, "
            f"reward {episode.reward:+.1f}; it was {episode.cause}, {_rogue(episode)}"
        ),
    )


def _rogue(episode: Episode) -> str:
    if episode.rogue is None:
        return "no rogue"
    return f"rogue {episode.rogue} {'caught' if episode.rogue_caught else 'NOT caught'}"
