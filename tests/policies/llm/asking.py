"""Seats and a policy for tests that ask an endpoint."""

from __future__ import annotations

from chaosops.core.decision import Decision
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.spec import read_spec
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.view import RoleView, project
from tests.policies.llm.faulty_server import FaultyServer


def policy_at(server: FaultyServer, options: str = "+timeout=2+patience=20") -> EndpointPolicy:
    return EndpointPolicy(read_spec(f"openai:fake@{server.url}{options}"))


def view_of(role: Role, failure: str = "db_deadlock") -> RoleView:
    return project(Env(make_scenario(failure, seed=1)).world.public, role)


def view_of_many_agents() -> RoleView:
    """Oversight of a fleet with more agents than there are letters."""
    public = Env(make_scenario("db_deadlock", seed=1)).world.public
    rules = public.rules
    agents = tuple(f"agent_{i}" for i in range(60))
    wide = Rulebook(
        rules.services, agents, rules.causes, rules.verbs, rules.replica_choices, rules.layout
    )
    return project(public._replace(rules=wide), Role.OVERSIGHT)


def requests_for(count: int, role: Role = Role.SRE) -> list[DecisionRequest]:
    envs = [Env(make_scenario("db_deadlock", seed=seed)) for seed in range(count)]
    return [
        DecisionRequest(project(env.world.public, role), 2**40 + i) for i, env in enumerate(envs)
    ]


def decide(policy: EndpointPolicy, role: Role = Role.SRE) -> Decision:
    return policy.decide([DecisionRequest(view_of(role), 7)])[0]
