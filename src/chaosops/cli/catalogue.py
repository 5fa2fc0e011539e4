"""``chaosops list``"""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.core.vocabulary import Tier
from chaosops.packs import PACKS, load_pack
from chaosops.policies.llm.spec import OPTIONS
from chaosops.policies.registry import MODEL_FORMS, default_policies, registered
from chaosops.training.recipe_files import shipped_recipes


def execute(args: argparse.Namespace) -> int:
    for name in PACKS:
        pack = load_pack(name)
        print(f"pack {name} {pack.version} ({pack.content_hash()})")
        for failure in pack.failures():
            tiers = ", ".join(tier for tier in Tier if failure in pack.failures(tier))
            print(f"  {failure:<22} published in: {tiers or 'none, it was added'}")
        if pack.splits:
            print("  splits: " + ", ".join(pack.splits))
        for kind, members in pack.parts.items():
            print(f"  {kind}: " + ", ".join(members))
        print("  policies of eval: " + ", ".join(default_policies(name)))
        print("  tiers: " + ", ".join(f"{t} (at most {pack.limits[t]} steps)" for t in Tier))
    print("policies: " + ", ".join(registered()))
    for name, policy in registered().items():
        print(f"  {name:<22} {policy.help}")
    print("models: " + ", ".join(MODEL_FORMS) + "; options: " + ", ".join(OPTIONS))
    print_recipes()
    return 0


def print_recipes() -> None:
    names = shipped_recipes()
    width = max(map(len, names))
    print("recipes:")
    for name, description in names.items():
        print(f"  {name:<{width}}  {description}")
