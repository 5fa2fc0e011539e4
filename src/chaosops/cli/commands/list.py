"""``chaosops list``"""

from __future__ import annotations

from typing import Any

from chaosops.cli.options import Json
from chaosops.cli.output import print, print_json
from chaosops.core.vocabulary import Tier
from chaosops.packs import PACKS, load_pack
from chaosops.policies.llm.spec import OPTIONS
from chaosops.policies.registry import MODEL_FORMS, POLICY_NAMES
from chaosops.world.incident import Pack


def execute(*, json: Json = False) -> int:
    packs = {name: _contents(load_pack(name)) for name in PACKS}
    models = {"forms": list(MODEL_FORMS), "options": list(OPTIONS)}
    if json:
        print_json({"packs": packs, "policies": list(POLICY_NAMES), "models": models})
        return 0
    for name, pack in packs.items():
        print(f"pack {name} {pack['version']} ({pack['hash']})")
        for failure, tiers in pack["failures"].items():
            print(f"  {failure:<22} published in: {', '.join(tiers)}")
        if pack["splits"]:
            print("  splits: " + ", ".join(pack["splits"]))
        tiers = (f"{tier} (at most {steps} steps)" for tier, steps in pack["tiers"].items())
        print("  tiers: " + ", ".join(tiers))
    print("policies: " + ", ".join(POLICY_NAMES))
    print("models: " + ", ".join(MODEL_FORMS) + "; options: " + ", ".join(OPTIONS))
    return 0


def _contents(pack: Pack) -> dict[str, Any]:
    return {
        "version": pack.version,
        "hash": pack.content_hash(),
        "failures": {
            failure: [tier.value for tier in Tier if failure in pack.failures(tier)]
            for failure in pack.failures()
        },
        "splits": list(pack.splits),
        "tiers": {tier.value: pack.limits[tier] for tier in Tier},
    }
