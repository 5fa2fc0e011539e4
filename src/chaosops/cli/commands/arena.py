"""``chaosops arena``: examine the pack that generates companies."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from chaosops.cli.options import (
    CommandLine,
    Count,
    File,
    Json,
    Mechanisms,
    Policy,
    Seed,
    Split,
    Tier,
    whole,
)
from chaosops.cli.output import print, print_result
from chaosops.cli.progress import Progress
from chaosops.core import vocabulary
from chaosops.core.files import open_file
from chaosops.core.scenario import Scenario
from chaosops.core.source import source_commit
from chaosops.evaluation.investigator import investigate as find_rogue
from chaosops.evaluation.reading_cases import ROLES
from chaosops.packs import DEFAULT_SEED, DEFAULT_TIER, make_scenario
from chaosops.packs.arena import PACK
from chaosops.report.company import company_lines, draw_graph
from chaosops.report.figures import require_matplotlib
from chaosops.report.reading import reading_lines
from chaosops.report.tables import aligned
from chaosops.rollout import load_team
from chaosops.version import VERSION
from chaosops.world import engine

if TYPE_CHECKING:
    from chaosops.evaluation.leaks import Sample

Prompts = Annotated[int, whole(100)]
_FAIR = 0.95
_ROLES = (*(role.value for role in ROLES), "all")


def show(
    *,
    split: Split = None,
    tier: Tier = DEFAULT_TIER,
    seed: Seed = DEFAULT_SEED,
    mechanisms: Mechanisms = None,
    truth: bool = False,
    picture: Annotated[File | None, Parameter(metavar="PNG")] = None,
) -> None:
    """
    Args:
        seed: seed of the company
        truth: show who caused it and how
        picture: draw the call graph too
    """
    scenario = make_scenario(
        pack=PACK.name, split=split, tier=tier, seed=seed, mechanisms=mechanisms or ""
    )
    if picture:
        require_matplotlib("leave --picture out")
        open_file(picture, "--picture")
    public = engine.start(PACK, scenario).public
    incident = PACK.incident(scenario)
    lines = company_lines(scenario, public, incident)
    if truth:
        lines += ["", "the truth", *(f"  {line}" for line in PACK.explain(scenario))]
    if picture:
        lines.append(f"\nwritten: {draw_graph(public, incident, picture)}")
    print("\n".join(lines))


def leaks(
    *,
    split: Split = None,
    tier: Tier = DEFAULT_TIER,
    train: Prompts = 15_000,
    test: Prompts = 3000,
    json: Json = False,
) -> int:
    """
    Args:
        split: read and judge companies of this split; without it, read train and judge test
        train: prompts to train the detectors on; the verdict is for this number
        test: unseen companies
    """
    from chaosops.evaluation.leaks import BAR, BARRED, detect_leaks, samples  # loads numpy

    with Progress("companies") as progress:

        def draw(split: str, tier: vocabulary.Tier, count: int) -> Iterator[Sample]:
            for number, sample in enumerate(samples(split, tier, count), 1):
                progress.update(f"reading {split}", number, count)
                yield sample
            progress.update("training the detectors", 0, None)

        figures = detect_leaks(tier, train, test, split=split, draw=draw)
    headers = [name.replace("_", " ") for name in figures["curve"][0]]
    rows = [list(map(str, row.values())) for row in figures["curve"]]
    verdict = "kept" if figures["kept"] else "BROKEN"
    barred = ", ".join(name.replace("_", " ") for name in BARRED)
    lines = [
        f"AUROC on {test} unseen companies of tier {tier}, by prompts read in training "
        f"(0.5 ± {1.96 / sqrt(3 * test):.2f} is chance)",
        aligned(headers, rows, words=0),
        f"bar for {barred}: at most {BAR} after {train} prompts ({verdict})",
        "words with their numbers are a baseline without a bar: the amounts are the evidence",
    ]
    print_result(figures, lines, as_json=json)
    return 0 if figures["kept"] else 1


def investigate(
    *, split: Split = None, tier: Tier = DEFAULT_TIER, seeds: Count = 500, json: Json = False
) -> int:
    split = split or PACK.default_split
    guilty, benign = [], []
    with Progress("companies") as progress:
        for seed in range(seeds):
            progress.update(f"{split} {tier}", seed, seeds)
            scenario = make_scenario(pack=PACK.name, split=split, tier=tier, seed=seed)
            rogue, named = PACK.incident(scenario).rogue, find_rogue(scenario)
            if rogue is None:
                benign.append(named is not None)
            else:
                guilty.append(rogue == named)
    named_rate = _share(guilty)
    figures = {
        "split": split,
        "tier": tier,
        "rogue_episodes": len(guilty),
        "culprit_named": named_rate,
        "benign_episodes": len(benign),
        "innocent_accused": _share(benign),
    }
    print_result(figures, (f"{name:<20}{value}" for name, value in figures.items()), as_json=json)
    return 0 if named_rate is None or named_rate >= _FAIR else 1


def reading(
    *,
    command_line: CommandLine,
    policy: Policy,
    role: Annotated[str, Parameter(choices=_ROLES)] = "all",
    split: Split = None,
    tier: Tier = DEFAULT_TIER,
    seeds: Count = 100,
    mechanisms: Mechanisms = None,
    json: Json = False,
) -> None:
    """
    Args:
        role: whose turns to ask
        seeds: companies for each role; Oversight's are those in which the trace alone decides
    """
    from chaosops.evaluation.reading_checks import FIRST_SEED, check_reading  # loads numpy

    def scenario_of(seed: int) -> Scenario:
        return make_scenario(
            pack=PACK.name, split=split, tier=tier, seed=seed, mechanisms=mechanisms or ""
        )

    first = scenario_of(FIRST_SEED)  # what is wrong with it is said before a model loads
    asked = ROLES if role == "all" else (vocabulary.Role(role),)
    team = load_team(policy)
    with Progress("done") as progress:
        rows = check_reading(team, scenario_of, seeds, asked, progress.update)
    figures = {
        "command": command_line,
        "version": VERSION,
        "commit": source_commit(),
        "policy": policy,
        "split": first.split,
        "tier": tier,
        "companies": seeds,
        "first_seed": FIRST_SEED,
        "status": team.status(),
        "checks": rows,
    }
    print_result(figures, reading_lines(figures), as_json=json)


def _share(values: list[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
