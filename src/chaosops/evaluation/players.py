"""Who plays the episodes of an evaluation: a team in this process, or the same team in every
worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Protocol

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.rollout import Team, load_team, play_many, policy_names
from chaosops.workers import Pool, in_order, tell_driver

Tell = Callable[[int], None]  # called with the number of turns just played
Played = tuple[Episode, dict[str, Any]]  # with the team's status after it


class Player(Protocol):
    def status(self) -> dict[str, Any]: ...

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        """Episodes in the order of the scenarios."""
        ...


class TeamPlayer:
    def __init__(self, team: Team, side_by_side: int) -> None:
        self._team = team
        self._side_by_side = side_by_side

    def status(self) -> dict[str, Any]:
        return self._team.status()

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        return play_many(scenarios, self._team, side_by_side=self._side_by_side, tell=tell)


class PoolPlayer:
    """The team is loaded by the workers, once in each, and not in this process."""

    def __init__(self, name: str, packs: Sequence[str], side_by_side: int, pool: Pool) -> None:
        self._name = name
        self._side_by_side = side_by_side
        self._pool = pool
        self._coming = pool.submit(_status_of, name, packs)

    @property
    def _told(self) -> int:
        return sum(tally.told for tally in self._pool.tallies)

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self._coming.result()
        return status

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        seen, expected = self._told, self.status()

        def tick() -> None:
            nonlocal seen
            seen, before = self._told, seen
            tell(seen - before)

        work = partial(_play, self._name, self._side_by_side)
        for episode, status in in_order(self._pool, work, scenarios, tick):
            if status != expected:
                raise BadInput(_difference(self._name, expected, status))
            tick()
            yield episode


def load_players(
    policies: Sequence[str], packs: Sequence[str], side_by_side: int, pool: Pool | None
) -> dict[str, Player]:
    """Loads everything. A model that was not trained on one of the packs is refused.

    Teams that ask a server play in this process: it does not compute, and its limits on requests
    hold for all of them together.
    """
    players: dict[str, Player] = {}
    for name in policies:
        if pool is None or _asks_server(name):
            players[name] = TeamPlayer(_load(name, packs), side_by_side)
        else:
            players[name] = PoolPlayer(name, packs, side_by_side, pool)
    return players


def _load(name: str, packs: Sequence[str]) -> Team:
    team = load_team(name)
    for pack in packs:
        team.require_trained_on(pack)
    return team


def _asks_server(team: str) -> bool:
    return any(name.startswith("openai:") for name in policy_names(team).values())


def _difference(name: str, first: dict[str, Any], other: dict[str, Any]) -> str:
    keys = [key for key in {**first, **other} if first.get(key) != other.get(key)]
    found = "; ".join(f"{key} is {first.get(key)} and {other.get(key)}" for key in keys[:2])
    return (
        f"two workers loaded {name} differently: {found}; give all workers the same files, "
        "packages and hardware"
    )


@cache
def _loaded(name: str) -> Team:
    """In a worker: a model is loaded once."""
    return load_team(name)


def _status_of(name: str, packs: Sequence[str]) -> dict[str, Any]:
    for pack in packs:
        _loaded(name).require_trained_on(pack)
    return _loaded(name).status()


def _play(name: str, side_by_side: int, scenarios: Sequence[Scenario]) -> Iterator[Played]:
    team = _loaded(name)
    playing = play_many(scenarios, team, side_by_side=side_by_side, tell=tell_driver)
    return ((episode, team.status()) for episode in playing)
