"""Who plays the episodes of an evaluation: a team in this process, or the same team in every
worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.printable import short
from chaosops.core.scenario import Scenario
from chaosops.rollout import AnyTeam, Team, asks_server, load_team, play_many
from chaosops.rubrics import priced
from chaosops.workers import Pool, in_order, tell_driver

Tell = Callable[[int], None]  # called with the number of turns just played


class Setting(NamedTuple):
    """What is the same for all teams of an evaluation."""

    packs: tuple[str, ...]
    side_by_side: int
    rewards: Mapping[str, float]  # those other than the standard

    def load(self, given: AnyTeam) -> Team:
        """A model that was not trained on one of the packs is refused."""
        team = load_team(given)
        if self.rewards:
            team.require_no_search()
        for pack in self.packs:
            team.require_trained_on(pack)
        return team

    def play(self, team: Team, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        rubric = priced(self.rewards)
        return play_many(scenarios, team, rubric=rubric, side_by_side=self.side_by_side, tell=tell)


class Player(Protocol):
    name: str

    def status(self) -> dict[str, Any]: ...

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        """Episodes in the order of the scenarios."""
        ...


class TeamPlayer:
    def __init__(self, given: AnyTeam, setting: Setting) -> None:
        self._setting = setting
        self._team = setting.load(given)
        self.name = given if isinstance(given, str) else self._team.name

    def status(self) -> dict[str, Any]:
        return self._team.status()

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        return self._setting.play(self._team, scenarios, tell)


class PoolPlayer:
    """The workers load the team, once in each. This process does not."""

    def __init__(self, name: str, setting: Setting, pool: Pool) -> None:
        self.name = name
        self._setting = setting
        self._pool = pool
        self._status = pool.submit(_status_of, name, setting)

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self._status.result()
        return status

    def play(self, scenarios: Sequence[Scenario], tell: Tell) -> Iterator[Episode]:
        seen, expected = self._told(), self.status()

        def tick() -> None:
            nonlocal seen
            before, seen = seen, self._told()
            tell(seen - before)

        work = partial(_play, self.name, self._setting)
        for episode, status in in_order(self._pool, work, scenarios, tick):
            if status != expected:
                raise BadInput(_difference(self.name, expected, status))
            tick()
            yield episode

    def _told(self) -> int:
        return sum(tally.told for tally in self._pool.tallies)


def load_players(
    policies: Sequence[AnyTeam], setting: Setting, pool: Pool | None
) -> dict[str, Player]:
    """Teams that ask a server play in this process: it only waits for them, and their limits on
    requests hold for all episodes together."""
    players: dict[str, Player] = {}
    for given in policies:
        player = _player(given, setting, pool)
        if player.name in players:
            raise BadInput(f"name each policy once; two of them are called {player.name}")
        players[player.name] = player
    return players


def _player(given: AnyTeam, setting: Setting, pool: Pool | None) -> Player:
    if pool is None or (isinstance(given, str) and asks_server(given)):
        return TeamPlayer(given, setting)
    if not isinstance(given, str):
        raise BadInput(
            f"workers load a policy by its name, and {short(given)} has none; name it FILE.py:NAME"
        )
    return PoolPlayer(given, setting, pool)


def _difference(name: str, first: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    keys = [key for key in {**first, **other} if first.get(key) != other.get(key)]
    found = "; ".join(f"{key} is {first.get(key)} and {other.get(key)}" for key in keys[:2])
    return (
        f"two workers loaded {name} differently: {found}; give all workers the same files, "
        "packages and hardware"
    )


# A worker loads a team once. The setting of a pool's evaluation does not change.
_teams: dict[str, Team] = {}


def _loaded(name: str, setting: Setting) -> Team:
    if name not in _teams:
        _teams[name] = setting.load(name)
    return _teams[name]


def _status_of(name: str, setting: Setting) -> dict[str, Any]:
    return _loaded(name, setting).status()


def _play(
    name: str, setting: Setting, scenarios: Sequence[Scenario]
) -> Iterator[tuple[Episode, dict[str, Any]]]:
    """In a worker: each episode, and the team's status after it."""
    team = _loaded(name, setting)
    for episode in setting.play(team, scenarios, tell_driver):
        yield episode, team.status()
