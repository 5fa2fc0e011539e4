"""The changes that docs/arena_adding.md shows, made to a copy of the sources and played there."""

from __future__ import annotations

import re
from functools import cache

import pytest

from chaosops.packs.arena import PACK
from tests.extending.checkout import ROOT, Checkout, run_python

GUIDE = (ROOT / "docs/arena_adding.md").read_text(encoding="utf-8")

PLAYED = """
from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.packs.arena import PACK

oracle = Team.of(load_policy("oracle"))

def company(split, seed):
    return PACK.incident(make_scenario(split=split, seed=seed))

def solved(split, seeds=6):
    episodes = [play(make_scenario(split=split, seed=seed), oracle) for seed in range(seeds)]
    return all(episode.resolved and not episode.false_flags for episode in episodes)
"""

# Truth, documents and first prompts of companies of every split that ships, as one digest.
COMPANIES = (
    PLAYED
    + f"""
from hashlib import sha256
from chaosops.core.vocabulary import Role, Tier
from chaosops.roles.prompt import render
from chaosops.roles.view import project

digest = sha256()
for split in {PACK.splits}:
    for tier in Tier:
        for seed in range(4):
            scenario = make_scenario(split=split, tier=tier, seed=seed)
            one, public = PACK.incident(scenario), Env(scenario).world.public
            prompts = [render(project(public, role)) for role in Role]
            digest.update(repr((one.company, one.plot, one.clauses, one.orders)).encode())
            digest.update(repr((public.rules.runbook, public.rules.charter, prompts)).encode())
print(digest.hexdigest())
"""
)


@cache
def companies_here() -> str:
    return run_python(ROOT / "src", COMPANIES)


def apply(checkout: Checkout, title: str) -> set[str]:
    """Make the changes of a section; the files that it touched."""
    section = GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    (diff,) = re.findall(r"^```diff\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    for part in re.split(r"^--- ", diff, flags=re.MULTILINE)[1:]:
        path, *lines = part.splitlines()
        old = [line[1:] for line in lines if line[:1] != "+"]
        new = [line[1:] for line in lines if line[:1] != "-"]
        checkout.edit(path, "\n".join(old) + "\n", "\n".join(new) + "\n")
    return checkout.touched()


@pytest.fixture
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("guide"))


@pytest.mark.parametrize("title", ["A fault", "A fleet agent", "A clause", "A wording", "A word"])
def test_what_is_added_changes_no_company(checkout: Checkout, title: str) -> None:
    """Of any split that ships: neither its truth, nor a word that a role reads first."""
    apply(checkout, title)
    assert checkout.python(COMPANIES + "print(PACK.splits[-1])").split() == [
        companies_here(),
        "extra",
    ]


def test_a_fault_plays_in_split_extra(checkout: Checkout) -> None:
    assert apply(checkout, "A fault") == {"packs/arena/mechanisms.py"}
    played = PLAYED + "print({company('extra', s).cause for s in range(6)}, solved('extra'))"
    assert checkout.python(played) == "{'trace_flood'} True"
    assert "trace_flood" in checkout.chaosops("arena", "show", "--split", "extra")


def test_a_fleet_agent_plays_in_split_extra(checkout: Checkout) -> None:
    assert apply(checkout, "A fleet agent") == {"packs/arena/agents.py"}
    rogues = PLAYED + 'print("night_watch" in {company("extra", s).rogue for s in range(60)})'
    assert checkout.python(rogues) == "True"
    assert checkout.python(PLAYED + 'print(solved("extra"))') == "True"


def test_a_clause_is_drawn_broken_and_kept(checkout: Checkout) -> None:
    assert apply(checkout, "A clause") == {"packs/arena/charter.py", "packs/arena/wordings.py"}
    assert checkout.python(PLAYED + """
from chaosops.packs.arena.charter import Direction

broken = []
for seed in range(80):
    incident = company("extra", seed)
    plot = incident.plot
    for agent, clauses in zip(plot.fleet, plot.charter, strict=True):
        for clause, text in zip(clauses, incident.clauses[agent], strict=True):
            if isinstance(clause, Direction):
                assert ("raise" if clause.up else "lower") in text
                acts = [act for act in incident.decisive_acts if act.agent == agent]
                broken += [agent == plot.rogue for act in acts if clause.broken_by(act, (), None)]
print(True in broken, solved("extra"))
""") == "True True"  # fmt: skip


def test_commands_with_split_extra_parse_after_a_change(checkout: Checkout) -> None:
    shown = re.findall(r"^\$ chaosops (.*--split extra.*)$", GUIDE, re.MULTILINE)
    assert len(shown) == 2
    apply(checkout, "A clause")
    parsed = "from chaosops.cli.app import parse\n" + "\n".join(
        f"print(parse({words.split()})[0].__name__)" for words in shown
    )
    assert checkout.python(parsed).split() == ["leaks", "investigate"]


def test_a_wording_is_used_in_split_extra_alone(checkout: Checkout) -> None:
    assert apply(checkout, "A wording") == {"packs/arena/wordings.py"}
    clauses = (
        PLAYED + 'print("is the most" in str([company("extra", s).clauses for s in range(99)]))'
    )
    assert checkout.python(clauses) == "True"


def test_a_word_is_drawn_in_split_extra_alone(checkout: Checkout) -> None:
    assert apply(checkout, "A word") == {"packs/arena/vocabulary.py"}
    code = (
        PLAYED
        + """
names = {kind.name for seed in range(40) for kind in company("extra", seed).plot.kinds}
print(any(name.endswith("_tangle") for name in names), solved("extra"))
"""
    )
    assert checkout.python(code) == "True True"
