"""``chaosops live``: the company of real processes."""

from __future__ import annotations

import json as json_module
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from chaosops.cli.options import CommandLine, Count, Folder, Json, Names, Seconds, Seed, whole
from chaosops.cli.output import note, print, print_result
from chaosops.cli.progress import Progress
from chaosops.cli.real_time import permit_company
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.scenario import Scenario
from chaosops.core.source import source_commit
from chaosops.core.vocabulary import HEALTH_WORDS, Tier
from chaosops.evaluation.live_comparison import SIMULATED, Pair, Player, summary, table_rows
from chaosops.evaluation.matrix import scenarios
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import VoidRun
from chaosops.packs import read_tiers
from chaosops.packs.live import PACK
from chaosops.packs.live.pack import start_loopback
from chaosops.report.tables import aligned
from chaosops.version import VERSION

Name = Annotated[str, Parameter(metavar="NAME")]


def up(*, name: Name = "company") -> None:
    """
    Args:
        name: name of the company, for status and down
    """
    from chaosops.live.company import start_company

    company = start_company(CompanyPlan(0, (), (), ()), name=name, operator=True, detached=True)
    print(f"{name} is running: process {company.pid}, {company.folder}")
    print("chaosops live status shows it, chaosops live down ends it")


def status(*, json: Json = False) -> None:
    from chaosops.live.folder import read_facts, running

    found = [{"name": path.name, **read_facts(path), **_seen(path)} for path in running()]
    lines = [line for company in found for line in _lines(company)]
    print_result(found, lines or ["no live company is running"], as_json=json)


def _seen(folder: Path) -> dict[str, Any]:
    """A company that plays an incident shows itself to its team alone."""
    from chaosops.live.operator_socket import FILE, Operator

    if not (folder / FILE).exists():
        return {}
    try:
        operator = Operator(folder)
        try:
            told: dict[str, Any] = operator.ask("status")
        finally:
            operator.close()
    except (OSError, VoidRun):  # it ends at this moment
        return {}
    return told


def _lines(company: dict[str, Any]) -> list[str]:
    age = time.time() - float(company.get("begin", time.time()))
    head = f"{company['name']}: process {company.get('pid')}, up for {age:.0f} s"
    if "readings" not in company:
        return [f"{head}, {'plays an incident' if 'begin' in company else 'starts or ends'}"]
    lost, served = company["lost"], company["served"]
    columns = ["service", "health", "replicas", "busy", "memory", "disk", "p90", "errors"]
    rows = [_row(*reading) for reading in company["readings"]]
    return [f"{head}, {lost} of {served} requests failed", aligned(columns, rows)]


def _row(
    service: str, health: int, replicas: int, cpu: int, memory: int, *rest: float
) -> list[str]:
    disk, p90, errors = rest
    gauges = [f"{cpu}%", f"{memory} MB", f"{disk}%", f"{p90} ms", f"{errors}%"]
    return [service, HEALTH_WORDS[health], str(replicas), *gauges]


def down(name: Name = "", /) -> None:
    """
    Args:
        name: name of the company; the only one that was started by live up if left out
    """
    from chaosops.live.company import stop_company
    from chaosops.live.folder import find_running

    folder = find_running(name)
    stop_company(folder)
    print(f"{folder.name} has ended")


def compare(
    *,
    command_line: CommandLine,
    policies: Names = ("heuristic", "auditor"),
    tiers: Names = (Tier.HARD.value,),
    seeds: Count = 10,
    seed_start: Seed = 0,
    watch: Seconds = 60.0,
    core: Annotated[int | None, whole(0), Parameter(metavar="N")] = None,
    out: Folder = Path("results/live"),
    json: Json = False,
) -> None:
    """
    Args:
        policies: policies or teams that play
        tiers: tiers to play
        seeds: seeds for each policy and tier; an episode takes about a minute
        seed_start: the first seed
        watch: seconds for which a company has to stay well; the quiet steps at the end count
        core: the core of the company; the policy keeps off it. The first core if left out
        out: folder of the recordings; those that are there are not played again
    """
    if not policies:
        raise BadInput("--policies needs at least one policy")
    folder = open_folder(out)
    permit_company(core)
    if core is not None:
        PACK.start = partial(start_loopback, core=core)
    PACK.pace = PACK.pace._replace(lasts=watch)
    manifest = {"command": command_line, "version": VERSION, "commit": source_commit()}
    found: dict[str, dict[str, Any]] = {}
    statuses: dict[str, Any] = {}
    rows: list[list[str]] = []
    with Progress() as progress:
        for policy in policies:
            place = open_folder(folder / quote(policy, safe=":,=+"))
            player = Player(policy, place, manifest, note)
            statuses[policy] = player.manifest["policy_status"]
            for tier in read_tiers(tiers, "--tiers"):
                matrix = scenarios(pack=PACK.name, tiers=[tier], seeds=seeds, seed_start=seed_start)
                player.commits.clear()  # those of the last tier
                told = _compared(player, matrix, f"{policy} {tier}", progress)
                found.setdefault(policy, {})[tier.value] = told
                rows += table_rows(policy, tier.value, told)
    record = {"manifest": manifest, "statuses": statuses, "policies": found}
    write_text(folder / "compare.json", json_module.dumps(record, indent=1) + "\n")
    columns = ["policy", "tier", "figure", "live", SIMULATED, "difference"]
    lines = [aligned(columns, rows, words=3), f"\nwritten: {folder / 'compare.json'}"]
    print_result(found, lines, as_json=json)


def _compared(
    player: Player, matrix: Sequence[Scenario], what: str, progress: Progress
) -> dict[str, Any]:
    pairs: list[Pair] = []
    progress.update(what, 0, len(matrix))
    for scenario in matrix:
        pairs.append(player.pair(scenario))
        progress.update(what, len(pairs), len(matrix))
    told = summary(pairs)
    void, rogues = told["void"], told["with_rogue"]
    note(f"{what}: {void} of {len(pairs)} runs are void, {rogues} of the others have a rogue")
    return {**told, "commits": sorted(map(str, player.commits))}
