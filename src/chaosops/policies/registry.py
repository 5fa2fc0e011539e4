"""The policies by name. A file in ``scripted/`` or ``truth/`` is a policy of the same name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from chaosops.core.errors import BadInput, UnknownName
from chaosops.policies.llm.spec import is_model
from chaosops.policies.protocol import EVERY_PACK, Policy, RegisteredPolicy

MODEL_FORMS = ("trained", "local:smollm2", "hf:OWNER/NAME", "openai:MODEL@URL", "PATH")


@cache
def registered() -> dict[str, type[RegisteredPolicy]]:
    """Every policy with a file of its own, in the order of lists. The files are imported only
    here, which keeps ``import chaosops`` fast."""
    found: list[type[RegisteredPolicy]] = []
    for folder in ("scripted", "truth"):
        for info in iter_modules([str(Path(__file__).parent / folder)]):
            if not info.ispkg:
                found.append(_policy_in(folder, info.name))
    return {policy.name: policy for policy in sorted(found, key=lambda p: (p.rank, p.name))}


def _policy_in(folder: str, name: str) -> type[RegisteredPolicy]:
    module = import_module(f"chaosops.policies.{folder}.{name}")
    policy: type[RegisteredPolicy] | None = getattr(module, "POLICY", None)
    sees_truth = folder == "truth"
    if policy is None or (policy.name, policy.sees_truth) != (name, sees_truth):
        raise BadInput(
            f"policies/{folder}/{name}.py needs a POLICY with the name {name!r} and "
            f"sees_truth = {sees_truth}"
        )
    return policy


def default_policies(pack: str) -> list[str]:
    """The policies that ``chaosops eval`` plays in a pack by default, the weakest first."""
    return [
        name
        for name, policy in registered().items()
        if policy.evaluated_in == EVERY_PACK or pack in policy.evaluated_in
    ]


def load_policy(name: str) -> Policy:
    """
    >>> load_policy("oracle").status()["sees_truth"]
    True
    """
    if is_model(name):
        from chaosops.policies.llm.loading import load_model_policy

        return load_model_policy(name)
    if name not in registered():
        raise UnknownName("policy", name, (*registered(), *MODEL_FORMS))
    return registered()[name]()
