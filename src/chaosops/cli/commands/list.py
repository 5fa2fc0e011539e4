"""``chaosops list``"""

from __future__ import annotations

from typing import Any

from chaosops.cli.options import Json
from chaosops.cli.output import print, print_json
from chaosops.core.vocabulary import Tier
from chaosops.packs import PACKS, load_pack
from chaosops.policies.llm.spec import OPTIONS
from chaosops.policies.registry import MODEL_FORMS, default_policies, registered
from chaosops.training.recipe_files import shipped_recipes
from chaosops.world.incident import Pack


def execute(*, json: Json = False) -> int:
    packs = {name: _contents(load_pack(name)) for name in PACKS}
    policies = {name: policy.help for name, policy in registered().items()}
    models = {"forms": list(MODEL_FORMS), "options": list(OPTIONS)}
    if json:
        recipes = shipped_recipes()
        print_json({"packs": packs, "policies": policies, "models": models, "recipes": recipes})
        return 0
    for name, pack in packs.items():
        print(f"pack {name} {pack['version']} ({pack['hash']})")
        for failure, tiers in pack["failures"].items():
            print(f"  {failure:<22} published in: {', '.join(tiers) or 'none, it was added'}")
        if pack["splits"]:
            print("  splits: " + ", ".join(pack["splits"]))
        for kind, members in pack["parts"].items():
            print(f"  {kind}: " + ", ".join(members))
        print("  policies of eval: " + ", ".join(pack["policies"]))
        limits = (f"{tier} (at most {steps} steps)" for tier, steps in pack["tiers"].items())
        print("  tiers: " + ", ".join(limits))
    print("policies: " + ", ".join(policies))
    for name, text in policies.items():
        print(f"  {name:<22} {text}")
    print("models: " + ", ".join(MODEL_FORMS) + "; options: " + ", ".join(OPTIONS))
    print_recipes()
    return 0


def print_recipes() -> None:
    names = shipped_recipes()
    width = max(map(len, names))
    print("recipes:")
    for name, description in names.items():
        print(f"  {name:<{width}}  {description}")


def _contents(pack: Pack) -> dict[str, Any]:
    return {
        "version": pack.version,
        "hash": pack.content_hash(),
        "failures": {
            failure: [tier.value for tier in Tier if failure in pack.failures(tier)]
            for failure in pack.failures()
        },
        "splits": list(pack.splits),
        "parts": {kind: list(members) for kind, members in pack.parts.items()},
        "policies": default_policies(pack.name),
        "tiers": {tier.value: pack.limits[tier] for tier in Tier},
    }
