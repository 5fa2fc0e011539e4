"""A lookup table over the text: the first word that matches decides."""

from __future__ import annotations

from chaosops.policies.protocol import EVERY_PACK
from chaosops.policies.scripted import PolicyByPack


class KeywordPolicy(PolicyByPack):
    name = module = "keyword"
    help = "looks words up"
    evaluated_in = EVERY_PACK
    rank = 20


POLICY = KeywordPolicy
