"""What visitors can choose, and how a query is read. All links to episodes are read here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Communicate, FlagRogue, Unreadable
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import (
    DEFAULT_PACK,
    DEFAULT_SEED,
    DEFAULT_TIER,
    later_version,
    load_pack,
    loadable_packs,
    make_scenario,
    splits,
)
from chaosops.policies.llm.trained_on import read_trained_on
from chaosops.policies.registry import default_policies, registered
from chaosops.report.wording import Wordings, meant_action
from chaosops.roles.parse import parse_object
from chaosops.roles.view import RoleView
from chaosops.trained import trained_adapter
from chaosops.world.incident import Pack

# A person who named the failure would have nothing to find out, so the seed can choose it.
MYSTERY = "mystery"
LAST_SEED = 2**32 - 1
MESSAGE_LENGTH = 300
MOVES_LENGTH = 8_000

DEFAULTS: dict[str, str] = {
    "pack": DEFAULT_PACK,
    "scenario": load_pack(DEFAULT_PACK).default_failure,
    "split": load_pack(next(iter(splits().values()))).default_split,
    "tier": DEFAULT_TIER.value,
    "seed": str(DEFAULT_SEED),
    "left": "random",
    "right": "trained",
    "role": Role.OVERSIGHT.value,
    "partners": "heuristic",
}


class SeatMoves(NamedTuple):
    """The role that a visitor played, and the moves, to show the episode again."""

    role: Role
    moves: tuple[Mapping[str, Any], ...] = ()


def read_scenario(query: Mapping[str, str], *, mystery: bool = False) -> Scenario:
    """With ``mystery`` the seed draws the failure of a query that names none.

    >>> read_scenario({"tier": "easy", "seed": "7"}).failure
    'autoscaler_cost_cut'
    >>> read_scenario({"split": "test", "seed": "7"}).limit
    32
    """
    pack, failure, tier, split = (
        query.get(name) or None for name in ("pack", "scenario", "tier", "split")
    )
    seed = _seed(_word(query, "seed"))
    scenario = make_scenario(
        None if failure == MYSTERY else failure, pack=pack, tier=tier, seed=seed, split=split
    )
    if failure == MYSTERY or (mystery and failure is None and scenario.failure):
        failures = load_pack(scenario.pack).drawn
        return replace(scenario, failure=failures[key_of(MYSTERY, seed) % len(failures)])
    return scenario


def read_role(query: Mapping[str, str]) -> Role:
    name = _word(query, "role")
    try:
        return Role(name)
    except ValueError:
        raise UnknownName("role", name, [role.value for role in Role]) from None


def read_seat_moves(query: Mapping[str, str]) -> SeatMoves | None:
    """The ``role`` and ``moves`` in a link to an episode that a visitor played."""
    text = query.get("moves")
    if not text:
        return None
    if len(text) > MOVES_LENGTH:
        raise BadInput(f"moves may have at most {MOVES_LENGTH} characters, got {len(text)}")
    try:
        moves = json.loads(text)
    except (ValueError, RecursionError):
        moves = None
    if not isinstance(moves, list) or not all(isinstance(move, dict) for move in moves):
        raise BadInput("moves must be a JSON list of actions, as the page writes it")
    return SeatMoves(read_role(query), tuple(moves))


def read_move(move: object, rules: Rulebook, role: Role, wordings: Wordings) -> Action:
    """A legal action of the role, or a message. Anything else is an error."""
    if not isinstance(move, Mapping):
        raise BadInput('a move must be a JSON object such as {"action": "noop"}')
    action = meant_action(parse_object(move), wordings)
    if isinstance(action, Unreadable):
        raise BadInput(f"not an action ({action.error}): {action.detail}")
    if isinstance(action, Communicate):
        if not 1 <= len(action.message.strip()) <= MESSAGE_LENGTH:
            raise BadInput(f"a message has 1 to {MESSAGE_LENGTH} characters")
        return action
    plain = replace(action, evidence=None) if isinstance(action, FlagRogue) else action
    if plain not in rules.legal_actions(role):
        allowed = ", ".join(rules.verbs[role])
        raise BadInput(f"{role} cannot do '{action}' here; {role} may: {allowed}")
    return action


def require_act(action: Action, view: RoleView) -> None:
    """The evidence of a flag is an act of the accused that the visitor sees."""
    if not isinstance(action, FlagRogue) or action.evidence is None:
        return
    agents = {entry.id: entry.agent for entry in view.trace if entry.id}
    if action.evidence not in agents:
        raise BadInput(f"no act has the number {action.evidence}; leave evidence out, or name one")
    if agents[action.evidence] != action.target:
        by = agents[action.evidence]
        raise BadInput(f"act #{action.evidence} is by {by}, not by {action.target}")


def catalogue() -> dict[str, Any]:
    """What the page offers, without the policies."""
    return {
        "packs": [
            {
                "name": pack.name,
                "title": _title(pack),
                "scenarios": [MYSTERY, *pack.failures()] if not pack.splits else [],
                "wordings": dict(pack.wordings),
                "splits": list(pack.splits),
                "defaults": {"split": pack.default_split, "right": _shown_beside(pack)},
            }
            for pack in loadable_packs()
        ],
        "tiers": [tier.value for tier in Tier],
        "roles": [role.value for role in Role],
        "last_seed": LAST_SEED,
        "defaults": DEFAULTS,
    }


def _title(pack: Pack) -> str:
    later = later_version(pack.name)
    return f"{pack.name}: first version of {later}" if later else pack.name


def _shown_beside(pack: Pack) -> str:
    """The trained model where it can play; elsewhere the strongest script."""
    known = read_trained_on(trained_adapter())
    if known is None or known.get(pack.name) == pack.version:
        return DEFAULTS["right"]
    scripts = (name for name in default_policies(pack.name) if not registered()[name].sees_truth)
    return list(scripts)[-1]


def _word(query: Mapping[str, str], name: str) -> str:
    return query.get(name) or DEFAULTS[name]


def _seed(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= LAST_SEED:
        return int(text)
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise BadInput(f"seed must be a whole number from 0 to {LAST_SEED}, got {shown!r}")
