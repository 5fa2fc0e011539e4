"""Figures in the documents are those the commands print."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chaosops.cli import main
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.stored import read_results
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.splits import (
    TIERS,
    TRAINED_AGENTS,
    TRAINED_MECHANISMS,
    UNSEEN_AGENTS,
    UNSEEN_MECHANISMS,
)
from chaosops.policies.llm.adapter import adapter_identity
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


def test_the_readme_shows_what_the_trained_model_was_measured_at() -> None:
    shipped = EVALUATIONS / "classic_published"
    manifest, _ = read_results(shipped)
    assert _adapter_digest() in manifest["policies"]["trained"]["adapter"]
    rows = json.loads((shipped / "summary.json").read_text(encoding="utf-8"))
    table = markdown_table([row for row in rows if row["policy"] in ("oracle", "trained")])
    measured = [line for line in table.splitlines() if line.startswith("| trained")]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [_cells(line) for line in readme.splitlines() if line.startswith("| trained")] == [
        _cells(line) for line in measured
    ]


def _adapter_digest() -> str:
    return adapter_identity(trained_adapter())


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


HEADLINE = (
    "split, tier",
    "trained",
    "heuristic",
    "oracle",
    "above the heuristic",
    "solved",
    "rogue caught",
    "innocent agents flagged / benign",
    "AUROC, turn 1",
    "AUROC, turn 2",
    "AUROC, turn 3",
)


def headline(splits: Sequence[str], tiers: Sequence[str]) -> list[str]:
    """The rows of the trained model, from the files that ship."""
    rows = []
    for split in splits:
        shipped = EVALUATIONS / f"arena_{split}"
        summary = json.loads((shipped / "summary.json").read_text(encoding="utf-8"))
        monitor = json.loads((shipped / "monitor.json").read_text(encoding="utf-8"))
        for tier in tiers:
            of = {_short(row): row for row in summary if row["tier"] == tier}
            (oversight,) = (
                row
                for row in monitor["summary"]
                if row["tier"] == tier and _short(row) == "trained"
            )
            (paired,) = (
                row
                for row in monitor["paired"]
                if (row["tier"], row["measure"], _short(row)) == (tier, "reward", "trained")
            )
            cells = [
                f"{split}, {tier}",
                *(f"{of[name]['mean_reward']:+.0f}" for name in ("trained", "heuristic", "oracle")),
                _with_interval(paired, "{:+.0f}"),
                f"{100 * of['trained']['solved']:.0f} %",
                _with_interval(oversight["rogue_caught"], "{:.0%}"),
                _with_interval(oversight["false_flags_per_benign_episode"], "{:.2f}"),
                *(_with_interval(oversight.get(f"auroc_turn_{k}"), "{:.2f}") for k in (1, 2, 3)),
            ]
            rows.append("| " + " | ".join(cells) + " |")
    return ["| " + " | ".join(HEADLINE) + " |", "|---|" + "---:|" * (len(HEADLINE) - 1), *rows]


def _short(row: Mapping[str, Any]) -> str:
    return str(row["policy"]).partition("+")[0]


def _with_interval(figure: Mapping[str, Any] | None, form: str) -> str:
    """A file of an earlier version does not hold every figure."""
    if figure is None or figure["value"] is None:
        return "n/a"
    if figure["ci95"] is None:
        return f"{form.format(figure['value'] + 0.0)} [n/a]"
    low, high = (form.format(bound + 0.0) for bound in figure["ci95"])
    return f"{form.format(figure['value'] + 0.0)} [{low}, {high}]"


SPLITS = ("test", "ood_names", "ood_rogue", "ood_scale", "ood_mechanism")


def test_the_documents_show_what_the_trained_model_was_measured_at_in_the_arena() -> None:
    for split in SPLITS:
        manifest, _ = read_results(EVALUATIONS / f"arena_{split}")
        (status,) = (
            status
            for policy, status in manifest["policies"].items()
            if policy.startswith("trained")
        )
        assert _adapter_digest() in status["adapter"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    heads = [
        *headline(SPLITS[:1], ("easy", "medium", "hard")),
        *headline(SPLITS[1:], ("hard",))[2:],
    ]
    assert "\n".join(heads) in readme
    arena = (ROOT / "docs/arena1.md").read_text(encoding="utf-8")
    assert "\n".join(headline(SPLITS, ("easy", "medium", "hard"))) in arena


def test_the_readme_opens_with_figures_that_ship() -> None:
    shipped = EVALUATIONS / "arena_test"
    summary = json.loads((shipped / "summary.json").read_text(encoding="utf-8"))
    monitor = json.loads((shipped / "monitor.json").read_text(encoding="utf-8"))["summary"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {
        "heuristic": "heuristic",
        "trained": "**trained**",
        "oracle": "oracle, which knows the truth",
    }
    for policy, title in names.items():
        (row,) = [r for r in summary if (_short(r), r["tier"]) == (policy, "hard")]
        (seen,) = [r for r in monitor if (_short(r), r["tier"]) == (policy, "hard")]
        shares = (row["solved"], seen["rogue_caught"]["value"])
        flagged = seen["false_flags_per_benign_episode"]["value"]
        cells = (
            f"{row['mean_reward']:+.0f}",
            *(f"{share:.0%}".replace("%", " %") for share in shares),
        )
        assert f"| {title} | {' | '.join(cells)} | {flagged:.2f} |" in readme


def test_the_page_of_version_1_shows_the_table_that_eval_prints() -> None:
    """Most rows stand in the evaluation that ships, and ``chaosops verify`` plays those again."""
    shipped = json.loads((EVALUATIONS / "arena_test/summary.json").read_text(encoding="utf-8"))
    others = evaluate(["keyword", "last_toucher"], scenarios(pack="arena1", split="test"))
    order = ["random", "keyword", "heuristic", "last_toucher", "oracle"]
    rows = [row for row in (*shipped, *others.summary()) if row["policy"] in order]
    rows.sort(key=lambda row: order.index(row["policy"]))
    assert markdown_table(rows) in (ROOT / "docs/arena1.md").read_text(encoding="utf-8")


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


if __name__ == "__main__":  # python -m tests.test_documents: the tables, from the files that ship
    print("\n".join(headline(SPLITS, ("easy", "medium", "hard"))), "\n")
    print(markdown_table(json.loads((EVALUATIONS / "classic_published/summary.json").read_text())))
