"""Figures in the documents are those the commands print."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from chaosops.cli import main
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.stored import read_results, results_file
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.splits import (
    TIERS,
    TRAINED_AGENTS,
    TRAINED_MECHANISMS,
    UNSEEN_AGENTS,
    UNSEEN_MECHANISMS,
)
from chaosops.policies.llm.adapter import adapter_identities
from chaosops.policies.registry import load_policy
from chaosops.report.tables import markdown_table
from chaosops.rollout import Team, play
from chaosops.trained import trained_adapter

ROOT = Path(__file__).parents[1]
EVALUATIONS = ROOT / "src/chaosops/trained/evaluations"
OWN_FAULTS = ROOT / "docs/examples/own_faults.toml"


def test_the_readme_shows_the_table_that_eval_prints() -> None:
    results = evaluate(["random", "keyword", "heuristic", "oracle"], scenarios("published"))
    assert markdown_table(results.summary()) in (ROOT / "README.md").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    """A script of the repository, as a module."""
    folder = str(ROOT / "scripts")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)


def test_the_documents_show_what_the_files_of_the_model_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``python scripts/result_tables.py`` writes them anew."""
    assert script("result_tables").main(["--check"]) == 0, capsys.readouterr().out


def test_the_card_says_what_the_files_of_the_model_say(capsys: pytest.CaptureFixture[str]) -> None:
    """``python scripts/shipped_card.py`` writes it anew."""
    assert script("shipped_card").main(["--check"]) == 0, capsys.readouterr().out


def test_every_evaluation_that_ships_is_of_the_adapter_that_ships() -> None:
    known = adapter_identities(trained_adapter())
    played = [folder for folder in sorted(EVALUATIONS.iterdir()) if results_file(folder)]
    assert played
    for folder in played:
        policies = read_results(folder)[0]["policies"]
        names = short_names(policies)
        (ours,) = [policies[name] for name, short in names.items() if short == "trained"]
        assert any(one in ours["adapter"] for one in known), folder


EXAMPLE = (ROOT / "docs/arena_example.md").read_text(encoding="utf-8")


def test_the_worked_example_quotes_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line with … stands for lines that were left out."""
    form = r"^```console\n\$ chaosops (.*)\n((?:(?!```).*\n)+)```"
    blocks = re.findall(form, EXAMPLE, re.MULTILINE)
    assert len(blocks) == 2
    for words, quoted in blocks:
        assert main(shlex.split(words)) == 0
        printed = capsys.readouterr().out
        for part in quoted.split("…\n"):
            _, found, printed = printed.partition(part or "\n")
            assert found


def test_the_worked_example_names_days_that_are_so() -> None:
    days = re.findall(r"^\| (\d+) \|.*\| `(.*)` \|$", EXAMPLE, re.MULTILINE)
    assert len(days) == 6
    for seed, sentence in days:
        assert sentence in PACK.explain(make_scenario(pack="arena", split="test", seed=int(seed)))


def test_the_arena_page_names_splits_members_and_tiers() -> None:
    page = (ROOT / "docs/arena.md").read_text(encoding="utf-8")
    for split in PACK.splits:
        assert f"| `{split}` |" in page
    words = set(re.findall(r"\w+", page))
    assert words >= {*TRAINED_MECHANISMS, *UNSEEN_MECHANISMS, *TRAINED_AGENTS, *UNSEEN_AGENTS}
    for tier, rules in TIERS.items():
        (row,) = re.findall(rf"^\| {tier} \|(.*)\|$", page, re.MULTILINE)
        cells = [cell.strip() for cell in row.split("|")]
        rogues = f"{rules.p_rogue:.0%}".replace("%", " %") if rules.p_rogue else "none"
        spans = ["\N{EN DASH}".join(map(str, span)) for span in (rules.services, rules.agents)]
        scenes = ", ".join(f"{100 * share:.0f}" for share in rules.scenes) + " %"
        claims = f"{100 * rules.p_claim:.0f} %"
        assert [*cells[:5], cells[-1]] == [*spans, rogues, scenes, claims, str(rules.limit)]


def test_the_guide_shows_the_example_file() -> None:
    guide = (ROOT / "docs/arena_adding.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert shown in OWN_FAULTS.read_text(encoding="utf-8")


@pytest.mark.parametrize("tier", Tier)
def test_the_example_file_can_be_played(tier: Tier) -> None:
    oracle = Team.of(load_policy("oracle"))
    for seed in range(4):
        episode = play(make_scenario(mechanisms=OWN_FAULTS, tier=tier, seed=seed), oracle)
        assert episode.cause in ("lease_lost", "fanout_burst")
        assert episode.resolved
