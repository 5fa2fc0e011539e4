"""Reads pages of the runbook in unknown wordings, by what most of them have in common.

Generic: identifiers are settings, shares are limits, and a small dictionary of English knows
directions, places and verbs. It was written without the wordings kept for evaluation. What it
takes from a page may be wrong; what is not said stays None. For the names of the shipped faults it
knows, as a last resort, what an engineer knows about them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from chaosops.core.actions import (
    VERBS,
    Action,
    Escalate,
    PauseBatch,
    Purge,
    Remedy,
    RenewCert,
    Reroute,
    Restart,
    Rollback,
    Scale,
    Throttle,
    WarmCache,
)
from chaosops.policies.scripted.arena.english import direction, percents, plain

_SETTING = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\breplicas\b")
_QUOTED = re.compile(r"\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_LOG_WORD = re.compile(r"[a-z_]{2,}")
_SAME_LINE = 0.75  # the share of a log line's words that a page has to have

CALLER, CALLEE, HERE = "caller", "callee", "here"
_ME = r"(?:it|this|that|the (?:failing|affected|sick|broken|faulty|troubled|slow)\b)"
_USES = r"(?:calls?|depends? on|relies on|needs?|uses?|asks?|talks? to|queries|reaches|invokes?)"
_PLACES = (
    (CALLEE, re.compile(
        rf"\b(?:it|which|service) (?:itself )?{_USES}(?! {_ME})|\bcallees?\b|\bdownstream\b"
        r"|\bdependenc(?:y|ies)\b|\bcalled (?:by|from)\b|\bbehind it\b|\bbe(?:low|neath) it\b"
        r"|\bunderneath\b|\bone (?:hop|level|step) (?:down|below|deeper)\b|\bcall target\b"
        r"|\bprovider\b|\bbackends?\b|\bin turn calls\b|\bnext in the chain\b|\bbelow\b")),
    (CALLER, re.compile(
        rf"\bcallers?\b|\bcalling\b|\bupstream\b|\b{_USES} {_ME}|\bclients?\b|\bconsumers?\b"
        r"|\bdependents?\b|\bin front of\b|\babove\b|\bcalls come from\b|\brequester\b"
        r"|\bone (?:hop|level|step) (?:up|above|higher)\b|\bsender\b|\bfrontends?\b")),
    (HERE, re.compile(
        r"\bitself\b|\bhere\b|\bsame (?:service|place|one)\b|\blocal(?:ly)?\b|\bin place\b"
        r"|\b(?:failing|failed|affected|sick|broken|faulty|troubled|unhealthy|alerting|ailing) "
        r"(?:service|one|component|system)|\bthat (?:fails|is failing|alerts|suffers|is sick)\b"
        r"|\bin trouble\b|\bthis service\b|\bon the spot\b|\bown\b")),
)  # fmt: skip
_VERBS: dict[type[Action], str] = {
    Restart: r"re-?start|reboot|bounce|kill and start|start(?:ed)? (?:again|anew|over)|relaunch"
    r"|cycle|respawn|turn(?:ed)? off and on",
    Rollback: r"roll(?:ed|ing)?[ -]?back|revert|undo|undone|(?:go|put|take|move|bring)[a-z]*"
    r" (?:[a-z]+ ){0,4}?back"
    r"|previous|restore|back out|earlier (?:version|release|state|value)|last good|downgrade",
    Scale: r"scal(?:e|ed|ing)|(?:add|more|extra|further|additional) (?:replica|instance|capacit"
    r"|machine|copies|copy|node|pod|worker)|replicas? (?:up|added)|enlarge|grow|upsize|widen",
    Reroute: r"re-?rout|redirect|divert|detour|(?:other|another|different) (?:path|way|route)"
    r"|elsewhere|steer|(?:shift|move|send) (?:the )?(?:traffic|calls|requests)|around",
    Purge: r"purg|clean|clear|delet|empt(?:y|ied)|wipe|free (?:up )?(?:the )?(?:disk|space)|sweep"
    r"|(?:make|get) (?:room|space)|flush|remove (?:old|stale)|disk",
    RenewCert: r"renew|certificat|\bcerts?\b|re-?issue|\btls\b|re-?new",
    Throttle: r"throttl|rate[ -]?limit|limit|slow(?:ed)? down|shed|curb|hold back|brake|cap\b"
    r"|back ?off|choke|let (?:fewer|less)|fewer (?:calls|requests)",
    WarmCache: r"warm|cache|pre-?load|pre-?fill|refill|prime|fill (?:it )?again|heat",
    PauseBatch: r"paus|batch|suspend|halt|(?:stop|hold) (?:the )?(?:jobs?|work)|jobs?\b",
    Escalate: r"escalat|hand(?:ed)? (?:it )?(?:over|on|up)|vendor|specialist"
    r"|nothing (?:the team|to)|human|(?:page|call|wake|phone|ask|involve|get) (?:in )?"
    r"(?:the |an? )?(?:owner|manager|expert|provider|support|someone|somebody)|higher up"
    r"|no (?:repair|remedy|fix)|management",
}  # fmt: skip
_GAUGES = {
    "memory fills": r"memory|heap|\bram\b",
    "disk fills": r"disk|storage|volume",
    "cpu full": r"cpu|processor",
    "too much load": r"\bload\b|traffic|overload",
    "errors rise": r"error|failure",
    "latency climbs": r"latenc|slow|response time",
}


class Known(NamedTuple):
    """What an engineer knows about a fault by its name."""

    setting: str
    harmful: int
    kind: type[Action]
    where: str = HERE


NATURAL = {
    "bad_config": Known("timeout_ms", -1, Rollback),
    "bad_deploy": Known("canary_min", -1, Rollback),
    "batch_starvation": Known("batch_slots", 1, PauseBatch),
    "cache_stampede": Known("cache_mb", -1, WarmCache, CALLER),
    "capacity_cut": Known("replicas", -1, Scale),
    "deadlock": Known("lock_timeout_s", 1, Restart),
    "disk_fill": Known("retention_h", 1, Purge),
    "expired_certificate": Known("cert_days", -1, RenewCert),
    "leak": Known("buffer_mb", 1, Restart),
    "misrouting": Known("home_weight", -1, Reroute),
    "pool_exhaustion": Known("pool_size", -1, Rollback),
    "quota_hit": Known("quota_rps", -1, Escalate),
    "resolver_outage": Known("dns_ttl_s", -1, Restart),
    "retry_storm": Known("retry_pct", 1, Throttle),
}


def setting_in(text: str) -> str | None:
    found = _SETTING.search(text.lower())
    return found[0] if found else None


def percent_in(text: str) -> int | None:
    found = percents(plain(text))
    return found[0] if len(found) == 1 else None


def harmful_in(text: str) -> int:
    """The direction that does damage; 0 where it is not said. Names of settings say nothing."""
    return direction(_SETTING.sub(" ", plain(text)))


def where_in(*texts: str) -> str | None:
    """
    >>> where_in("the service that calls it"), where_in("whatever it depends on")
    ('caller', 'callee')
    """
    for text in texts:
        said = _SETTING.sub(" ", text.lower())
        for place, pattern in _PLACES:
            if pattern.search(said):
                return place
    return None


def verb_in(text: str) -> type[Action] | None:
    """The remedy that most of the words speak for."""
    said = text.lower()
    for verb, kind in VERBS.items():
        if issubclass(kind, Remedy | Escalate) and re.search(rf"\b{verb}\b", said):
            return kind
    hits = {kind: len(re.findall(rf"\b(?:{words})", said)) for kind, words in _VERBS.items()}
    best = max(hits, key=lambda kind: hits[kind])
    return best if hits[best] and list(hits.values()).count(hits[best]) == 1 else None


def quotes_in(text: str) -> list[str]:
    return [next(filter(None, found)) for found in _QUOTED.findall(text)]


def gauge_in(text: str) -> str:
    said = _QUOTED.sub(" ", text).lower()
    exact = [gauge for gauge in _GAUGES if gauge in said]
    fitting = exact or [gauge for gauge, words in _GAUGES.items() if re.search(words, said)]
    return fitting[0] if len(fitting) == 1 else ""


@lru_cache(maxsize=16384)
def is_line_in(line: str, text: str) -> bool:
    """Does a page speak of a log line, by the words that they share?"""
    words, known = _LOG_WORD.findall(line.lower()), set(_LOG_WORD.findall(text.lower()))
    return len(words) > 1 and sum(word in known for word in words) >= _SAME_LINE * len(words)
