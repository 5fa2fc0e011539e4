"""A file of policies as a user writes it, and how one of them is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from chaosops import load_policy, make_scenario
from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import DecisionRequest

FILE = """
import helper_of_mine
from chaosops.core.actions import Noop, Restart
from chaosops.policies.protocol import ScriptedPolicy


def waits(view):
    return Noop()


def draws(view, dice):
    return dice.pick([Noop(), Restart("db")])


def monitor(view):
    return {helper_of_mine.FIRST(view): 0.9}


def forgets(view):
    view.role


def fails(view):
    return {}["latency"]


def greedy(view, dice, budget):
    return Noop()


class Callable:
    def __call__(self, view):
        return Noop()


class Scripted(ScriptedPolicy):
    def act(self, view, dice):
        return Noop()

    def suspect(self, view, dice):
        return dict.fromkeys(view.rules.agents, 0.25)


async def waits_long(view):
    return Noop()


class Awaited:
    async def __call__(self, view):
        return Noop()


class AwaitedRequests:
    async def decide(self, requests):
        return []


def talks(view):
    print("thinking")
    return Noop()


class Short:
    def decide(self, requests):
        return []


class Needs:
    def __init__(self, model, temperature=0):
        pass


class Breaks:
    def __init__(self):
        raise OSError("no weights")


NUMBER = 3
"""


def forget(folder: Path) -> None:
    """Forget the modules of a folder, as in a process of its own."""
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def request_of(role: Role, pack: str = "arena") -> DecisionRequest:
    env = Env(make_scenario(pack=pack))
    while env.role is not role:
        env.play(Decision(Noop()))
    return DecisionRequest(env.view, 7)


def decided(name: str | Any, role: Role = Role.OVERSIGHT, pack: str = "arena") -> Decision:
    (decision,) = load_policy(name).decide([request_of(role, pack)])
    return decision
