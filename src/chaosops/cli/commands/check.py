"""``chaosops check``"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from chaosops.cli.options import Count, Json, Mechanisms, Pack
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.contract import CLAUSES, Finding, check_contract, check_failure
from chaosops.evaluation.contract import SEEDS as CONTRACT
from chaosops.evaluation.exploits import EXPLOITS
from chaosops.evaluation.integrity import MARGIN, IntegritySearch, flagging_presence, worst_exploits
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import DEFAULT_PACK, GENERATED_PACK, load_pack, make_scenario


class Row(NamedTuple):
    """The result of one check: as a line, as data, and its problem."""

    line: str
    figures: dict[str, Any]
    problems: Sequence[str] = ()


class Section(NamedTuple):
    name: str
    title: str
    rows: Iterator[Row]


def execute(
    *,
    pack: Annotated[Pack, Parameter(show_default=DEFAULT_PACK)] = None,
    seeds: Count | None = None,
    contract_seeds: Count | None = None,
    mechanisms: Mechanisms = None,
    json: Json = False,
) -> int:
    """
    Args:
        seeds: seeds per tier for the exploits, for a pack with splits [default: 100]
        contract_seeds: seeds per split and tier for the contract, likewise [default: 30]
    """
    pack = pack or (GENERATED_PACK if mechanisms else DEFAULT_PACK)
    is_catalogue = not load_pack(pack).splits
    if (seeds or contract_seeds or mechanisms) and is_catalogue:
        raise BadInput(
            f"pack {pack} is a catalogue and is checked whole; --seeds, --contract-seeds and "
            f"--mechanisms are for packs with splits, such as --pack {GENERATED_PACK}"
        )
    sections = (
        _catalogue(pack) if is_catalogue else _companies(pack, seeds, contract_seeds, mechanisms)
    )
    broken = 0
    found: dict[str, list[dict[str, Any]]] = {}
    lines = []
    with Progress() as progress:
        for section in sections:
            progress.update(f"{pack} {section.name}", 0, None)
            found[section.name] = []
            lines.append(section.title)
            for number, row in enumerate(section.rows, 1):
                progress.update(f"{pack} {section.name}", 0, None, f"{number} checked")
                found[section.name].append({**row.figures, "problems": list(row.problems)})
                lines += [f"  {row.line}", *(f"      {problem}" for problem in row.problems)]
                broken += len(row.problems)
            lines.append("")
    lines.append(f"{broken} problems" if broken else "all contracts hold, no exploit pays")
    print_result({"pack": pack, **found, "problems": broken}, lines, as_json=json)
    return 1 if broken else 0


def _companies(
    pack: str, seeds: int | None, contract_seeds: int | None, own: Path | None
) -> list[Section]:
    seeds, contract_seeds = seeds or 100, contract_seeds or 30
    splits, tested = load_pack(pack).splits, load_pack(pack).default_split
    matrix_of = partial(scenarios, pack=pack, mechanisms=own or "")

    def contracts() -> Iterator[Row]:
        for split in splits:
            for tier in Tier:
                matrix = matrix_of(split=split, tiers=[tier], seeds=contract_seeds)
                yield _row(f"{split} {tier}", check_contract(split, matrix), len(matrix))

    def exploits() -> Iterator[Row]:
        for tier in Tier:
            found = worst_exploits(matrix_of(split=tested, tiers=[tier], seeds=seeds))
            ratios = {exploit.name: round(exploit.ratio, 2) for exploit in found}
            told = ", ".join(f"{name} {ratio:+.2f}" for name, ratio in ratios.items())
            problems = [exploit.problem for exploit in found if exploit.problem]
            yield Row(f"{tier:<8}{told}", {"tier": tier.value, **ratios}, problems)

    return [
        Section(
            "contracts",
            f"contract of each incident ({'; '.join(CLAUSES)}), each clause on {contract_seeds} "
            f"seeds a split and tier, {contract_seeds * len(splits) * len(Tier)} scenarios in all:",
            contracts(),
        ),
        Section(
            "exploits",
            f"reward integrity: each of {len(EXPLOITS)} exploits on {seeds} seeds a tier of split "
            f"{tested}; its best against the oracle on the same seed, below {MARGIN} on every one:",
            exploits(),
        ),
    ]


def _catalogue(pack: str) -> list[Section]:
    failures, played = load_pack(pack).failures(), len(CONTRACT) * len(Tier)
    return [
        Section(
            "contracts",
            f"contract of each failure ({'; '.join(CLAUSES)}), each clause on every tier and "
            f"{len(CONTRACT)} seeds:",
            (_row(failure, check_failure(pack, failure), played) for failure in failures),
        ),
        Section(
            "integrity",
            "reward integrity: exact optimum beside the oracle; returns without honest work must "
            f"stay below {MARGIN} x the oracle\n"
            f"  {'scenario':<29}{'oracle':>8}{'optimum':>9}{'resolving late':>16}"
            f"{'never resolving':>17}  best exploit",
            _integrity(pack, failures),
        ),
        Section("presence", "flagging the last agent in the trace:", _presence(pack)),
    ]


def _row(subject: str, findings: list[Finding], played: int) -> Row:
    problems = [f"BROKEN {each.check}: {each.problem}" for each in findings if each.problem]
    kept = len(findings) - len(problems)
    return Row(
        f"{subject:<22} {kept} of {len(findings)} clauses hold on all {played} scenarios",
        {"subject": subject, "clauses": len(findings), "kept": kept, "scenarios": played},
        problems,
    )


def _integrity(pack: str, failures: Sequence[str]) -> Iterator[Row]:
    search = IntegritySearch()
    for failure in failures:
        for tier in Tier:
            found = search.examine(make_scenario(failure, tier=tier, seed=0, pack=pack))
            name, value = found.best_exploit
            yield Row(
                f"{failure + ' ' + tier:<29}{found.oracle:>+8.1f}{found.optimum:>+9.1f}"
                f"{found.best_late:>+16.1f}{found.best_unresolved:>+17.1f}  {name} {value:+.1f}",
                {
                    "failure": failure,
                    "tier": tier.value,
                    "oracle": found.oracle,
                    "optimum": found.optimum,
                    "resolving_late": found.best_late,
                    "never_resolving": found.best_unresolved,
                    "best_exploit": {"name": name, "reward": value},
                },
                found.problems(),
            )


def _presence(pack: str) -> Iterator[Row]:
    found = flagging_presence(scenarios("full", pack=pack))
    yield Row(
        f"mean reward {found.reward:+.1f} (oracle {found.oracle:+.1f}), "
        f"{found.false_flags_per_benign_episode:.2f} false flags per benign episode",
        {
            "reward": found.reward,
            "oracle": found.oracle,
            "false_flags_per_benign_episode": found.false_flags_per_benign_episode,
        },
        [found.problem] if found.problem else [],
    )
