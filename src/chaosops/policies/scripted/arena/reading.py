"""Reads pages of the runbook into data.

The wordings of ``train`` are known to the letter. In other wordings, what little English can tell
(``english``) is taken as a guess, and what it does not find is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from chaosops.core.actions import VERBS, Action, Escalate, Remedy
from chaosops.core.documents import Page
from chaosops.policies.scripted.arena import english
from chaosops.roles.view import RoleView


class Where(StrEnum):
    """Where the fault is, seen from the failing service."""

    HERE = "the failing service"
    CALLER = "its caller"
    CALLEE = "a service it calls"


class Signs(NamedTuple):
    lines: tuple[re.Pattern[str], ...]
    gauge: str
    """Empty where it is unknown."""

    def has(self, line: str) -> bool:
        return any(pattern.fullmatch(line) for pattern in self.lines)


class Cause(NamedTuple):
    setting: str
    harmful: int
    """The direction of a change that does damage: -1 down, +1 up."""
    beyond_pct: int
    where: Where


class Cure(NamedTuple):
    kind: type[Action]
    where: Where | None
    """None where the Manager has to escalate."""


class Guide(NamedTuple):
    """A page as data."""

    name: str
    signs: Signs | None
    cause: Cause | None
    cure: Cure | None
    is_certain: bool = True
    """Is it worded as known, so that nothing had to be guessed?"""


_NUMBER = r"-?\d+"
_BLANKS = {
    "first": '[^"]+',
    "second": '[^"]+',
    "gauge": '[^";]+',
    "where": "|".join(Where),
    "verb": "[a-z_]+",
    "pct": r"\d+",
    "services": r"\S+ and \S+",
    "author": r"\S+",
    "agent": r"\S+",
    "setting": r"\S+",
    "service": r"\S+",
}


def patterns(*wordings: str) -> tuple[re.Pattern[str], ...]:
    """Wordings with named blanks as patterns; a blank that is not known here is a number."""
    return tuple(re.compile(_blanks(re.escape(wording))) for wording in wordings)


def _blanks(escaped: str) -> str:
    def group(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{_BLANKS.get(found[1], _NUMBER)})"

    return re.sub(r"\\{(\w+)\\}", group, escaped)


def read(known: Iterable[re.Pattern[str]], text: str) -> dict[str, str] | None:
    """What stands in the blanks of the first wording that fits the whole text."""
    for pattern in known:
        found = pattern.fullmatch(text)
        if found:
            return found.groupdict()
    return None


_SIGNS = patterns(
    'logs "{first}", "{second}"; {gauge}',
    'shows {gauge} and logs "{first}" or "{second}"',
    '"{first}" or "{second}" in the logs, {gauge}',
    'look for "{first}", "{second}" and {gauge}',
    '{gauge}, logs say "{first}" or "{second}"',
    'symptoms: {gauge}; "{first}"; "{second}"',
)
_CAUSES = {
    -1: patterns(
        "{setting} lowered by more than {pct}% on {where}",
        "sets in when {where} has {setting} cut by over {pct}%",
        "{where}: {setting} down more than {pct}%",
        "{where} with {setting} reduced by more than {pct}%",
        "a cut of {setting} by over {pct}% on {where}",
        "triggered by {setting} falling more than {pct}% on {where}",
    ),
    1: patterns(
        "{setting} raised by more than {pct}% on {where}",
        "sets in when {where} has {setting} lifted by over {pct}%",
        "{where}: {setting} up more than {pct}%",
        "{where} with {setting} increased by more than {pct}%",
        "a rise of {setting} by over {pct}% on {where}",
        "triggered by {setting} rising more than {pct}% on {where}",
    ),
}
_CURES = patterns(
    "{verb} {where}",
    "remedy: {verb} on {where}",
    "cured by {verb}, on {where}",
    "do {verb} on {where}",
    "fix: {verb}, {where}",
    "{verb} helps, on {where}",
)
_ESCALATIONS = (
    "escalate, no repair helps",
    "remedy: escalate",
    "cured by escalate, nothing else",
    "fix: escalate",
    "nothing but escalate helps",
    "do escalate at once",
)
_GAUGES = (
    "memory fills",
    "disk fills",
    "cpu full",
    "too much load",
    "errors rise",
    "latency climbs",
)
_QUOTED = re.compile(r'"([^"]+)"')
_USUAL_PCT = 30  # the limit of a page whose number cannot be read


@lru_cache(maxsize=4096)
def read_page(page: Page) -> Guide:
    """
    >>> page = Page("leak", "", "its caller: buffer_mb up more than 30%", "restart its caller")
    >>> guide = read_page(page)
    >>> guide.cause
    Cause(setting='buffer_mb', harmful=1, beyond_pct=30, where=<Where.CALLER: 'its caller'>)
    >>> guide.signs, guide.cure.kind.verb
    (None, 'restart')
    """
    signs, cause, cure = _signs(page.signs), _cause(page.cause), _cure(page.remedy)
    certain = all((cause or not page.cause, cure or not page.remedy))
    if not certain:
        where = _guessed_place(page)
        cause, cure = cause or _guessed_cause(page, where), cure or _guessed_cure(page, where)
    return Guide(page.name, signs, cause, cure, certain)


def guides(view: RoleView) -> dict[str, Guide]:
    """The runbook as a role sees it, by the names of its pages."""
    return {page.name: read_page(page) for page in view.rules.runbook}


def _signs(text: str) -> Signs | None:
    if not text:
        return None
    found = read(_SIGNS, text)
    if found is not None:
        return Signs((_line(found["first"]), _line(found["second"])), found["gauge"])
    lines = tuple(_line(quoted) for quoted in _QUOTED.findall(text))
    return Signs(lines, next((gauge for gauge in _GAUGES if gauge in text), ""))


def _line(quoted: str) -> re.Pattern[str]:
    """A log line as a page quotes it: N is a number that differs from line to line."""
    return re.compile(re.sub(r"(?<![A-Za-z])N", r"\\d+", re.escape(quoted)))


def _cause(text: str) -> Cause | None:
    for harmful, known in _CAUSES.items():
        found = read(known, text)
        if found is not None:
            return Cause(found["setting"], harmful, int(found["pct"]), Where(found["where"]))
    return None


def _guessed_place(page: Page) -> Where:
    """Both sentences name it. Most faults are at the failing service."""
    neighbour = english.neighbour_in(page.remedy.lower()) or english.neighbour_in(page.cause)
    return {"caller": Where.CALLER, "callee": Where.CALLEE}.get(neighbour or "", Where.HERE)


def _guessed_cause(page: Page, where: Where) -> Cause | None:
    setting, harmful = english.setting_in(page.cause), english.direction(page.cause)
    if setting is None or not harmful:
        return None
    shares = english.percents(english.plain(page.cause))
    return Cause(setting, harmful, shares[0] if shares else _USUAL_PCT, where)


def _cure(text: str) -> Cure | None:
    if text in _ESCALATIONS:
        return Cure(Escalate, None)
    found = read(_CURES, text)
    kind = VERBS.get(found["verb"]) if found else None
    if found is None or kind is None or not issubclass(kind, Remedy):
        return None
    return Cure(kind, Where(found["where"]))


def _guessed_cure(page: Page, where: Where) -> Cure | None:
    kind = english.remedy_in(page.remedy)
    if kind is None:
        return None
    return Cure(kind, None if kind is Escalate else where)
