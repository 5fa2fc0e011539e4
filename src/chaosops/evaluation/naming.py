"""Short names of policies, for tables and pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chaosops.policies.llm.adapter import adapter_files, adapter_identities
from chaosops.policies.llm.spec import TRAINED
from chaosops.trained import trained_adapter

# The part of a policy name that says how a model was run.
_HOW = re.compile(r"\+(runtime|batch|dtype|threads|compile)=[^+,]*")


def short_names(policies: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Of the policies of a manifest, with their statuses. The adapter that ships is called
    ``trained``, wherever it was loaded from. Names that would be equal stay as they are.

    >>> short_names({"oracle": {}, "trained+runtime=transformers+batch=256": {}})
    {'oracle': 'oracle', 'trained+runtime=transformers+batch=256': 'trained'}
    >>> short_names({"trained": {}, "trained+batch=2": {}})
    {'trained': 'trained', 'trained+batch=2': 'trained+batch=2'}
    """
    ours = _shipped()
    short = {
        name: TRAINED if status.get("adapter") in ours else _HOW.sub("", name)
        for name, status in policies.items()
    }
    alone = [name for name in short.values() if list(short.values()).count(name) == 1]
    return {name: label if label in alone else name for name, label in short.items()}


def _shipped() -> list[str]:
    """As statuses name it; empty where no adapter ships."""
    adapter = trained_adapter()
    if not all(path.is_file() for path in adapter_files(adapter)):
        return []
    return [f"{adapter.name} {identity}" for identity in adapter_identities(adapter)]
