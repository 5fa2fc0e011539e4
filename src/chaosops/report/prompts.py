"""What each role was shown, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator

from chaosops.core.decision import Chat
from chaosops.core.episode import Episode
from chaosops.env import Env
from chaosops.roles.prompt import render


def shown_prompts(episode: Episode) -> Iterator[Chat]:
    """The prompt of each turn: the one that a model got, or would have got."""
    env = Env.again(episode)
    for turn in episode.turns:
        exchange = turn.decision.exchange
        yield tuple(render(env.view)) if exchange is None else exchange.prompt
        env.play(turn.decision)
