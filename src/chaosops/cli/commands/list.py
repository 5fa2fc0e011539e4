"""``chaosops list``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosops.cli.options import Json
from chaosops.cli.output import print_result
from chaosops.core.vocabulary import Tier
from chaosops.packs import PACKS, load_pack
from chaosops.policies.llm.spec import OPTIONS
from chaosops.policies.registry import MODEL_FORMS, default_policies, registered
from chaosops.training.recipe_files import shipped_recipes
from chaosops.world.incident import Pack


def execute(*, json: Json = False) -> None:
    packs = {name: _contents(load_pack(name)) for name in PACKS}
    policies = {name: policy.help for name, policy in registered().items()}
    lines = [
        *(line for name, pack in packs.items() for line in _pack_lines(name, pack)),
        f"policies: {', '.join(policies)}",
        *(f"  {name:<22} {text}" for name, text in policies.items()),
        f"models: {', '.join(MODEL_FORMS)}; options: {', '.join(OPTIONS)}",
        *recipe_lines(),
    ]
    found = {
        "packs": packs,
        "policies": policies,
        "models": {"forms": list(MODEL_FORMS), "options": list(OPTIONS)},
        "recipes": shipped_recipes(),
    }
    print_result(found, lines, as_json=json)


def _pack_lines(name: str, pack: dict[str, Any]) -> Iterator[str]:
    yield f"pack {name} {pack['version']} ({pack['hash']})"
    for failure, tiers in pack["failures"].items():
        yield f"  {failure:<22} published in: {', '.join(tiers) or 'none, it was added'}"
    if pack["splits"]:
        yield f"  splits: {', '.join(pack['splits'])}"
    for kind, members in pack["parts"].items():
        yield f"  {kind}: {', '.join(members)}"
    yield f"  policies of eval: {', '.join(pack['policies'])}"
    limits = (f"{tier} (at most {steps} steps)" for tier, steps in pack["tiers"].items())
    yield f"  tiers: {', '.join(limits)}"


def recipe_lines() -> list[str]:
    names = shipped_recipes()
    width = max(map(len, names))
    return ["recipes:", *(f"  {name:<{width}}  {text}" for name, text in names.items())]


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
