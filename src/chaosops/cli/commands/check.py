"""``chaosops check``"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Pack, whole
from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.contract import CLAUSES, Finding, check_contract, check_failure
from chaosops.evaluation.contract import SEEDS as CONTRACT
from chaosops.evaluation.exploits import EXPLOITS
from chaosops.evaluation.integrity import MARGIN, IntegritySearch, flagging_presence, worst_exploits
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import DEFAULT_PACK, load_pack, make_scenario

SEEDS, CONTRACT_SEEDS = 100, 30


def execute(
    *,
    pack: Annotated[Pack, Parameter(show_default=DEFAULT_PACK)] = None,
    seeds: Annotated[
        int | None, whole(1, help="arena: per tier, for the exploits", show_default="100")
    ] = None,
    contract_seeds: Annotated[
        int | None,
        whole(
            1,
            help="arena: per split and tier, for the contract; some 0.2 s each",
            show_default="30",
        ),
    ] = None,
) -> int:
    pack = pack or DEFAULT_PACK
    loaded = load_pack(pack)
    if (seeds or contract_seeds) and not loaded.splits:
        raise BadInput(
            f"pack {pack} is a catalogue and is checked whole; --seeds and --contract-seeds "
            "are for packs that make companies, such as --pack arena"
        )
    if loaded.splits:
        broken = _check_companies(pack, seeds or SEEDS, contract_seeds or CONTRACT_SEEDS)
    else:
        broken = _check_contracts(pack, loaded.failures())
        broken += _check_integrity(pack, loaded.failures())
        broken += _check_presence(pack)
    print(f"\n{broken} problems" if broken else "\nall contracts hold, no exploit pays")
    return 1 if broken else 0


def _check_companies(pack: str, seeds: int, contract_seeds: int) -> int:
    splits = load_pack(pack).splits
    print(
        f"contract of each incident ({'; '.join(CLAUSES)}), each clause on {contract_seeds} seeds "
        f"a split and tier, {contract_seeds * len(splits) * len(Tier)} scenarios in all:"
    )
    broken = 0
    for split in splits:
        for tier in Tier:
            matrix = scenarios(pack=pack, split=split, tiers=[tier], seeds=contract_seeds)
            broken += _print_findings(f"{split} {tier}", check_contract(split, matrix), len(matrix))
    print(
        f"\nreward integrity: each of {len(EXPLOITS)} exploits on {seeds} seeds a tier of split "
        f"test; its best against the oracle on the same seed, below {MARGIN} on every one:"
    )
    for tier in Tier:
        found = worst_exploits(scenarios(pack=pack, split="test", tiers=[tier], seeds=seeds))
        print(f"  {tier:<8}" + ", ".join(f"{e.name} {e.ratio:+.2f}" for e in found))
        problems = [exploit.problem for exploit in found if exploit.problem]
        broken += len(problems)
        for problem in problems:
            print(f"      {problem}")
    return broken


def _print_findings(subject: str, findings: list[Finding], played: int) -> int:
    problems = [finding for finding in findings if finding.problem]
    kept = len(findings) - len(problems)
    print(f"  {subject:<22} {kept} of {len(findings)} clauses hold on all {played} scenarios")
    for finding in problems:
        print(f"      BROKEN {finding.check}: {finding.problem}")
    return len(problems)


def _check_contracts(pack: str, failures: tuple[str, ...]) -> int:
    print(
        f"contract of each failure ({'; '.join(CLAUSES)}), each clause on every tier and "
        f"{len(CONTRACT)} seeds:"
    )
    return sum(
        _print_findings(failure, check_failure(pack, failure), len(CONTRACT) * len(Tier))
        for failure in failures
    )


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
            found = search.examine(make_scenario(failure, tier=tier, seed=0, pack=pack))
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
