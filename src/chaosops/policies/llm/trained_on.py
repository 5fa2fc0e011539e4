"""The packs that an adapter was trained on, as its folder says in ``trained_on.json``.

An adapter that says so plays no other pack and no other version: the labels that it learned mean
something else there. The file is not part of the adapter's identity, which its weights decide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.core.retired import retired_name
from chaosops.policies.protocol import Policy

FILE = "trained_on.json"

Packs = Mapping[str, str]  # the name of each pack and its version


def read_trained_on(adapter: Path | None) -> Packs | None:
    """None if the adapter does not say."""
    path = adapter / FILE if adapter else None
    if path is None or not path.is_file():
        return None
    packs = read_object(path, "packs of the adapter").get("packs")
    if not is_packs(packs):
        raise BadInput(f'{path} names no packs; expected {{"packs": {{"NAME": "VERSION"}}}}')
    return packs


def is_packs(value: object) -> TypeGuard[Packs]:
    return isinstance(value, dict) and bool(value) and all(type(v) is str for v in value.values())


def write_trained_on(adapter: Path, packs: Packs) -> None:
    write_text(adapter / FILE, json.dumps({"packs": dict(packs)}) + "\n")


def trained_on(policy: Policy) -> Packs | None:
    """None for a script, and for a model that does not say."""
    packs: Packs | None = getattr(policy, "trained_on", None)
    return packs


def require_trained_on(
    name: str, packs: Packs | None, pack: str, version: str = "", *, pack_is_given: bool = False
) -> None:
    """Refuse a pack that the policy was not trained on. Without a version every one will do.
    ``pack_is_given``: the player of a seat or a submission cannot choose another."""
    if packs is None or (pack in packs and version in ("", packs[pack])):
        return
    known = ", ".join(f"{each} (version {packs[each]})" for each in packs)
    asked = f"{pack} (version {version})" if version else pack
    others = [each for each in packs if not (each == pack or pack_is_given or retired_name(each))]
    cure = f"name --pack {' or --pack '.join(others)}, or" if others else "name"
    raise BadInput(f"{name} was trained on {known} and not on {asked}: {cure} another policy")
