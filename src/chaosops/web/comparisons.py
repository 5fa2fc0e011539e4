"""Two policies on the same episodes: differences by split and tier, and the episodes of a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import metric
from chaosops.evaluation.outcomes import COMPARED, Outcome, differences, pairs
from chaosops.packs import load_pack, require_version
from chaosops.web.choices import code_of, require_named
from chaosops.web.evaluations import Read

Reads = Sequence[Read]
_CELL = ("pack", "version", "split", "tier")


def heat_map(reads: Reads, query: Mapping[str, str]) -> dict[str, Any]:
    """A row for each evaluation and split that both policies played. ``pack`` and ``tiers`` choose
    among them."""
    require_choices(query, ("of", "against", "pack", "tiers"))
    of, against = _sides(reads, query)
    rows = [
        {
            "key": read.report["key"],
            "title": read.report["title"],
            **row,
            **_words(row["pack"], row["version"], row["split"]),
        }
        for read in reads
        for row in differences(read.outcomes, of, against)
    ]
    return {
        "of": of,
        "against": against,
        "metrics": [
            {
                "key": each.key,
                "title": metric(each.key).title,
                "is_more_better": each.is_more_better,
                "is_share": each.most == 1.0,
            }
            for each in COMPARED
        ],
        "rows": _chosen(rows, query),
    }


def require_choices(query: Mapping[str, str], allowed: Sequence[str]) -> None:
    """A choice that nobody reads would be ignored without a word."""
    for name in query:
        require_named("choice", name, allowed)


def _chosen(rows: Sequence[dict[str, Any]], query: Mapping[str, str]) -> list[dict[str, Any]]:
    pack = query.get("pack")
    packs = list(dict.fromkeys(row["plays"] or row["pack"] for row in rows))
    if pack:
        require_named("pack", pack, packs)
    tiers = [name for name in query.get("tiers", "").split(",") if name]
    known = [tier.value for tier in Tier]
    for name in tiers:
        require_named("tier", name, known)
    wanted = tiers or known
    return [
        {**row, "tiers": {name: of for name, of in row["tiers"].items() if name in wanted}}
        for row in rows
        if pack in (None, "", row["plays"] or row["pack"])
    ]


def episodes_of(reads: Reads, key: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The episodes of one split and tier of an evaluation."""
    require_choices(query, ("of", "against", *_CELL))
    of, against = _sides(reads, query)
    found = next((read.outcomes for read in reads if read.report["key"] == key), None)
    if found is None:
        raise BadInput("no such evaluation; the page of results lists those that there are")
    both = pairs(found, of, against)
    if not both:
        raise BadInput("no episode of both policies here; choose a cell of the page of results")
    for name in _CELL:
        asked = query.get(name, "")
        there = list(dict.fromkeys(str(getattr(ours.incident, name)) for ours, _ in both))
        require_named(name, asked, there)
        both = [one for one in both if str(getattr(one[0].incident, name)) == asked]
    return {
        "plays": plays(query["pack"], query["version"]),
        "episodes": [
            {
                "seed": ours.incident.seed,
                "scenario": code_of(ours.incident.failure) if ours.incident.failure else "",
                "of": outcome_to_wire(ours),
                "against": outcome_to_wire(theirs),
            }
            for ours, theirs in both
        ],
    }


def _sides(reads: Reads, query: Mapping[str, str]) -> tuple[str, str]:
    known = list(dict.fromkeys(one for read in reads for one in _policies(read)))
    of, against = (query.get(name, "") for name in ("of", "against"))
    for name in (of, against):
        require_named("policy", name, known)
    if of == against:
        raise BadInput(f"{of} cannot be compared with itself; name two policies")
    return of, against


def _policies(read: Read) -> Sequence[str]:
    return list(read.report["manifest"]["policies"]) if "manifest" in read.report else []


def outcome_to_wire(one: Outcome) -> dict[str, Any]:
    names = ("reward", "solved", "steps", "wrong_fixes", "false_flags", "caught")
    return {name: getattr(one, name) for name in names}


@cache
def plays(pack: str, version: str) -> str | None:
    """The pack that plays these episodes here. None: it is not installed."""
    try:
        require_version(pack, version)
        load_pack(pack)
    except ChaosOpsError:
        return None
    return pack


def _words(pack: str, version: str, split: str) -> dict[str, Any]:
    here = plays(pack, version)
    told = load_pack(here).split_words().get(split) if here else None
    return {
        "plays": here,
        "name": told.title if told else split or pack,
        "words": told.words if told else None,
    }
