"""An episode as one line of a journal and of results.json, chained to the line before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.core.chain import link
from chaosops.core.episode import Episode
from chaosops.wire.episodes import episode_to_wire

JOURNAL_FORMAT = "chaosops journal 2"


def first_link(job: Mapping[str, Any]) -> str:
    """The link before the first episode's. It covers the job."""
    return link("", {"format": JOURNAL_FORMAT, "job": job})


def episode_line(
    previous: str, policy: str, episode: Episode, status: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """``status``: the policy's, where it changed with this episode."""
    learned = {} if status is None else {"status": status}
    return chained(previous, {"policy": policy, **episode_to_wire(episode), **learned})


def chained(previous: str, line: Mapping[str, Any]) -> dict[str, Any]:
    """The same line after another one."""
    return {**_content(line), "chain": line_link(previous, line)}


def line_link(previous: str, line: Mapping[str, Any]) -> str:
    return link(previous, _content(line))


def _content(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "chain"}
