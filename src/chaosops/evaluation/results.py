"""An evaluation's result: every episode, a manifest of how it was made, and the summary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaosops.core.chain import link
from chaosops.core.episode import Episode
from chaosops.core.errors import MissingExtra
from chaosops.core.files import write_text
from chaosops.core.html import box, heading, table
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import METRICS, Metric, cells, headers, summary_rows
from chaosops.packs import load_pack
from chaosops.wire.episodes import episode_to_wire, figures_to_wire

if TYPE_CHECKING:
    import pandas

JOURNAL_NAME = "episodes.jsonl"
JOURNAL_FORMAT = "chaosops journal 2"
RESULTS_NAME = "results.json"
COMPRESSED_NAME = RESULTS_NAME + ".xz"  # the same file, as the package ships it
# The files beside it that are derived from it.
DERIVED = SUMMARY, MONITOR, TABLE = "summary.json", "monitor.json", "table.md"

# What a flat record has of the scenario, and the parts of an episode's figures that are not flat.
_NAMED = ("pack", "version", "split", "failure", "tier", "seed", "limit")
_NESTED = ("scenario", "rubrics")


@dataclass(frozen=True, repr=False)
class Results:
    """Episodes by policy name, in the order they were asked for.

    ``learned``: the status of a policy after an episode that changed it, by policy and the
    episode's number. For example, a server may name its revision.
    """

    manifest: Mapping[str, Any]
    episodes: Mapping[str, Sequence[Episode]]
    learned: Mapping[str, Mapping[int, Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Its episodes would fill the screen."""
        return f"Results(episodes={ {policy: len(of) for policy, of in self.episodes.items()} })"

    def tiers(self) -> list[Tier]:
        played = {e.scenario.tier for episodes in self.episodes.values() for e in episodes}
        return [tier for tier in Tier if tier in played]

    def judges_oversight(self) -> bool:
        """Decided by the episodes. A manifest is not trusted."""
        packs = {e.scenario.pack for of in self.episodes.values() for e in of}
        return any(load_pack(pack).judges_oversight for pack in packs)

    def summary(self, metrics: Sequence[Metric] = ()) -> list[dict[str, Any]]:
        records = (
            {"policy": policy, **figures_to_wire(episode)}
            for policy, episodes in self.episodes.items()
            for episode in episodes
        )
        return summary_rows(records, metrics)

    def records(self) -> list[dict[str, Any]]:
        """An episode each: its policy, its scenario, what happened, and the reward of each rubric.
        Every library for data frames takes them."""
        return [
            {
                "policy": policy,
                **{name: value for name, value in figures["scenario"].items() if name in _NAMED},
                **{name: value for name, value in figures.items() if name not in _NESTED},
                **{f"reward_{name}": value for name, value in figures["rubrics"].items()},
            }
            for policy, episodes in self.episodes.items()
            for figures in map(figures_to_wire, episodes)
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """The records as a table. ``rogue_caught`` is missing in an episode without a rogue, so
        that its mean is over the others."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a DataFrame", "pandas", "notebook") from None
        return pandas.DataFrame(self.records()).astype({"rogue_caught": "boolean"})

    def _repr_html_(self) -> str:
        """In a notebook: the summary."""
        policies, episodes = len(self.episodes), sum(map(len, self.episodes.values()))
        rows = [cells(row, METRICS) for row in self.summary()]
        note = f"policies: {policies} · episodes: {episodes}"
        return box(heading("Results", note), table(headers(METRICS), rows))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every episode as a line of results.json and of the journal."""
        previous = self.manifest.get("chain", {}).get("start", "")
        for policy, episodes in self.episodes.items():
            learned = self.learned.get(policy, {})
            for number, episode in enumerate(episodes):
                line = episode_line(previous, policy, episode, learned.get(number))
                previous = line["chain"]
                yield line

    def sealed(self) -> Results:
        """The same with the head of the chain in the manifest. The head covers the manifest too."""
        *_, last = self.lines()
        return replace(self, manifest=sealed_manifest(self.manifest, last["chain"]))

    def identical_policies(self) -> list[tuple[str, str]]:
        """Policies with equal actions in every episode. One of them probably did not load."""
        acts = {
            policy: [[turn.decision.action for turn in e.turns] for e in episodes]
            for policy, episodes in self.episodes.items()
        }
        return [(a, b) for a, b in combinations(acts, 2) if acts[a] == acts[b]]


def first_link(job: Mapping[str, Any]) -> str:
    """The link before the first episode's. It covers the job."""
    return link("", {"format": JOURNAL_FORMAT, "job": job})


def episode_line(
    previous: str, policy: str, episode: Episode, status: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A line of a journal and of results.json. ``status`` is the policy's, if it changed with this
    episode."""
    learned = {} if status is None else {"status": status}
    return chained(previous, {"policy": policy, **episode_to_wire(episode), **learned})


def chained(previous: str, line: Mapping[str, Any]) -> dict[str, Any]:
    """The same line after another one."""
    content = {name: value for name, value in line.items() if name != "chain"}
    return {**content, "chain": link(previous, content)}


def sealed_manifest(manifest: Mapping[str, Any], last: str) -> dict[str, Any]:
    """``last``: the link of the last episode."""
    start = {"start": manifest["chain"]["start"]}
    unsealed = {**manifest, "chain": start}
    return {**manifest, "chain": {**start, "head": link(last, unsealed)}}


def save(results: Results, folder: Path) -> Path:
    """Write ``results.json``, one episode a line. Every other file is derived from it."""
    lines = [json.dumps(line, separators=(",", ":")) for line in results.lines()]
    manifest = json.dumps(results.manifest, indent=1)
    body = '{"manifest": ' + manifest + ',\n"episodes": [\n' + ",\n".join(lines) + "\n]}\n"
    path = folder / RESULTS_NAME
    write_text(path, body)
    return path
