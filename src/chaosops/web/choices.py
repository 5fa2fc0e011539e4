"""What visitors can choose, and how a query is read. All links to episodes are read here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Communicate, FlagRogue, Unreadable
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.printable import short
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import (
    DEFAULT_PACK,
    DEFAULT_SEED,
    DEFAULT_TIER,
    GENERATED_PACK,
    load_pack,
    loadable_packs,
    make_scenario,
    played_like,
    splits,
)
from chaosops.policies.llm.trained_on import read_trained_on
from chaosops.policies.registry import default_policies, registered
from chaosops.report.wording import Wordings, meant_action
from chaosops.roles.parse import parse_object
from chaosops.roles.view import RoleView
from chaosops.trained import trained_adapter
from chaosops.world.incident import Pack
from chaosops.world.real_time import is_permitted

# A person who named the failure would have nothing to find out, so the seed can choose it.
MYSTERY = "mystery"
LAST_SEED = 2**32 - 1
MESSAGE_LENGTH = 300
MOVES_LENGTH = 8_000


def code_of(failure: str) -> str:
    """The name of an incident on the page and in its links. The name of a failure would tell who
    did it before anything has happened.

    >>> code_of("dns_outage")
    'inc-103'
    """
    return f"inc-{100 + key_of('incident', failure) % 900}"


# The trace frames an innocent agent and shows too little of the rogue's act, the clause that it
# breaks is plain, and the fault comes back twice unless the rogue is stopped. It stands here,
# because a case for the page must not change the content hash of the pack.
_GUIDED = {GENERATED_PACK: {"split": "test", "tier": "hard", "seed": "328"}}

# The incident that the page's button for a live run starts.
_LIVE = {"tier": Tier.HARD.value, "seed": "22"}

DEFAULTS: dict[str, str] = {
    "pack": DEFAULT_PACK,
    "scenario": code_of(load_pack(DEFAULT_PACK).default_failure),
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
    """With ``mystery`` the seed draws the failure of a query that names none. A failure is named by
    its code or by its own name.

    >>> read_scenario({"tier": "easy", "seed": "7"}).failure
    'autoscaler_cost_cut'
    >>> read_scenario({"split": "test", "seed": "7"}).limit
    32
    """
    pack, failure, tier, split = (
        query.get(name) or None for name in ("pack", "scenario", "tier", "split")
    )
    seed = _seed(_word(query, "seed"))
    named = None if failure == MYSTERY else _failures_by_code().get(failure or "", failure)
    if failure and named:
        _require_incident(failure, pack, split)
    scenario = make_scenario(named, pack=pack, tier=tier, seed=seed, split=split)
    if failure == MYSTERY or (mystery and failure is None and scenario.failure):
        failures = load_pack(scenario.pack).drawn
        return replace(scenario, failure=failures[key_of(MYSTERY, seed) % len(failures)])
    return scenario


def require_named(kind: str, given: str, allowed: Sequence[str]) -> None:
    """
    >>> require_named("tier", "", ["easy", "hard"])
    Traceback (most recent call last):
    chaosops.core.errors.BadInput: no tier is named; allowed: easy, hard
    """
    if given in allowed:
        return
    if not given:
        raise BadInput(f"no {kind} is named; allowed: {', '.join(allowed)}")
    raise UnknownName(kind, given, allowed)


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
    # A menu has neither evidence nor confidence.
    plain = FlagRogue(action.target) if isinstance(action, FlagRogue) else action
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
                "title": pack.name,
                "scenarios": _incidents(pack),
                "splits": list(pack.splits),
                "defaults": {"split": pack.default_split, "right": _shown_beside(pack)},
                "real_time": pack.real_time,
            }
            for pack in loadable_packs(real_time=is_permitted())
        ],
        "tiers": [tier.value for tier in Tier],
        "roles": [role.value for role in Role],
        "last_seed": LAST_SEED,
        "defaults": DEFAULTS,
        "guided": next(
            {"pack": pack.name, **case}
            for pack in loadable_packs()
            if (case := pack.guided or _GUIDED.get(pack.name))
        ),
    }


def live_choice(policies: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """What the button for a live run starts; None where the server starts no processes. A model
    that is not loaded yet would keep the visitor waiting, so a script plays in its place, and the
    button names it."""
    found = [pack for pack in loadable_packs(real_time=is_permitted()) if pack.real_time]
    if not found:
        return None
    pack = found[0]
    ready = {policy["name"] for policy in policies if policy["state"] == "ready"}
    left = DEFAULTS["right"] if DEFAULTS["right"] in ready else _strongest_script(pack)
    return {
        "pack": pack.name,
        "split": pack.default_split,
        **_LIVE,
        "left": left,
        "right": _shown_beside(pack),
    }


def _incidents(pack: Pack) -> list[str]:
    """Sorted by code, so that the order tells nothing either."""
    return [] if pack.splits else [MYSTERY, *sorted(map(code_of, pack.failures()))]


def _require_incident(given: str, pack: str | None, split: str | None) -> None:
    """Say which incidents there are by their codes. The names would tell who did it."""
    unnamed = DEFAULT_PACK if split is None else splits().get(split, DEFAULT_PACK)
    loaded = load_pack(pack or unnamed)
    if loaded.splits:
        no = f"pack {loaded.name} has splits and no incident to name"
        raise BadInput(f"{no}, got {short(given)}; leave it out")
    if _failures_by_code().get(given, given) not in loaded.failures():
        raise UnknownName("incident", given, _incidents(loaded))


@cache
def _failures_by_code() -> dict[str, str]:
    """Two failures of one code would be an error of the packs; a test checks it."""
    names = (name for pack in loadable_packs() if not pack.splits for name in pack.failures())
    return {code_of(name): name for name in names}


def _shown_beside(pack: Pack) -> str:
    """The trained model where it can play; elsewhere the strongest script."""
    known = read_trained_on(trained_adapter())
    if pack.real_time:
        return "none"  # one company at a time
    like = played_like(pack.name)
    if known is None or known.get(like.name) == like.version:
        return DEFAULTS["right"]
    return _strongest_script(pack)


def _strongest_script(pack: Pack) -> str:
    names = default_policies(played_like(pack.name).name)
    return [name for name in names if not registered()[name].sees_truth][-1]


def _word(query: Mapping[str, str], name: str) -> str:
    return query.get(name) or DEFAULTS[name]


def _seed(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= LAST_SEED:
        return int(text)
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise BadInput(f"seed must be a whole number from 0 to {LAST_SEED}, got {shown!r}")
