"""Play every scenario with every policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.given import one_or_more
from chaosops.core.scenario import Scenario
from chaosops.core.source import source_commit
from chaosops.evaluation.journal import Journal, as_json
from chaosops.evaluation.players import Player, Setting, load_players
from chaosops.evaluation.results import Results, first_link
from chaosops.packs import AnyScenario, load_pack, read_scenario
from chaosops.rollout import AnyTeam
from chaosops.rubrics.prices import read_rewards
from chaosops.version import VERSION
from chaosops.workers import Pool

# Called while it plays, with: policy, episodes done, all episodes, turns played.
Progress = Callable[[str, int, int, int], None]


def evaluate(
    policies: Iterable[AnyTeam] | AnyTeam,
    scenarios: Iterable[AnyScenario] | AnyScenario,
    *,
    command: str = "",
    progress: Progress = lambda policy, done, total, turns: None,
    side_by_side: int = 64,
    journal: Journal | None = None,
    rewards: Mapping[str, float] | str | None = None,
    pool: Pool | None = None,
) -> Results:
    """Play every scenario with every policy, or team of policies (``oversight=a,others=b``). A
    policy is a name, or a function ``view -> Action``. All are loaded before anything is played.
    Episodes in the journal are not played again. ``rewards`` are prices and weights other than the
    standard (``rubrics/prices.py``). With a ``pool`` its workers play; the results are the same."""
    players, scenarios = _read(policies, scenarios)
    own = read_rewards({} if rewards is None else rewards)
    packs = tuple(dict.fromkeys(scenario.pack for scenario in scenarios))
    loaded = load_players(players, Setting(packs, side_by_side, own), pool)
    job = _job(scenarios, _statuses(loaded), own)
    played: dict[str, dict[int, Episode]] = {name: {} for name in loaded}
    if journal is not None:
        played = journal.open(job)
    for name, player in loaded.items():
        episodes = played[name]
        turns = 0

        def tell(played: int, name: str = name, of: Mapping[int, Episode] = episodes) -> None:
            nonlocal turns
            turns += played
            progress(name, len(of), len(scenarios), turns)

        tell(0)
        missing = [number for number in range(len(scenarios)) if number not in episodes]
        playing = player.play([scenarios[n] for n in missing], tell)
        for number, episode in zip(missing, playing, strict=True):
            if journal is not None:
                journal.add(name, number, episode, player.status())
            episodes[number] = episode
            tell(0)
    statuses = _statuses(loaded)
    in_order = {name: [of[n] for n in range(len(scenarios))] for name, of in played.items()}
    if journal is None:
        return Results(_manifest(command, job, scenarios, statuses), in_order).sealed()
    statuses = {name: journal.status(name, of) for name, of in statuses.items()}
    manifest = _manifest(command, job, scenarios, statuses)
    learned = {name: of for name, of in journal.learned.items() if of}
    results = Results(manifest, in_order, learned).sealed()
    journal.finish(results)
    return results


def _read(
    policies: Iterable[AnyTeam] | AnyTeam, scenarios: Iterable[AnyScenario] | AnyScenario
) -> tuple[list[AnyTeam], list[Scenario]]:
    players, chosen = list(one_or_more(policies)), list(map(read_scenario, one_or_more(scenarios)))
    if not players or not chosen:
        raise BadInput("an evaluation needs at least one policy and one scenario")
    if len(set(chosen)) != len(chosen):
        raise BadInput("a scenario is listed more than once; name each of them once")
    return players, chosen


def results_of(
    name: str,
    episodes: Sequence[Episode],
    status: Mapping[str, Any],
    *,
    command: str,
    journal: Journal,
    notes: Mapping[str, Any],
) -> Results:
    """Results of one policy from episodes that were played elsewhere. ``notes`` go into the
    manifest."""
    scenarios, statuses = [episode.scenario for episode in episodes], {name: dict(status)}
    job = _job(scenarios, statuses)
    journal.open(job)
    for number, episode in enumerate(episodes):
        journal.add(name, number, episode, status)
    manifest = _manifest(command, job, scenarios, statuses)
    return Results({**manifest, **notes}, {name: list(episodes)}).sealed()


def _statuses(players: Mapping[str, Player]) -> dict[str, dict[str, Any]]:
    return {name: player.status() for name, player in players.items()}


def _job(
    scenarios: Sequence[Scenario],
    statuses: Mapping[str, Any],
    rewards: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The job: versions, packs, policies, scenarios, and rewards other than the standard."""
    job = {
        "version": VERSION,
        "commit": source_commit(),
        "packs": _packs(scenarios),
        "policies": statuses,
        "scenarios": [scenario.to_wire() for scenario in scenarios],
        **({"rewards": rewards} if rewards else {}),
    }
    return as_json(job)


def _packs(scenarios: Sequence[Scenario]) -> dict[str, dict[str, str]]:
    """Version and hash of each pack."""
    packs = map(load_pack, sorted({scenario.pack for scenario in scenarios}))
    return {pack.name: {"version": pack.version, "hash": pack.content_hash()} for pack in packs}


def _manifest(
    command: str,
    job: Mapping[str, Any],
    scenarios: Sequence[Scenario],
    statuses: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "command": command,
        **{name: job[name] for name in ("version", "commit", "packs")},
        **coverage(scenarios),
        **({"rewards": job["rewards"]} if "rewards" in job else {}),
        "policies": statuses,
        "chain": {"start": first_link(job)},
    }


def coverage(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """A summary of the scenarios for the manifest."""
    return {
        "splits": sorted({scenario.split for scenario in scenarios if scenario.split}),
        "tiers": sorted({scenario.tier.value for scenario in scenarios}),
        "seeds": sorted({scenario.seed for scenario in scenarios}),
        "episodes_per_policy": len(scenarios),
    }
