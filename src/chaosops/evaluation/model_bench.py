"""How fast a model plays, how long its prompts are, and whether its replies are legal.

Episodes are played one by one and then side by side. Time spent outside the model (writing
prompts, finding the legal tokens, the world itself) is measured apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import GENERATED_PACK, generated_packs, load_pack, make_scenario
from chaosops.policies.llm.formats import load_format
from chaosops.policies.llm.policy import LocalModelPolicy
from chaosops.policies.llm.runtime import Runtime, Session
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play_many


def bench_model(
    policy: str,
    pack: str | None = None,
    episodes: int = 16,
    steps: int = 8,
    side_by_side: int = 16,
) -> dict[str, Any]:
    """The first ``steps`` turns of some episodes of the hard tier. The default pack generates
    its incidents; if the model says what it was trained on, the pack is one of these."""
    model = load_policy(policy)
    if not isinstance(model, LocalModelPolicy):
        raise BadInput(f"{policy} is not a model on this machine; name one such as local:smollm2")
    pack = pack or (generated_packs(model.trained_on or ()) or [GENERATED_PACK])[0]
    clock = _Clock(model.runtime)
    model.runtime = clock
    # Each way gets other seeds, because a prompt that was read before is read faster.
    first, second = (_scenarios(pack, episodes, steps, start) for start in (0, episodes))
    warm_up = _scenarios(pack, 1, min(4, steps), 2 * episodes)  # loads what is lazy
    list(play_many(warm_up, Team.of(model)))
    clock.seconds = 0.0
    played, alone = _timed(first, model, 1)
    in_model = clock.seconds
    also, together = _timed(second, model, side_by_side)
    turns = [turn for episode in played for turn in episode.turns]
    read = sum(episode.tokens_read for episode in played)
    return {
        "policy": policy,
        "backend": model.status()["backend"],
        "pack": pack,
        "episodes": len(played),
        "turns": len(turns),
        "seconds_per_turn_one_by_one": round(alone / len(turns), 3),
        f"seconds_per_turn_{side_by_side}_side_by_side": round(together / len(turns), 3),
        "speed_up": round(alone / together, 2),
        "prompt_tokens_per_s": round(read / alone),
        "time_outside_the_model": f"{100 * (alone - in_model) / in_model:.1f} %",
        "legal_replies": _legal([*played, *also], model),
        **{f"prompt_tokens_{role}": _mean_tokens(played, role) for role in Role},
    }


class _Clock:
    """A runtime that measures how long it was busy."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.seconds = 0.0
        self.batch, self.end = runtime.batch, runtime.end
        self.tokens, self.status = runtime.tokens, runtime.status

    def open(self, chats: Sequence[Any]) -> Session:
        session = self._timed(self.runtime.open)(chats)
        rate, write = self._timed(session.rate), self._timed(session.write)
        return SimpleNamespace(lengths=session.lengths, rate=rate, write=write)

    def _timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            start = time.perf_counter()
            try:
                return work(*given)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


def _scenarios(pack: str, episodes: int, steps: int, start: int) -> list[Scenario]:
    loaded = load_pack(pack)
    split = loaded.training_split or None
    failures = [None] if loaded.splits else [*loaded.drawn]
    return [
        make_scenario(
            failures[seed % len(failures)],
            pack=pack,
            split=split,
            tier=Tier.HARD,
            seed=seed,
            limit=steps,
        )
        for seed in range(start, start + episodes)
    ]


def _timed(
    matrix: list[Scenario], model: LocalModelPolicy, side_by_side: int
) -> tuple[list[Episode], float]:
    start = time.perf_counter()
    played = list(play_many(matrix, Team.of(model), side_by_side=side_by_side))
    return played, time.perf_counter() - start


def _legal(played: Sequence[Episode], model: LocalModelPolicy) -> str:
    """How many replies parse strictly as a legal action of their role."""
    reply_format = load_format(model.status()["format"])
    legal = 0
    for episode in played:
        env = Env.again(episode)
        for turn in episode.turns:
            assert turn.decision.exchange is not None
            read = reply_format.read(env.view, turn.decision.exchange.reply)
            legal += env.view.rules.may(env.role, read.verb)
            env.play(turn.decision)
    return f"{legal} of {sum(episode.steps for episode in played)}"


def _mean_tokens(played: Sequence[Episode], role: Role) -> int:
    counts = [
        turn.decision.exchange.tokens_read
        for episode in played
        for turn in episode.turns
        if turn.role is role and turn.decision.exchange
    ]
    return round(sum(counts) / max(1, len(counts)))
