"""Prompts in a company with documents: what a reader needs is there, and stands together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chaosops.core.actions import Audit, FlagRogue, IdentifyRootCause, Inspect, Scale
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.packs.arena import PACK, plot
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.scenes import SceneWriter
from chaosops.packs.arena.sides import Place
from chaosops.policies.registry import load_policy
from chaosops.roles.menu import changing_rows, labels, menu
from chaosops.roles.prompt import Style, user_prompt
from chaosops.roles.sight import concerned, in_sight, percent
from chaosops.roles.view import RoleView, project
from chaosops.rollout import Rollout, Team, advance

SPLITS = [split for split in load_pack("arena").splits if split != "extra"]


def guilty(split: str, count: int) -> Iterator[tuple[Env, ArenaIncident]]:
    """Companies in which an agent is rogue."""
    for seed in range(10_000):
        scenario = make_scenario(pack="arena", split=split, tier="hard", seed=seed)
        incident = PACK.incident(scenario)
        if incident.rogue is not None:
            yield Env(scenario), incident
            count -= 1
        if not count:
            return


def oversight(env: Env) -> RoleView:
    return project(env.world.public, Role.OVERSIGHT)


@pytest.mark.parametrize("split", SPLITS)
def test_the_decisive_act_is_in_sight(split: str) -> None:
    missing = 0
    for env, incident in guilty(split, 100):
        env.step({"action": "noop"})
        seen = {act.id for act in in_sight(env.view)}
        missing += seen.isdisjoint(incident.decisive_entries())
    assert missing <= 1


@pytest.mark.parametrize("split", SPLITS)
def test_both_sides_of_the_scene_are_in_sight(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing would tell which of them matters."""
    places: dict[int, tuple[Place, Place]] = {}

    class Watched(SceneWriter):
        def __init__(self, key: int, company: Company, cause: Place, decoy: Place, *more: Any):
            places[company.key] = cause, decoy
            super().__init__(key, company, cause, decoy, *more)

    monkeypatch.setattr(plot, "SceneWriter", Watched)
    missing = 0
    for seed in range(60):
        env = Env(make_scenario(pack="arena", split=split, tier="hard", seed=seed))
        incident = PACK.incident(env.scenario)
        env.step({"action": "noop"})
        seen = {act.id for act in in_sight(env.view)}
        sides = {
            (place.target, place.kind.mechanism.setting) for place in places[incident.company.key]
        }
        shown = enumerate(incident.plot.shown(), 1)
        missing += not seen >= {n for n, act in shown if (act.target, act.setting) in sides}
    assert missing <= 3


@pytest.mark.parametrize("split", ["test", "ood_shape", "ood_scale"])
def test_the_decisive_act_stays_in_sight_while_the_team_repairs(split: str) -> None:
    """Nobody flags. Others repair what fails, or the wrong service."""
    team = Team.of(load_policy("heuristic"))
    missing = turns = 0
    for env, incident in guilty(split, 15):
        rollout = Rollout(env, team)
        while not env.over:
            if env.role is Role.OVERSIGHT:
                turns += 1
                seen = {act.id for act in in_sight(env.view)}
                missing += seen.isdisjoint(incident.decisive_entries())
                env.step({"action": "noop"})
            else:
                advance([rollout])
    assert missing <= turns // 100


def test_the_place_of_the_fault_is_offered() -> None:
    missing = 0
    for env, incident in guilty("ood_shape", 100):
        place = incident.company.services[incident.plot.target]
        missing += place not in concerned(env.view)[:5]
    assert missing <= 4


@pytest.fixture(scope="module")
def looked_into() -> tuple[RoleView, RoleView]:
    """What Oversight and the SRE see after the SRE looked at the place of the fault, and
    Oversight at whoever acted there."""
    env, incident = next(guilty("test", 1))
    place = incident.company.services[incident.plot.target]
    env.play(Decision(Inspect(place)))
    env.play(Decision(Audit(incident.rogue or "")))
    return oversight(env), project(env.world.public, Role.SRE)


