"""The policies by name. A file in ``scripted/`` or ``truth/`` is a policy of the same name. Other
packages bring theirs as entry points ``chaosops.policies``."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from chaosops.core.discovery import installed, load_installed
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.importing import load_object
from chaosops.core.printable import short
from chaosops.policies.llm.spec import KINDS, is_model, is_own
from chaosops.policies.own import OwnPolicy
from chaosops.policies.protocol import EVERY_PACK, AnyPolicy, Policy, RegisteredPolicy

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MODEL_FORMS = ("trained", "local:smollm2", "hf:OWNER/NAME", "openai:MODEL@URL", "PATH")
OWN_FORMS = ("MODULE:NAME", "FILE.py:NAME")
GROUP = "chaosops.policies"


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


def installed_policies() -> dict[str, tuple[EntryPoint, ...]]:
    """Those that other packages bring along, not imported. A name that ships keeps its meaning."""
    return {name: of for name, of in installed(GROUP).items() if name not in registered()}


def policy_forms() -> list[str]:
    """What a policy may be called: names, and forms of names."""
    return [*registered(), *installed_policies(), *MODEL_FORMS, *OWN_FORMS]


def default_policies(pack: str) -> list[str]:
    """The policies that ``chaosops eval`` plays in a pack by default, the weakest first."""
    return [
        name
        for name, policy in registered().items()
        if policy.evaluated_in == EVERY_PACK or pack in policy.evaluated_in
    ]


def _own_object(name: str) -> object:
    try:
        return load_object(name, f"policy {name}")
    except BadInput as error:
        home, _, rest = name.partition(":")
        for kind in get_close_matches(home, KINDS, n=1):
            raise BadInput(f"{error}; did you mean {kind}:{rest}?") from error
        raise


def load_policy(name: AnyPolicy) -> Policy:
    """A policy by its name, or made of a function or class of your own. What is a policy already
    stays as it is.

    >>> load_policy("oracle").status()["sees_truth"]
    True
    >>> from chaosops.core.actions import Noop
    >>> load_policy(lambda view: Noop()).status()["kind"]
    'own'
    """
    if not isinstance(name, str):
        return _given_policy(name)
    if name in registered():
        return registered()[name]()
    if points := installed_policies().get(name):
        return OwnPolicy(name, load_installed("policy", name, points))
    if is_own(name):
        return OwnPolicy(name, _own_object(name))
    if is_model(name):
        from chaosops.policies.llm.loading import load_model_policy

        return load_model_policy(name)
    raise UnknownName("policy", name, policy_forms())


def _given_policy(given: Any) -> Policy:
    if isinstance(given, Policy) and not isinstance(given, type):
        return given
    if not callable(given) and not callable(getattr(given, "decide", None)):
        raise BadInput(
            f"{short(given)} is not a policy; expected a name such as 'heuristic', or a function "
            "of a view that returns an action"
        )
    named = getattr(given, "__qualname__", type(given).__qualname__)
    return OwnPolicy(f"{given.__module__}:{named}", given, by_name=False)
