"""A lookup table over the text: the first word that matches decides."""

from __future__ import annotations

from chaosops.policies.scripted import PolicyByPack, packs_with


class KeywordPolicy(PolicyByPack):
    name = module = "keyword"
    help = "looks words up"
    evaluated_in = packs_with("keyword")
    rank = 20


POLICY = KeywordPolicy
