"""An episode that is served, and what of it may be told to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from uuid import uuid4

from chaosops.core.actions import Action, Unreadable, to_wire
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import Message
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.llm.formats import load_format
from chaosops.roles.parse import parse_object
from chaosops.roles.schema import action_schema
from chaosops.roles.view import Recorded, RoleView, project
from chaosops.rubrics import standard
from chaosops.server.options import ResetOptions, chosen_scenario

# Scores depend on events alone and are kept by the rubric: all episodes share one.
_RUBRIC = standard()

NOTHING_SEEN: Mapping[str, Any] = {"view": None, "messages": (), "action_schema": None}


class Showing:
    """What the role on turn is told of an episode: its view as data and as a prompt, and what it
    may do. A part that the client did not ask for is not made."""

    def __init__(self, env: Env, prompt_format: str, include: Iterable[str]) -> None:
        self.format = load_format(prompt_format)
        self._env = env
        self._include = frozenset(include)
        self._chat = _ChatWire()

    def read_reply(self, reply: str) -> Action:
        """What a model wrote. A mistake in it is an action too."""
        return self.format.read(self._env.view, reply)

    def seen(self) -> dict[str, Any]:
        rules, step, limit, journal, sensors, findings = self._env.world.public
        view = self._env.view
        role, include = view.role, self._include
        if "view" in include and "messages" in include:  # they share one reading
            sensors = Recorded(view.health, view.metrics, view.logs, view.alerts, view.trace)
        seen: dict[str, Any] = {"role": role.value, **NOTHING_SEEN}
        if "view" in include:
            seen["view"] = RoleView(role, rules, step, limit, (), sensors, findings).to_wire()
            seen["view"]["chat"] = self._chat.of(journal, role)
        if "messages" in include:
            whole = RoleView(role, rules, step, limit, journal, sensors, findings)
            seen["messages"] = self.format.messages(whole)
        if "action_schema" in include:
            seen["action_schema"] = action_schema(rules, role)
        return seen


class ServedEpisode:
    def __init__(self, options: ResetOptions) -> None:
        scenario = chosen_scenario(options)
        self.id = options.episode_id or str(uuid4())
        self.env = Env(scenario, _RUBRIC)
        self._showing = Showing(self.env, options.format, options.include)
        self.record = Episode(scenario, self.env.cause, self.env.rogue, "served")
        self.reward = 0.0

    @property
    def role(self) -> Role | None:
        """Whose turn it is; nobody's when the episode is over."""
        return None if self.env.over else self.env.role

    def play(self, action: Action, suspicion: Mapping[str, float] | None = None) -> Turn:
        if self.env.over:
            raise BadInput("the episode is over: reset starts another")
        turn = self.env.play(Decision(action, suspicion))
        self.record.turns.append(turn)
        self.reward += turn.score.total
        return turn

    def read_reply(self, reply: str) -> Action:
        return self._showing.read_reply(reply)

    def seen(self) -> dict[str, Any]:
        return self._showing.seen()

    @property
    def rules(self) -> dict[str, Any]:
        """All of them, for whoever drives all four roles."""
        return rules_to_wire(self.env.world.public.rules)

    def rules_of(self, role: Role) -> dict[str, Any]:
        return rules_to_wire(project(self.env.world.public, role).rules)

    def debrief(self) -> dict[str, Any]:
        """The truth. There is none to be had before the end."""
        if not self.env.over:
            raise BadInput("the truth is told when the episode is over")
        record, scenario = self.record, self.record.scenario
        return {
            "pack": scenario.pack,
            "tier": scenario.tier.value,
            "split": scenario.split,
            "seed": scenario.seed,
            "failure": record.cause,
            "rogue": record.rogue,
            "rogue_caught": record.rogue_caught,
            "resolved": record.resolved,
            "steps": record.steps,
            "wrong_fixes": record.wrong_fixes,
            "false_flags": record.false_flags,
            "unknown_flags": record.unknown_flags,
            "miscommunications": record.miscommunications,
            "reward": record.reward,
            "rubrics": record.rubric_totals,
        }


class _ChatWire:
    """The chat only grows: what was once made ready for the wire is kept."""

    def __init__(self) -> None:
        self._known: list[tuple[Message | None, dict[str, Any]]] = []

    def of(self, journal: tuple[Message, ...], role: Role) -> list[dict[str, Any]]:
        for message in journal[len(self._known) :]:
            private = message if message.to is not None else None
            self._known.append((private, message_to_wire(message)))
        return [
            said for private, said in self._known if private is None or private.readable_by(role)
        ]


def message_to_wire(message: Message) -> dict[str, Any]:
    """As ``RoleView.to_wire`` has it."""
    step, sender, action = message
    said = {"step": step, "sender": str(sender), "to": message.to, "text": message.text}
    return said if message.is_talk else {**said, "action": to_wire(action)}


def read_action(fields: Mapping[str, Any]) -> Action:
    """A flat JSON action. One that cannot be read is refused: the world never hears of it."""
    action = parse_object(fields)
    if isinstance(action, Unreadable):
        raise BadInput(f"{action.error}: {action.detail}")
    return action


def turn_to_wire(turn: Turn) -> dict[str, Any]:
    score = turn.score
    return {
        "role": turn.role.value,
        "action": to_wire(turn.decision.action),
        "rubrics": dict(score.rubrics),
        "components": {name: dict(parts) for name, parts in score.components.items()},
        "miscommunication": turn.events.miscommunication,
    }


def _calls_to_wire(rules: Rulebook) -> dict[str, list[str]] | None:
    if rules.is_company and not rules.calls:
        return None
    return {caller: list(callees) for caller, callees in rules.calls.items()}


@lru_cache(maxsize=256)
def rules_to_wire(rules: Rulebook) -> dict[str, Any]:
    return {
        "services": list(rules.services),
        "agents": list(rules.agents),
        "causes": list(rules.causes),
        "verbs": {role.value: list(verbs) for role, verbs in rules.verbs.items()},
        "replica_choices": list(rules.replica_choices),
        "calls": _calls_to_wire(rules),
        "limits_pct": dict(rules.limits_pct),
    }
