"""``chaosops compare``: two policies on the same episodes."""

from __future__ import annotations

import json as jsons
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.commands.eval import evaluate_with_progress, write_episode
from chaosops.cli.episodes import HARD, EpisodeOptions
from chaosops.cli.options import CommandLine, Count, Folder, Json
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.files import opened_folder, write_text
from chaosops.core.scenario import Scenario
from chaosops.evaluation.comparison import (
    Comparison,
    Side,
    compare,
    folder_and_policy,
    names_folder,
)
from chaosops.evaluation.verify import stored_results
from chaosops.report.monitors import comparison_table, differing_table

COMPARISON = "compare.json"
_EPISODE_OPTIONS = [f"--{each.name.replace('_', '-')}" for each in fields(EpisodeOptions)]
Compared = Annotated[
    str,
    Parameter(help="a folder of chaosops eval, FOLDER#POLICY if it holds several, or a policy"),
]


def execute(
    a: Compared,
    b: Compared,
    /,
    *,
    options: EpisodeOptions = HARD,
    out: Folder = Path("results/compare"),
    episodes: Count = 5,
    json: Json = False,
    command_line: CommandLine,
) -> None:
    """
    Args:
        out: folder of the comparison and of the episodes that differ most, for chaosops replay
        episodes: how many of them
    """
    with opened_folder(out) as folder:
        sides = _sides((a, b), options, command_line)
        comparison = compare(*sides)
    rows = _differing(comparison, sides, folder, episodes)
    wire = {
        "command": command_line,
        "a": comparison.names[0],
        "b": comparison.names[1],
        "episodes": len(comparison.pairs),
        "episodes_of_one_side": comparison.alone,
        "rewards": dict(zip("ab", comparison.rewards, strict=True)),
        "differences": list(comparison.rows),
        "differing": rows,
    }
    write_text(folder / COMPARISON, jsons.dumps(wire, indent=1) + "\n")
    print_result(wire, [_text(comparison, rows, folder)], as_json=json)


def _sides(texts: tuple[str, str], options: EpisodeOptions, command: str) -> tuple[Side, Side]:
    """A policy plays what the other side's folder holds, for its rewards, or what the options say.
    Episodes in a folder are replayed, so that figures of changed files are not compared."""
    named = {text: folder_and_policy(text) for text in texts if names_folder(text)}
    if named and options is not HARD:  # cyclopts makes another object if one of them is typed
        raise BadInput(
            f"the episodes of {next(iter(named))} are compared as they are; leave out "
            f"{', '.join(_EPISODE_OPTIONS)}, or name two policies"
        )
    with Progress() as progress:
        stored_in = {
            folder: stored_results(folder, partial(progress.update, str(folder)))
            for folder in dict.fromkeys(folder for folder, _ in named.values())
        }
    found = {text: Side(text, of[1], stored_in[of[0]]) for text, of in named.items()}
    stored = [scenario for side in found.values() for scenario in side.episodes]
    policies = [text for text in dict.fromkeys(texts) if text not in found]
    if policies:
        matrix: list[Scenario] = stored or options.scenarios()
        rewards = next((side.rewards for side in found.values()), {})
        results = evaluate_with_progress(policies, matrix, command, rewards=rewards)
        found |= {name: Side(name, name, results) for name in policies}
    return found[texts[0]], found[texts[1]]


def _differing(
    comparison: Comparison, sides: tuple[Side, Side], folder: Path, most: int
) -> list[dict[str, Any]]:
    """Write the recordings of the episodes that differ most. Those of an earlier comparison go."""
    for path in folder.glob("[0-9][0-9]*_[ab].json"):
        path.unlink()
    rows = []
    for rank, pair in enumerate(comparison.differing(most), 1):
        files = {}
        for letter, side, episode in zip("ab", sides, pair, strict=True):
            path = folder / f"{rank:02}_{letter}.json"
            write_episode(path, side.results, side.policy, episode)
            files[letter] = str(path)
        rows.append(
            {
                "scenario": pair.ours.scenario.to_wire(),
                "reward": {"a": pair.ours.reward, "b": pair.theirs.reward},
                "difference": pair.difference,
                "files": files,
            }
        )
    return rows


def _text(comparison: Comparison, rows: list[dict[str, Any]], folder: Path) -> str:
    one, other = comparison.names
    lines = [
        f"{one} against {other} on {len(comparison.pairs)} equal episodes: {one} minus {other}, "
        "with 95 % intervals.",
        "",
        comparison_table(comparison),
        "",
    ]
    if told := comparison.rewards_line():
        lines += [told, ""]
    if comparison.alone:
        lines += [f"{comparison.alone} episodes of one side alone are left out.", ""]
    if rows:
        lines += ["The episodes that differ most:", "", differing_table(comparison.names, rows), ""]
        lines.append(f"watch one: chaosops replay {rows[0]['files']['a']}")
    else:
        lines.append("Both acted alike in every episode.")
    lines.append(f"written: {folder / COMPARISON}")
    return "\n".join(lines)
