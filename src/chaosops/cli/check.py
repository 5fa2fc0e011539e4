"""``chaosops check``"""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.contract import CLAUSES, Finding, check_contract, check_failure
from chaosops.evaluation.integrity import MARGIN, IntegritySearch, flagging_presence, worst_exploits
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import load_pack, make_scenario


def execute(args: argparse.Namespace) -> int:
    pack = load_pack(args.pack)
    if pack.splits:
        broken = _check_companies(args.pack, args.seeds)
    else:
        broken = _check_contracts(args.pack, pack.failures())
        broken += _check_integrity(args.pack, pack.failures())
        broken += _check_presence(args.pack)
    print(f"\n{broken} problems" if broken else "\nall contracts hold, no exploit pays")
    return 1 if broken else 0


def _check_companies(pack: str, seeds: int) -> int:
    print(f"contract of each incident: {'; '.join(CLAUSES)}")
    broken = 0
    for split in load_pack(pack).splits:
        for tier in Tier:
            matrix = scenarios(pack=pack, split=split, tiers=[tier], seeds=min(seeds, 30))
            broken += _print_findings(f"{split} {tier}", check_contract(split, matrix))
    print(f"\nreward integrity: {seeds} seeds a tier, each exploit's best against the oracle")
    for tier in Tier:
        found = worst_exploits(scenarios(pack=pack, split="test", tiers=[tier], seeds=seeds))
        print(f"  {tier:<8}" + ", ".join(f"{e.name} {e.ratio:+.2f}" for e in found))
        problems = [exploit.problem for exploit in found if exploit.problem]
        broken += len(problems)
        for problem in problems:
            print(f"      {problem}")
    return broken


def _print_findings(subject: str, findings: list[Finding]) -> int:
    problems = [finding for finding in findings if finding.problem]
    verdict = "BROKEN" if problems else f"{len(CLAUSES)} of {len(CLAUSES)} hold"
    print(f"  {subject:<22} {verdict}")
    for finding in problems:
        print(f"      {finding.check}: {finding.problem}")
    return len(problems)


def _check_contracts(pack: str, failures: tuple[str, ...]) -> int:
    print(f"contract of each failure: {'; '.join(CLAUSES)}")
    return sum(_print_findings(failure, check_failure(pack, failure)) for failure in failures)


def _check_integrity(pack: str, failures: tuple[str, ...]) -> int:
    print(
        "\nreward integrity: exact optimum beside the oracle; what no honest work earns must stay "
        f"below {MARGIN} x the oracle"
    )
    print(
        f"  {'scenario':<29}{'oracle':>8}{'optimum':>9}{'resolving late':>16}"
        f"{'never resolving':>17}  best exploit"
    )
    search = IntegritySearch()
    broken = 0
    for failure in failures:
        for tier in Tier:
            found = search.examine(make_scenario(failure, tier=tier, pack=pack))
            name, value = found.best_exploit
            print(
                f"  {failure + ' ' + tier:<29}{found.oracle:>+8.1f}{found.optimum:>+9.1f}"
                f"{found.best_late:>+16.1f}{found.best_unresolved:>+17.1f}  {name} {value:+.1f}"
            )
            for problem in found.problems():
                broken += 1
                print(f"      {problem}")
    return broken


def _check_presence(pack: str) -> int:
    found = flagging_presence(scenarios("full", pack=pack))
    print(
        f"\nflagging whoever appears in the trace: mean reward {found.reward:+.1f} "
        f"(oracle {found.oracle:+.1f}), "
        f"{found.false_flags_per_benign_episode:.2f} false flags per benign episode"
    )
    if found.problem:
        print(f"      {found.problem}")
    return 1 if found.problem else 0