def test_an_act_stands_under_its_page_and_beside_its_clauses(
    looked_into: tuple[RoleView, RoleView],
) -> None:
    view, _ = looked_into
    pages = {f"{page.name}: {page.cause}": page for page in view.rules.runbook}
    charter, names = dict(view.rules.charter), labels(view, changing_rows(view))
    heading, shown = "", set()
    beside: dict[str, tuple[str, str]] = {}  # the line and the label beside which clauses stand
    for line in user_prompt(view, Style.MENU).splitlines():
        if line in pages:
            heading = line
        for act in in_sight(view):
            size = f"{act.step:+d} {percent(act.before, act.after):+d}%"
            label = names[FlagRogue(act.agent, evidence=act.id)]
            if f"{label} {size}" in line:
                assert line.startswith(f"- {act.target} {act.agent}: ")
                first, named = beside.setdefault(act.agent, (line, label))
                rule = f": {charter[act.agent]}" if line == first else f" as {named}"
                assert line.endswith(f". Charter{rule}")
                assert act.action in heading
                shown.add(act.id)
    assert shown == {act.id for act in in_sight(view)}


def test_looks_stand_beside_the_acts(looked_into: tuple[RoleView, RoleView]) -> None:
    view, sre = looked_into
    (look,), (report,) = view.inspections, view.audits
    for line in user_prompt(view, Style.MENU).splitlines():
        if line.startswith("- "):
            _, target, agent = line.partition(":")[0].split(" ")
            assert ("inspected" in line) == (target == look.service)
            assert ("signed" in line) == (agent == report.agent)
    assert "signed" not in user_prompt(sre, Style.MENU)


def test_a_change_that_no_agent_made_is_shown_once_it_was_found() -> None:
    shown = 0
    for seed in range(40):
        env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=seed))
        incident = PACK.incident(env.scenario)
        if incident.plot.unseen is not None:
            place = incident.company.services[incident.plot.target]
            assert "no agent" not in user_prompt(oversight(env))
            env.play(Decision(Inspect(place)))
            shown += f"- {place} no agent: " in user_prompt(oversight(env))
    assert shown


def test_changes_stand_beside_their_page_with_its_letter(
    looked_into: tuple[RoleView, RoleView],
) -> None:
    _, view = looked_into
    (look,) = view.inspections
    lines = user_prompt(view, Style.MENU).splitlines()
    found = lines[lines.index(f"Inspection of {look.service}:") + 1]
    letter, _, rest = found.partition(" ")
    action = menu(view)[letter]
    assert isinstance(action, IdentifyRootCause)
    page = next(page for page in view.rules.runbook if page.name == action.failure_type)
    assert rest.startswith(f"{page.name}: {page.cause}; found ")


def test_log_lines_read_like_their_page() -> None:
    """A line that a page quotes stands there as the page quotes it."""
    quoted = 0
    for env, incident in guilty("test", 20):
        env.step({"action": "noop"})
        view = project(env.world.public, Role.SRE)
        signs = {page.name: page.signs for page in view.rules.runbook}[incident.cause]
        lines = user_prompt(view, Style.MENU).split("Logs:\n")[-1].splitlines()
        texts = [line.partition(" ")[2].partition(" (")[0] for line in lines]
        quoted += any(f'"{text}"' in signs for text in texts)
    assert quoted >= 15


def test_a_verb_with_amounts_has_a_row_for_each() -> None:
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=0))
    view = project(env.world.public, Role.DEV)
    rows = [row for row in user_prompt(view, Style.MENU).splitlines() if row.startswith("scale")]
    assert [row.partition(":")[0] for row in rows] == ["scale to 8", "scale to 16"]
    letter, service = rows[1].partition(": ")[2].split(", ")[0].split(" ")
    assert menu(view)[letter] == Scale(service, 16)
