"""Policies in plain code. They decide from a view and cannot import the world."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from chaosops.core.actions import Action
from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput
from chaosops.policies.protocol import ScriptedPolicy
from chaosops.roles.view import RoleView


class PolicyByPack(ScriptedPolicy):
    """Plays every pack with a module of its own. ``PACK/MODULE.py`` has a function for each role
    (``sre``, ``oversight``, ``dev``, ``manager``: a view in, an action out), and ``suspect`` where
    the pack's layout measures suspicion."""

    module: ClassVar[str]

    def act(self, view: RoleView, dice: Dice) -> Action:
        action: Action = getattr(self.implementation(view), view.role)(view)
        return action

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        suspicion: Mapping[str, float] = self.implementation(view).suspect(view)
        return suspicion

    def implementation(self, view: RoleView) -> Any:
        return load_implementation(view.rules.layout, self.module)


@cache
def packs_with(module: str) -> tuple[str, ...]:
    """The packs in whose folder a module of this name is."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob(f"*/{module}.py")))


@cache
def load_implementation(pack: str, module: str) -> Any:
    # The name may come over the wire: it must not lead out of this folder.
    if pack not in packs_with(module):
        raise BadInput(
            f"policy {module} cannot play pack {pack}: there is no policies/scripted/{pack}/"
            f"{module}.py; name another policy"
        )
    return import_module(f"{__name__}.{pack}.{module}")
