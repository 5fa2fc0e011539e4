"""One episode in a file, with its prompts: ``chaosops run --record``, ``chaosops replay``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.chain import link, read_json
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.files import write_text
from chaosops.core.inputs import read_text
from chaosops.core.printable import short
from chaosops.rubrics import CompositeRubric, priced
from chaosops.rubrics.prices import read_rewards
from chaosops.wire.decisions import field
from chaosops.wire.episodes import from_record, to_record

FORMAT = "chaosops recording 2"
UNCHAINED = "chaosops recording 1"  # still read, but edits cannot be detected

_CURE = "make one with chaosops run --record FILE"


class Recording(NamedTuple):
    """``manifest``: how it was made (command, version, commit, pack hash, policy status)."""

    episode: Episode
    manifest: Mapping[str, Any]


def write_recording(path: Path, episode: Episode, manifest: Mapping[str, Any]) -> None:
    content = {"format": FORMAT, "manifest": dict(manifest), "episode": to_record(episode)}
    # Lone surrogates, which a model may write, survive as JSON escapes.
    text = json.dumps({**content, "chain": recording_chain(content)}, indent=1)
    write_text(path, text + "\n", "recording")


def recording_chain(content: Mapping[str, Any]) -> list[str]:
    """A link for the episode without its decisions, one for each decision, and one for the
    manifest. The last is the head."""
    episode = dict(content["episode"])
    decisions = episode.pop("decisions")
    links = [link("", {"format": content["format"], "episode": episode})]
    for decision in (*decisions, {"manifest": content["manifest"]}):
        links.append(link(links[-1], decision))
    return links


def read_recording(path: Path) -> Recording:
    """Raises BadInput if the file was edited or this world does not reproduce the episode."""
    content = recorded_content(path)
    try:
        episode = from_record(content["episode"], rubric=recorded_rubric(content["manifest"]))
        if content["format"] == FORMAT and content.get("chain") != recording_chain(content):
            raise BadInput(
                "its chain does not match its content, so it was altered; "
                f"chaosops verify {path} says where"
            )
        return Recording(episode, content["manifest"])
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def recorded_rubric(manifest: Mapping[str, Any]) -> CompositeRubric:
    """The rubric that a manifest names: the standard, or one with other rewards."""
    rewards = manifest.get("rewards", {})
    if not isinstance(rewards, dict):
        raise BadInput(f"the manifest's rewards are {short(rewards)}, not an object")
    try:
        if read_rewards(rewards) != rewards:
            raise BadInput("name what differs from the standard, in its order")
        return priced(rewards)
    except ChaosOpsError as error:
        raise BadInput(f"the manifest's rewards cannot be used: {error}") from None


def recorded_content(path: Path) -> dict[str, Any]:
    """The content of the file: a manifest and an episode's decisions, not yet played again."""
    text = read_text(path, "recording")
    try:
        content = read_json(text)
    except ValueError as error:
        raise BadInput(f"{path} is not a whole recording: {_reason(error)}; {_CURE}") from None
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, UNCHAINED):
        raise BadInput(f"{path} is not a ChaosOps recording ('format' is not {FORMAT!r}); {_CURE}")
    try:
        field(content, "manifest", dict)
        field(field(content, "episode", dict), "decisions", list)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return content


def _reason(error: ValueError) -> str:
    return "not JSON, or cut off" if isinstance(error, json.JSONDecodeError) else str(error)
