"""The only episode loop: one episode, or many side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from chaosops.core.dice import key_of
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.given import one_or_more, whole_number
from chaosops.core.lists import split_list
from chaosops.core.printable import short
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import AnyScenario, load_pack, played_like
from chaosops.policies.llm.trained_on import require_trained_on, trained_on
from chaosops.policies.protocol import AnyPolicy, DecisionRequest, Policy, request_key
from chaosops.policies.registry import load_policy
from chaosops.policies.suspicion import require_probabilities
from chaosops.rubrics import CompositeRubric, standard

OTHERS = "others"  # the roles that a team does not name
Given = TypeVar("Given")


class Team:
    """A policy for each role; ``others`` means the roles not named.

    >>> Team({"oversight": "random", "others": "oracle"}).policies[Role.DEV].name
    'oracle'
    """

    def __init__(self, policies: Mapping[Any, AnyPolicy], name: str | None = None) -> None:
        if not isinstance(policies, Mapping):
            raise BadInput(
                f"a team is a policy for each role, such as {{'oversight': 'random', 'others': "
                f"'oracle'}}, got {short(policies)}; Team.of takes one for all"
            )
        # One instance per policy: a model in three roles is loaded once and asked once.
        loaded = {of: load_policy(of) for of in policies.values()}
        named = {role: loaded[of] for role, of in policies.items()}
        self.name = name or ",".join(f"{role}={policy.name}" for role, policy in named.items())
        self.policies = _by_role(named, self.name)
        self._trained_on = {p.name: trained_on(p) for p in loaded.values() if trained_on(p)}

    @classmethod
    def of(cls, policy: AnyPolicy) -> Team:
        """One policy for all four roles."""
        loaded = load_policy(policy)
        return cls(dict.fromkeys(Role, loaded), loaded.name)

    def require_trained_on(self, pack: str) -> None:
        """Refuse a pack that a model of the team was not trained on."""
        for name, packs in self._trained_on.items():
            like = played_like(pack)
            require_trained_on(name, packs, like.name, like.version)

    def require_no_search(self) -> None:
        """Refuse a policy that optimises the standard reward, where others are paid."""
        if any(policy.status().get("kind") == "search" for policy in self.policies.values()):
            raise BadInput(f"{self.name} searches for the best standard reward; leave it out")

    def status(self) -> dict[str, Any]:
        """What a report shows beside the team's numbers: one status, or one for each role."""
        statuses = {role.value: dict(policy.status()) for role, policy in self.policies.items()}
        alone = len({id(policy) for policy in self.policies.values()}) == 1
        return statuses[Role.SRE.value] if alone else statuses


# What stands for a team: its text, or one policy for all roles.
AnyTeam = Team | AnyPolicy


def load_team(given: AnyTeam) -> Team:
    """One policy for all roles, or in text a policy for each.

    >>> load_team("oversight=random,others=oracle").policies[Role.DEV].name
    'oracle'
    """
    if isinstance(given, Team):
        return given
    if not isinstance(given, str) or _is_one_policy(given):
        return Team.of(given)
    return Team(policy_names(given), given)


def policy_names(text: str, taken: Role | None = None) -> dict[Role, str]:
    """The name of the policy in each role. No policy is loaded, and the names need not exist.
    The role that somebody has ``taken`` need not be named.

    >>> policy_names("oversight=random,others=oracle")[Role.DEV]
    'oracle'
    """
    if _is_one_policy(text):
        return dict.fromkeys(Role, text)
    named: dict[str, str] = {}
    for part in split_list(text):
        role, _, policy = (word.strip() for word in part.partition("="))
        if role in named:
            raise BadInput(f"team {text!r} names {role} twice; name it once")
        named[role] = policy
    return _by_role(named, text, taken)


def asks_server(team: str) -> bool:
    """Whether an endpoint takes part."""
    return any(name.startswith("openai:") for name in policy_names(team).values())


def _by_role(named: Mapping[str, Given], team: str, taken: Role | None = None) -> dict[Role, Given]:
    for role in named:
        if role not in (*Role, OTHERS):
            raise UnknownName("role", role, [*Role, OTHERS])
    missing = [role for role in Role if role not in named and role is not taken]
    if missing and OTHERS not in named:
        raise BadInput(
            f"team {team!r} leaves out {', '.join(missing)}; name them, or {OTHERS}=POLICY"
        )
    either = {role: role if role in named else OTHERS for role in Role}
    return {role: named[name] for role, name in either.items() if name in named}


def _is_one_policy(text: str) -> bool:
    """A team has an ``=`` before any colon, slash or plus. A model's options have one after."""
    if text.partition("=")[0].strip() in (*Role, OTHERS):
        return False
    return "=" not in re.split(r"[:/+]", text, maxsplit=1)[0]


class Rollout:
    """An episode that a team is playing."""

    __slots__ = ("env", "episode", "key", "team")

    def __init__(self, env: Env, team: Team) -> None:
        team.require_trained_on(env.scenario.pack)
        self.env = env
        self.team = team
        self.episode = Episode(env.scenario, env.cause, env.rogue, team.name, observed=env.observed)
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
    scenarios: Iterable[AnyScenario] | AnyScenario,
    team: AnyTeam,
    *,
    rubric: CompositeRubric | None = None,
    side_by_side: int = 64,
    tell: Callable[[int], None] = lambda turns: None,
) -> Iterator[Episode]:
    """Play all scenarios, ``side_by_side`` at a time, and yield episodes in order. A team may be
    written as in ``chaosops run --policy``: ``heuristic``, or ``oversight=random,others=oracle``.
    A function of a view plays all roles.

    An episode does not depend on the order or number of scenarios. ``tell`` is called with the
    number of turns just played, because the first episode may take minutes.
    """
    team = load_team(team)
    rubric = rubric or standard()
    side_by_side = whole_number("side_by_side", side_by_side, least=1)
    source = iter(one_or_more(scenarios))
    queue: list[Rollout] = []  # in order; a finished one waits for those before it
    live: list[Rollout] = []
    while True:
        for scenario in islice(source, max(0, side_by_side - len(live))):
            rollout = Rollout(Env(scenario, rubric), team)
            queue.append(rollout)
            live.append(rollout)
            if load_pack(rollout.env.scenario.pack).real_time:
                side_by_side = 1  # one company at a time
                break
        if not live:
            return
        tell(len(advance(live)))
        live = [rollout for rollout in live if not rollout.env.over]
        while queue and queue[0].env.over:
            yield queue.pop(0).episode


def play(scenario: AnyScenario, team: AnyTeam, *, rubric: CompositeRubric | None = None) -> Episode:
    """Play one episode to its end. A text names a failure, as in ``make_scenario``.

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
