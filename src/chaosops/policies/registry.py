"""The one place that knows the policies by name."""

from __future__ import annotations

from importlib import import_module

from chaosops.core.errors import UnknownName
from chaosops.policies.llm.spec import is_model
from chaosops.policies.protocol import Policy

# name -> where it lives; imported when it is asked for.
_POLICIES = {
    "random": "chaosops.policies.scripted.random:RandomPolicy",
    "keyword": "chaosops.policies.scripted.keyword:KeywordPolicy",
    "heuristic": "chaosops.policies.scripted.heuristic:HeuristicPolicy",
    "last_toucher": "chaosops.policies.scripted.last_toucher:LastToucherPolicy",
    "oracle": "chaosops.policies.truth.oracle:OraclePolicy",
    "optimal": "chaosops.policies.truth.optimal:OptimalPolicy",
}

POLICY_NAMES = tuple(_POLICIES)
MODEL_FORMS = ("trained", "local:smollm2", "hf:OWNER/NAME", "openai:MODEL@URL", "PATH")


def load_policy(name: str) -> Policy:
    """
    >>> load_policy("oracle").status()["sees_truth"]
    True
    """
    if is_model(name):
        from chaosops.policies.llm.loading import load_model_policy

        return load_model_policy(name)
    if name not in _POLICIES:
        raise UnknownName("policy", name, (*POLICY_NAMES, *MODEL_FORMS))
    module, _, attribute = _POLICIES[name].partition(":")
    policy: Policy = getattr(import_module(module), attribute)()
    return policy
