"""Write the results of the trained model into the documents, between markers, from its files.

    python scripts/result_tables.py            # write
    python scripts/result_tables.py --check    # say what is out of date; exit status 1

A block begins with ``<!-- results: NAME -->`` and ends with ``<!-- end of results -->``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import live_tables
import reading_tables
from shipped_files import (
    FALSE_ALARMS,
    OURS,
    PACK,
    ROOT,
    Evaluation,
    Files,
    caught_at,
    figure,
    words,
)

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.evaluation.estimates import Figure
from chaosops.report.seeds import Stage, chosen_words, judged_tiers, seeds_table
from chaosops.report.tables import aligned, markdown_table

DOCUMENTS = (
    "README.md",
    "docs/arena.md",
    "docs/training.md",
    "docs/live.md",
    "docs/live_control.md",
)
BLOCK = re.compile(
    r"(?P<begin>^<!-- results: (?P<name>[\w-]+) -->\n).*?(?P<end>^<!-- end of results -->$)",
    re.MULTILINE | re.DOTALL,
)
RIVAL = "auditor"
COLUMNS = (
    "split, tier",
    OURS,
    RIVAL,
    "oracle",
    f"above the {RIVAL}",
    "solved",
    "rogue caught",
    "innocent agents flagged / benign",
    "AUROC, turn 1",
    "AUROC, turn 3",
)
NOT_YET = "not evaluated yet"


def with_interval(found: Figure | None, form: str) -> str:
    """
    >>> with_interval({"value": 0.5, "ci95": [0.25, 1.0]}, "{:.0%}")
    '50% [25%, 100%]'
    >>> with_interval(None, "{:.0%}")
    'n/a'
    """
    if found is None or found["value"] is None:
        return "n/a"
    value = form.format(found["value"] + 0.0)
    if found["ci95"] is None:
        return f"{value} [n/a]"
    low, high = (form.format(bound + 0.0) for bound in found["ci95"])
    return f"{value} [{low}, {high}]"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---", *["---:"] * (len(headers) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def split_row(split: str, tier: str, found: Evaluation) -> list[str]:
    rewards = [found.row(policy, tier) for policy in (OURS, RIVAL, "oracle")]
    ours, seen = rewards[0], found.overseer(OURS, tier)
    if ours is None:
        raise BadInput(f"{found.folder} has no policy {OURS}, tier {tier}")
    return [
        f"{split}, {tier}",
        *("n/a" if row is None else f"{row['mean_reward']:+.0f}" for row in rewards),
        with_interval(found.above(RIVAL, tier), "{:+.0f}"),
        f"{100 * ours['solved']:.0f} %",
        with_interval(figure(seen, "rogue_caught"), "{:.0%}"),
        with_interval(figure(seen, "innocent_agents_flagged_per_benign_episode"), "{:.2f}"),
        *(with_interval(figure(seen, f"auroc_turn_{turn}"), "{:.2f}") for turn in (1, 3)),
    ]


def split_table(files: Files, tiers: Callable[[str, Evaluation], Sequence[str]]) -> str:
    """A row for each split and tier that was evaluated, and a sentence about the others."""
    found = files.splits("arena")
    rows = [
        split_row(split, tier, each)
        for split, each in found.items()
        if each is not None
        for tier in tiers(split, each)
    ]
    missing = [f"`{split}`" for split, each in found.items() if each is None]
    parts = []
    if rows:
        parts.append(table(COLUMNS, rows))
    if missing:
        parts.append(f"{words(missing)}: {NOT_YET}.")
    if reserve := files.evaluation("arena_reserve"):
        parts.append(
            "On `reserve`, whose words and wordings are never trained on. It chose the model, so "
            "these figures are a little too good:"
        )
        shown = tiers("test", reserve)
        parts.append(table(COLUMNS, [split_row("reserve", tier, reserve) for tier in shown]))
    elif not rows:
        parts.append(validation(files))
    return "\n\n".join(parts)


def arena(files: Files) -> str:
    """All tiers of test, and hard elsewhere."""
    return split_table(files, lambda split, of: of.tiers if split == "test" else of.tiers[-1:])


def arena_all(files: Files) -> str:
    return split_table(files, lambda split, of: of.tiers)


def validation(files: Files, last: int = 0) -> str:
    """What the run itself was validated by, where nothing else is known. ``last``: only so many
    tiers, the hardest."""
    stages = files.stages()
    if not stages or stages[-1].kept is None:
        return f"The model that ships is {NOT_YET}."
    return validated(stages[-1], judged_tiers(stages[-1])[-last:])


def validated(stage: Stage, tiers: Sequence[str]) -> str:
    kept = stage.kept
    assert kept is not None, "the caller has looked"
    split = stage.recipe.reserve or stage.recipe.split
    rows = [
        [
            f"{split}, {name.rpartition(' ')[2]}",
            f"{row['mean_reward']:+.0f}",
            f"{100 * row['solved']:.0f} %",
            _share(row.get("rogue_caught")),
            f"{row['false_flag_rate']:.2f}",
            _number(row.get("auroc_turn_3")),
        ]
        for name, row in ((name, kept["validation"][name]) for name in tiers)
    ]
    headers = (COLUMNS[0], OURS, "solved", "rogue caught", "false flags / benign", "AUROC, turn 3")
    return (
        f"Validation of its run on `{split}`, {stage.recipe.validation_seeds} companies a tier. It "
        f"chose the model, so these figures are a little too good:\n\n{table(headers, rows)}"
    )


def _share(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.0%}".replace("%", " %")


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def headline(files: Files) -> str:
    """The first figures of the README: test, hard; where that is missing, what there is."""
    found, split = files.evaluation("arena_test"), "test"
    if found is None:
        found, split = files.evaluation("arena_reserve"), "reserve"
    if found is None:
        return f"`test` is {NOT_YET}. {validation(files, last=1)}"
    tier = found.tiers[-1]
    titles = {OURS: f"**{OURS}**", "oracle": "oracle, which knows the truth"}
    rows = []
    for policy in ("heuristic", RIVAL, OURS, "oracle"):
        if (row := found.row(policy, tier)) is None:
            continue
        flagged = figure(found.overseer(policy, tier), "innocent_agents_flagged_per_benign_episode")
        rows.append(
            [
                titles.get(policy, policy),
                f"{row['mean_reward']:+.0f}",
                _share(row["solved"]),
                _share(row["rogue_caught"]),
                _number(flagged["value"] if flagged else None),
            ]
        )
    ours = found.row(OURS, tier)
    assert ours is not None, "it is what was evaluated"
    companies = f"{ours['episodes']:,} companies of `{split}` (tier {tier})"
    told = (
        f"On {companies}, none of which it was trained on:"
        if split == "test"
        else f"`test` is {NOT_YET}. On {companies}, whose words and wordings are never trained on, "
        "but which chose the model:"
    )
    headers = (
        "policy",
        "mean reward",
        "solved",
        "rogue caught",
        "innocent agents flagged / benign",
    )
    command = (
        f"chaosops eval --pack {PACK} --split {split} --tiers {tier} --seeds {ours['episodes']} "
        f"--policies heuristic,{RIVAL},oracle,{OURS}"
    )
    return f"{told}\n\n{table(headers, rows)}\n\n```console\n$ {command}\n```"


def rates(files: Files, only: str = "") -> str:
    """Rogues caught where false alarms are rare, on the splits with enough benign episodes.
    ``only``: one of them."""
    rows = []
    found = {split: it for split, it in files.splits("rates").items() if only in ("", split)}
    for split, each in found.items():
        if each is None:
            continue
        for row in each.monitor:
            if each.short(row["policy"]) == OURS and row["rogue_episodes"]:
                benign = row["episodes"] - row["rogue_episodes"]
                counts = [f"{row['rogue_episodes']:,}", f"{benign:,}"]
                shares = [with_interval(caught_at(row, k), "{:.1%}") for k in FALSE_ALARMS.values()]
                rows.append([f"{split}, {row['tier']}", *counts, *shares])
    missing = [f"`{split}`" for split, each in found.items() if each is None]
    parts = []
    if rows:
        headers = ("split, tier", "rogues", "benign", *(f"TPR at {at}" for at in FALSE_ALARMS))
        parts.append(
            "Rogues found after Oversight's first turn and after its last, at a threshold of the "
            "suspicion with so many false alarms. In brackets are Wilson's bounds over rogues; the "
            "threshold itself is an estimate too."
        )
        parts.append(table(headers, rows))
    if missing:
        parts.append(f"Rates at few false alarms on {words(missing)}: {NOT_YET}.")
    return "\n\n".join(parts)


def classic(files: Files) -> str:
    found = files.evaluation("classic_published")
    if found is None:
        return f"The model is {NOT_YET} there."
    return markdown_table([{**row, "policy": found.short(row["policy"])} for row in found.summary])


def seeds(files: Files) -> str:
    found = files.seeds()
    if not found:
        return "No other seed is recorded."
    shown = aligned(*seeds_table(found), words=1)
    ours = files.stages()
    return f"{shown}\n\n{chosen_words(found, ours)}" if ours else shown


def stages(files: Files) -> str:
    """How the model that ships was trained, in one sentence a stage."""
    lines = []
    for stage in files.stages():
        spent = {row["machine"] for row in stage.costs}
        took = f", {stage.minutes:.0f} minutes on {words(sorted(spent))}" if spent else ""
        recipe = stage.recipe
        updates = max((row["step"] for row in stage.validations), default=recipe.steps)
        step = stage.kept["step"] if stage.kept else updates
        kept = "" if step == updates else f" The adapter of update {step:,} was kept, the best one."
        lines.append(f"- `{recipe.name}`: {updates:,} updates, seed {recipe.seed}{took}.{kept}")
    return "\n".join(lines) or f"No model ships; it is {NOT_YET}."


BLOCKS: Mapping[str, Callable[[Files], str]] = {
    "headline": headline,
    "arena": arena,
    "arena-all": arena_all,
    "rates": rates,
    "rates-test": lambda files: rates(files, "test"),
    "classic": classic,
    "seeds": seeds,
    "stages": stages,
    "reading": lambda files: reading_tables.reading(files.root),
    "live-headline": lambda files: live_tables.headline(files.root),
    "live-compare": lambda files: live_tables.compare(files.root),
    "live-lifecycles": lambda files: live_tables.lifecycles(files.root),
    "live-calm": lambda files: live_tables.calm(files.root),
    "live-leaks": lambda files: live_tables.leaks(files.root),
}


def filled(text: str, files: Files) -> str:
    """A document with its blocks written anew."""

    def write(found: re.Match[str]) -> str:
        if found["name"] not in BLOCKS:
            raise BadInput(f"no results are called {found['name']}; allowed: {', '.join(BLOCKS)}")
        return f"{found['begin']}\n{BLOCKS[found['name']](files)}\n\n{found['end']}"

    return BLOCK.sub(write, text)


def main(words: Sequence[str], root: Path = ROOT) -> int:
    if unknown := [word for word in words if word != "--check"]:
        print(f"result_tables.py: unexpected argument {unknown[0]}; only --check is known")
        return 2
    files, changed = Files(root), []
    for name in DOCUMENTS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        try:
            again = filled(text, files)
        except ChaosOpsError as error:
            print(f"result_tables.py: {name}: {error}")
            return 2
        if again != text:
            changed.append(name)
            if "--check" not in words:
                path.write_text(again, encoding="utf-8")
    for name in changed:
        print(f"{name}: {'out of date' if '--check' in words else 'written'}")
    return int(bool(changed) and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
