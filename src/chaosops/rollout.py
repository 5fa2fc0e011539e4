"""The only episode loop: one episode, or many side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from chaosops.core.dice import key_of
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.lists import split_list
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.policies.llm.trained_on import require_trained_on, trained_on
from chaosops.policies.protocol import DecisionRequest, Policy, request_key
from chaosops.policies.registry import load_policy
from chaosops.policies.suspicion import require_probabilities
from chaosops.rubrics import CompositeRubric, standard


class Team:
    """A policy for each role."""

    def __init__(self, policies: Mapping[Role, Policy], name: str | None = None) -> None:
        self.policies = {role: policies[role] for role in Role}
        self.name = name or ",".join(f"{role}={policy.name}" for role, policy in policies.items())
        self._trained_on = {p.name: trained_on(p) for p in policies.values() if trained_on(p)}

    @classmethod
    def of(cls, policy: Policy) -> Team:
        """One policy for all four roles."""
        return cls(dict.fromkeys(Role, policy), policy.name)

    def require_trained_on(self, pack: str) -> None:
        """Refuse a pack that a model of the team was not trained on."""
        for name, packs in self._trained_on.items():
            require_trained_on(name, packs, pack, load_pack(pack).version)

    def require_no_search(self) -> None:
        """Refuse a policy that optimises the standard reward, where others are paid."""
        if any(policy.status().get("kind") == "search" for policy in self.policies.values()):
            raise BadInput(f"{self.name} searches for the best standard reward; leave it out")

    def status(self) -> dict[str, Any]:
        """What a report shows beside the team's numbers: one status, or one for each role."""
        statuses = {role.value: dict(policy.status()) for role, policy in self.policies.items()}
        alone = len({id(policy) for policy in self.policies.values()}) == 1
        return statuses[Role.SRE.value] if alone else statuses


def load_team(text: str) -> Team:
    """One policy for all roles, or a policy for each; ``others`` means the roles not named.

    >>> load_team("oversight=random,others=oracle").policies[Role.DEV].name
    'oracle'
    """
    if _is_one_policy(text):
        return Team.of(load_policy(text))
    names = policy_names(text)
    # One instance per policy: a model in three roles is loaded once and asked once.
    loaded = {name: load_policy(name) for name in dict.fromkeys(names.values())}
    return Team({role: loaded[name] for role, name in names.items()}, text)


def policy_names(text: str) -> dict[Role, str]:
    """The name of the policy in each role. No policy is loaded, and the names need not exist.

    >>> policy_names("oversight=random,others=oracle")[Role.DEV]
    'oracle'
    """
    if _is_one_policy(text):
        return dict.fromkeys(Role, text)
    named = _named(text)
    return {role: named[role] if role in named else named["others"] for role in Role}


def asks_server(team: str) -> bool:
    """Whether an endpoint takes part."""
    return any(name.startswith("openai:") for name in policy_names(team).values())


def _named(text: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for part in split_list(text):
        role, _, policy = (word.strip() for word in part.partition("="))
        if role not in (*Role, "others"):
            raise UnknownName("role", role, [*Role, "others"])
        if role in named:
            raise BadInput(f"team {text!r} names {role} twice; name it once")
        named[role] = policy
    missing = [role for role in Role if role not in named]
    if missing and "others" not in named:
        raise BadInput(
            f"team {text!r} leaves out {', '.join(missing)}; name them, or others=POLICY"
        )
    return named


def _is_one_policy(text: str) -> bool:
    """A team has an ``=`` before any colon, slash or plus. A model's options have one after."""
    if text.partition("=")[0].strip() in (*Role, "others"):
        return False
    return "=" not in re.split(r"[:/+]", text, maxsplit=1)[0]


class Rollout:
    """An episode that a team is playing."""

    __slots__ = ("env", "episode", "key", "team")

    def __init__(self, env: Env, team: Team) -> None:
        team.require_trained_on(env.scenario.pack)
        self.env = env
        self.team = team
        self.episode = Episode(env.scenario, env.cause, env.rogue, team.name)
        self.key = policy_key(env.scenario)


def policy_key(scenario: Scenario) -> int:
    """The seed of a policy's draws in this episode. ``request_key`` adds the step."""
    return key_of("policy", scenario.seed)


def decision_request(env: Env, policy: Policy, key: int) -> DecisionRequest:
    view = env.view
    world = env.world if policy.sees_truth else None
    return DecisionRequest(view, request_key(key, view.step), world)


def advance(rollouts: Sequence[Rollout]) -> list[Turn]:
    """One turn of every rollout. Each policy is asked once, with all requests for it."""
    waiting: dict[Policy, list[int]] = {}
    requests: list[DecisionRequest] = []
    for i, rollout in enumerate(rollouts):
        policy = rollout.team.policies[rollout.env.role]
        requests.append(decision_request(rollout.env, policy, rollout.key))
        if policy in waiting:
            waiting[policy].append(i)
        else:
            waiting[policy] = [i]
    turns: list[Turn | None] = [None] * len(rollouts)
    for policy, places in waiting.items():
        decisions = policy.decide([requests[i] for i in places])
        for i, decision in zip(places, decisions, strict=True):
            if decision.suspicion:
                # On every turn, so that the error does not come after the last episode.
                require_probabilities(f"policy {policy.name}", decision.suspicion)
            rollout = rollouts[i]
            turn = turns[i] = rollout.env.play(decision)
            rollout.episode.turns.append(turn)
    return [turn for turn in turns if turn is not None]


def play_many(
    scenarios: Iterable[Scenario],
    team: Team | str,
    *,
    rubric: CompositeRubric | None = None,
    side_by_side: int = 64,
    tell: Callable[[int], None] = lambda turns: None,
) -> Iterator[Episode]:
    """Play all scenarios, ``side_by_side`` at a time, and yield episodes in order. A team may be
    written as in ``chaosops run --policy``: ``heuristic``, or ``oversight=random,others=oracle``.

    An episode does not depend on the order or number of scenarios. ``tell`` is called with the
    number of turns just played, because the first episode may take minutes.
    """
    team = load_team(team) if isinstance(team, str) else team
    rubric = rubric or standard()
    source = iter(scenarios)
    queue: list[Rollout] = []  # in order; a finished one waits for those before it
    live: list[Rollout] = []
    while True:
        for scenario in islice(source, side_by_side - len(live)):
            rollout = Rollout(Env(scenario, rubric), team)
            queue.append(rollout)
            live.append(rollout)
        if not live:
            return
        tell(len(advance(live)))
        live = [rollout for rollout in live if not rollout.env.over]
        while queue and queue[0].env.over:
            yield queue.pop(0).episode


def play(scenario: Scenario, team: Team | str, *, rubric: CompositeRubric | None = None) -> Episode:
    """Play one episode to its end.

    >>> from chaosops import make_scenario, play
    >>> play(make_scenario("db_deadlock"), "oracle").resolved
    True
    """
    return next(play_many([scenario], team, rubric=rubric))


def watch(rollouts: Sequence[Rollout]) -> Iterator[list[tuple[int, Turn]]]:
    """Play rollouts to their end and yield after every turn: (index of the rollout, its turn)."""
    while live := [i for i, rollout in enumerate(rollouts) if not rollout.env.over]:
        turns = advance([rollouts[i] for i in live])
        yield list(zip(live, turns, strict=True))
