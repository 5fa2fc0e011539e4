"""``chaosops list``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosops.cli.options import Json
from chaosops.cli.output import print_result
from chaosops.core.discovery import brought_by, installed
from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Tier
from chaosops.live.faults import Fault, load_faults
from chaosops.packs import GROUP, PACKS, SHIPPED, load_pack, loadable_packs
from chaosops.policies import registry
from chaosops.policies.llm.spec import OPTIONS
from chaosops.policies.registry import MODEL_FORMS, OWN_FORMS, default_policies, registered
from chaosops.training.recipe_files import shipped_recipes
from chaosops.world.incident import Pack


def execute(*, json: Json = False) -> None:
    packs = {pack.name: _contents(pack) for pack in loadable_packs(real_time=True)}
    policies = {name: policy.help for name, policy in registered().items()}
    policies |= {
        name: f"of {', '.join(map(brought_by, points))}: {points[0].value}"
        for name, points in registry.installed_policies().items()
    }
    problems = [*_broken_packs(), *_taken_names()]
    lines = [
        *(line for name, pack in packs.items() for line in _pack_lines(name, pack)),
        "faults of the live company: the change that breaks a service, and the verb that ends it",
        *map(_fault_line, load_faults().values()),
        f"policies: {', '.join(policies)}",
        *(f"  {name:<22} {text}" for name, text in policies.items()),
        f"models: {', '.join(MODEL_FORMS)}; options: {', '.join(OPTIONS)}",
        f"policies of your own: {', '.join(OWN_FORMS)}",
        *recipe_lines(),
        *problems,
    ]
    found = {
        "packs": packs,
        "faults": {name: _fault(fault) for name, fault in load_faults().items()},
        "policies": policies,
        "models": {"forms": list(MODEL_FORMS), "options": list(OPTIONS)},
        "recipes": shipped_recipes(),
        "problems": problems,
    }
    print_result(found, lines, as_json=json)


def _broken_packs() -> Iterator[str]:
    for name in PACKS:
        try:
            load_pack(name)
        except ChaosOpsError as error:
            yield f"cannot be loaded: {error}"


def _taken_names() -> Iterator[str]:
    """What other packages call like something that ships."""
    for kind, group, ours in (("pack", GROUP, SHIPPED), ("policy", registry.GROUP, registered())):
        for name, points in installed(group).items():
            if name in ours:
                homes = ", ".join(f"{brought_by(point)} ({point.value})" for point in points)
                yield f"{kind} {name} of {homes} is not used: the {kind} that ships has this name"


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


def _fault_line(fault: Fault) -> str:
    change = f"{fault.setting} {'up' if fault.harmful > 0 else 'down'} from {fault.usual}"
    return f"  {fault.mechanism:<22} {change}: {', '.join(fault.services)}; {fault.remedy}"


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "setting": fault.setting,
        "usual": fault.usual,
        "harmful": "up" if fault.harmful > 0 else "down",
        "services": list(fault.services),
        "remedy": fault.remedy,
    }


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
        "policies": default_policies(pack.plays_like or pack.name),
        "tiers": {tier.value: pack.limits[tier] for tier in Tier},
    }
