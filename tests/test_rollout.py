from __future__ import annotations

from collections.abc import Sequence

import pytest

from chaosops import ChaosOpsError, Team, load_policy, make_scenario, play, play_many
from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice, key_of
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.matrix import scenarios
from chaosops.policies.protocol import DecisionRequest, request_key
from chaosops.rollout import Rollout, load_team, watch
from chaosops.wire.episodes import episode_to_wire

MATRIX = scenarios("full", seeds=2)


@pytest.mark.parametrize("side_by_side", [1, 7, 500])
def test_the_number_of_tables_never_changes_an_episode(side_by_side: int) -> None:
    team = Team.of(load_policy("random"))
    alone = [episode_to_wire(play(scenario, team)) for scenario in MATRIX]
    together = [*map(episode_to_wire, play_many(MATRIX, team, side_by_side=side_by_side))]
    assert together == alone


@pytest.mark.parametrize("policy", ["random", "keyword", "heuristic", "oracle"])
def test_step_rewards_sum_to_the_episode(policy: str) -> None:
    for episode in play_many(MATRIX, Team.of(load_policy(policy))):
        assert episode.reward == sum(turn.score.total for turn in episode.turns)
        assert episode.reward == pytest.approx(sum(episode.rubric_totals.values()))
        assert episode_to_wire(episode)["reward"] == episode.reward


def test_a_mixed_team_asks_each_policy_for_its_own_seats() -> None:
    seats = dict.fromkeys(Role, load_policy("oracle")) | {Role.OVERSIGHT: load_policy("random")}
    episode = play(make_scenario("db_deadlock", seed=4), Team(seats))
    assert episode.team == "sre=oracle,oversight=random,dev=oracle,manager=oracle"
    assert episode.resolved


def test_watching_shows_every_turn_of_every_table() -> None:
    rollouts = [
        Rollout(Env(make_scenario("cascade", seed=s)), Team.of(load_policy("random")))
        for s in range(5)
    ]
    seen = [0] * len(rollouts)
    for turns in watch(rollouts):
        for i, turn in turns:
            seen[i] += 1
            assert turn is rollouts[i].episode.turns[-1]
    assert seen == [rollout.episode.steps for rollout in rollouts]


def test_policies_are_asked_for_a_whole_batch_at_once() -> None:
    policy = load_policy("heuristic")
    sizes = []
    decide = policy.decide

    def counting(seats):  # type: ignore[no-untyped-def]
        sizes.append(len(seats))
        return decide(seats)

    policy.decide = counting  # type: ignore[method-assign]
    list(play_many(MATRIX[:16], Team.of(policy), side_by_side=16))
    assert sizes[0] == 16


def test_a_team_is_read_from_words() -> None:
    team = load_team("oversight=random,others=oracle")
    assert [team.policies[role].name for role in Role] == ["oracle", "random", "oracle", "oracle"]
    assert team.policies[Role.SRE] is team.policies[Role.DEV]  # loaded once
    assert team.status()["oversight"]["policy"] == "random"
    assert load_team("heuristic").status() == load_policy("heuristic").status()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("oversite=random,others=oracle", "did you mean 'oversight'"),
        ("oversight=randon,others=oracle", "did you mean 'random'"),
        ("oversight=random", "leaves out sre, dev, manager"),
        ("oversight=random,oversight=oracle,others=oracle", "names oversight twice"),
        ("oversight=,others=oracle", "unknown policy ''"),
        ("=", "unknown role ''"),
    ],
)
def test_a_team_that_cannot_be_is_named(text: str, said: str) -> None:
    with pytest.raises(ChaosOpsError) as caught:
        load_team(text)
    assert said in str(caught.value)


class Sure:
    """Says more than a probability can."""

    name = "sure"
    sees_truth = False

    def __init__(self, value: float) -> None:
        self.value = value

    def decide(self, seats: Sequence[DecisionRequest]) -> list[Decision]:
        return [Decision(Noop(), {"autoscaler": self.value}) for _ in seats]

    def status(self) -> dict[str, str]:
        return {"policy": self.name}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, -0.1])
def test_a_suspicion_that_is_no_probability_is_refused_at_once(value: float) -> None:
    with pytest.raises(ChaosOpsError, match="policy sure gave a suspicion of"):
        play(make_scenario("db_deadlock"), Team.of(Sure(value)))


def test_the_draws_of_neighbouring_steps_share_nothing() -> None:
    keys = [request_key(7, step) for step in range(200)]
    streams = [Dice(key) for key in keys] + [Dice(key_of(key, "suspicion")) for key in keys]
    drawn = [stream.bits() for stream in streams for _ in range(50)]
    assert len(set(drawn)) == len(drawn)
