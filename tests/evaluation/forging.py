"""Means to change an evaluation on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chaosops.evaluation.results import chained, sealed_manifest

Content = dict[str, Any]


def edit(folder: Path, change: Callable[[Content], object], *, rechain: bool = False) -> None:
    path = folder / "results.json"
    content: Content = json.loads(path.read_text())
    change(content)
    if rechain:
        previous = content["manifest"]["chain"]["start"]
        for i, line in enumerate(content["episodes"]):
            content["episodes"][i] = chained(previous, line)
            previous = content["episodes"][i]["chain"]
        content["manifest"] = sealed_manifest(content["manifest"], previous)
    path.write_text(json.dumps(content))


def line_of(content: Content, policy: str, number: int = 0) -> Content:
    lines: list[Content] = [line for line in content["episodes"] if line["policy"] == policy]
    return lines[number]


def watched_turn(line: Content) -> Content:
    """The first one with a suspicion; in the classic pack there is none, and it gets one."""
    turn: Content = next((t for t in line["turns"] if "suspicion" in t), line["turns"][1])
    turn.setdefault("suspicion", {})
    return turn


def edit_json(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        change(content)
        (folder / name).write_text(json.dumps(content))

    return forge
