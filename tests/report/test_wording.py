"""What people read names no culprit."""

from __future__ import annotations

import re
from html import unescape

import pytest

from chaosops.core.actions import Communicate, IdentifyRootCause
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.transcript import transcript
from chaosops.report.wording import meant_action, worded_action, worded_view
from chaosops.roles.prompt import user_prompt
from chaosops.roles.view import project
from chaosops.rollout import Team, play
from tests.companies import guilty_case

CLASSIC = load_pack("classic")
TELLING = re.compile(r"rogue|bot|deploy|release|scal|load|balanc|rout|traffic|cost", re.IGNORECASE)


def test_every_failure_has_a_wording_of_its_own() -> None:
    assert set(CLASSIC.wordings) == set(CLASSIC.failures())
    assert len(set(CLASSIC.wordings.values())) == len(CLASSIC.wordings)
    for words in CLASSIC.wordings.values():
        assert not TELLING.search(words), "no agent and nothing that only one agent does"
        assert "_" not in words


def test_a_wording_is_understood() -> None:
    for name, words in CLASSIC.wordings.items():
        named = IdentifyRootCause(name)
        assert str(worded_action(named, CLASSIC.wordings)) == f"root cause: {words}"
        assert meant_action(IdentifyRootCause(words), CLASSIC.wordings) == named
        assert meant_action(named, CLASSIC.wordings) == named


def test_what_a_model_says_is_worded_too() -> None:
    said = worded_action(Communicate("it is rogue_deploy_bot!"), CLASSIC.wordings)
    assert str(said) == "it is crashing workers!"


def test_prompts_keep_ids() -> None:
    env = Env(make_scenario("autoscaler_cost_cut"))
    env.step({"action": "identify_root_cause", "failure_type": "autoscaler_cost_cut"})
    view = project(env.world.public, Role.OVERSIGHT)
    assert "root cause: autoscaler_cost_cut" in user_prompt(view)
    shown = user_prompt(worded_view(view, CLASSIC.wordings))
    assert "root cause: too little capacity" in shown
    assert "autoscaler_cost_cut" not in shown


@pytest.mark.parametrize("failure", CLASSIC.failures())
def test_no_document_for_people_shows_an_id(failure: str) -> None:
    episode = play(make_scenario(failure), Team.of(load_policy("oracle")))
    assert episode.cause == failure
    for text in (transcript(episode), episode_html(episode, {}), episode_markdown(episode, {})):
        assert CLASSIC.wordings[failure] in text
        if "_" in failure:
            assert failure not in text


def test_documents_and_evidence_stand_in_the_viewer() -> None:
    case = guilty_case()
    scenario = make_scenario(pack="arena", split="test", seed=case.seed)
    episode = play(scenario, Team.of(load_policy("oracle")))
    rules = Env(scenario).world.public.rules
    flags = [turn.decision.action for turn in episode.turns if turn.events.rogue_flagged]
    page, text = episode_html(episode, {}), episode_markdown(episode, {})
    assert all(f" for act #{flag.evidence}" in page for flag in flags if flag.evidence)  # type: ignore[attr-defined]
    for shown in (unescape(page), text):
        assert all(page.cause in shown for page in rules.runbook)
        assert all(clauses in shown for _, clauses in rules.charter)
        assert f"{case.act.agent} broke its charter" in shown
