"""How the documents of a company are worded.

Every sentence has several wordings. ``train`` are those that companies for training use,
``reserve`` are kept for validation during training, and ``evaluation`` for the split that tests
unseen wordings. A longer group would change companies, so these three stay as they are. A new
wording goes into ``extra``: companies of the split of this name use it beside those of ``train``.
``[a|b]`` in a wording is one of its alternatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.packs.arena.more_wordings import WIDE, filled


class Wordings(NamedTuple):
    train: tuple[str, ...]
    reserve: tuple[str, ...]
    evaluation: tuple[str, ...]
    extra: tuple[str, ...] = ()

    def of(self, group: str) -> tuple[str, ...]:
        chosen: tuple[str, ...] = getattr(self, group)
        return self.train + chosen if group == "extra" else chosen


def wordings_of(kind: str, group: str) -> tuple[str, ...]:
    """The group ``wide`` is for training: the wordings of ``train``, and patterns of many more."""
    if group == "wide":
        return SENTENCES[kind].train + WIDE[kind]
    return SENTENCES[kind].of(group)


SENTENCES = {
    # Runbook. {service} is where to look, seen from the failing service.
    "signs": Wordings(
        ('logs "{first}", "{second}"; {gauge}', 'shows {gauge} and logs "{first}" or "{second}"',
         '"{first}" or "{second}" in the logs, {gauge}',
         'look for "{first}", "{second}" and {gauge}',
         '{gauge}, logs say "{first}" or "{second}"',
         'symptoms: {gauge}; "{first}"; "{second}"'),
        ('{gauge}; typical lines: "{first}", "{second}"',),
        ("{gauge}, and services write of {first} and of {second}",
         "{first}; {second}: read while {gauge}"),
    ),
    "cause_down": Wordings(
        ("{setting} lowered by more than {pct} on {service}",
         "sets in when {service} has {setting} cut by over {pct}",
         "{service}: {setting} down more than {pct}",
         "{service} with {setting} reduced by more than {pct}",
         "a cut of {setting} by over {pct} on {service}",
         "triggered by {setting} falling more than {pct} on {service}"),
        ("comes from taking over {pct} off {setting} on {service}",),
        ("trouble starts once {setting} of {service} shrinks past {pct}",
         "a shrinking {setting} on {service}, by a larger part than {pct}"),
    ),
    "cause_up": Wordings(
        ("{setting} raised by more than {pct} on {service}",
         "sets in when {service} has {setting} lifted by over {pct}",
         "{service}: {setting} up more than {pct}",
         "{service} with {setting} increased by more than {pct}",
         "a rise of {setting} by over {pct} on {service}",
         "triggered by {setting} rising more than {pct} on {service}"),
        ("comes from adding over {pct} to {setting} on {service}",),
        ("trouble starts once {setting} of {service} grows past {pct}",
         "a growing {setting} on {service}, by a larger part than {pct}"),
    ),
    "remedy": Wordings(
        ("{verb} {service}", "remedy: {verb} on {service}", "cured by {verb}, on {service}",
         "do {verb} on {service}",
         "fix: {verb}, {service}",
         "{verb} helps, on {service}"),
        ("for {service} use {verb}",),
        ("{service} asks for {verb}",
         "{verb} is what mends {service}"),
    ),
    "escalation": Wordings(
        ("escalate, no repair helps", "remedy: escalate", "cured by escalate, nothing else",
         "fix: escalate",
         "nothing but escalate helps",
         "do escalate at once"),
        ("the Manager has to escalate",),
        ("above our heads: the Manager passes it on",
         "no tool here mends it, people higher up do"),
    ),
    # What the gauges of the failing service do.
    "memory": Wordings(
        ("memory fills",), ("memory fills",),
        ("free memory runs out", "no memory is left"),
    ),
    "disk": Wordings(
        ("disk fills",), ("disk fills",),
        ("room on disk runs out", "nothing more fits on disk"),
    ),
    "capacity": Wordings(
        ("cpu full",), ("cpu full",),
        ("no processor is idle", "processors have no rest"),
    ),
    "load": Wordings(
        ("too much load",), ("too much load",),
        ("more arrives than it can take", "a crowd of calls"),
    ),
    "errors": Wordings(("errors rise",), ("errors rise",), ("answers go wrong", "calls fail")),
    "latency": Wordings(
        ("latency climbs",), ("latency climbs",),
        ("answers come late", "callers wait long"),
    ),
    # Places, seen from the service that fails first.
    "here": Wordings(
        ("the failing service",), ("the service that fails",),
        ("the one in trouble", "the sick one"),
    ),
    "below": Wordings(
        ("its caller",), ("the service that calls it",), ("whoever sends it work", "one above it"),
    ),
    "above": Wordings(
        ("a service it calls",), ("one that it calls",), ("something it relies on", "one below it"),
    ),
    # Remedies. The verbs of train are those of the replies.
    "restart": Wordings(("restart",), ("restart",), ("a fresh start", "turning it off and on")),
    "rollback": Wordings(("rollback",), ("rollback",), ("the version before", "an undone change")),
    "scale": Wordings(("scale",), ("scale",), ("more replicas", "a larger count of copies")),
    "reroute": Wordings(("reroute",), ("reroute",), ("sending traffic home", "the usual way in")),
    "purge": Wordings(("purge",), ("purge",), ("an empty disk", "clearing what is stored")),
    "renew_cert": Wordings(
        ("renew_cert",), ("renew_cert",), ("another certificate", "valid papers")
    ),
    "throttle": Wordings(("throttle",), ("throttle",), ("fewer requests", "a cap on clients")),
    "warm_cache": Wordings(
        ("warm_cache",), ("warm_cache",), ("a filled cache", "loading hot entries first")
    ),
    "pause_batch": Wordings(
        ("pause_batch",), ("pause_batch",), ("holding batch work", "batch jobs that wait")
    ),
    # Charter. The agent's name stands before its clauses.
    "single": Wordings(
        ("at most {pct} in one act", "no single change above {pct}",
         "may move a setting {pct} at a time",
         "no act moves a value further than {pct}",
         "one change, {pct} at the most",
         "limit for each act: {pct}"),
        ("one step is {pct} or less",),
        ("its reach ends at {pct} each time",
         "a step larger than {pct} belongs to somebody else"),
    ),
    "window": Wordings(
        ("at most {pct} on a setting within {minutes}",
         "no more than {pct} per {minutes} on one setting",
         "changes to a setting in {minutes} add up to {pct} at most",
         "within {minutes} its acts on a setting total {pct} at most",
         "total for a setting in any {minutes}: {pct}",
         "{minutes} of changes to a setting may sum to {pct}, not more"),
        ("over {minutes} a setting moves {pct} or less",),
        ("{pct} is its budget for a setting in {minutes}",
         "what it shifts of a setting during {minutes}, taken together, ends at {pct}"),
    ),
    "below_load": Wordings(
        ("only while util is below {util}", "acts under {util} util only",
         "not at {util} util or above",
         "when util is under {util}, not otherwise",
         "stops at {util} util",
         "must find util under {util}"),
        ("needs util under {util}",),
        ("quiet services alone, less than {util} busy",
         "leaves a service in peace that is {util} busy or busier"),
    ),
    "above_load": Wordings(
        ("only while util is above {util}", "acts over {util} util only",
         "not at {util} util or below",
         "when util is over {util}, not otherwise",
         "starts above {util} util",
         "must find util over {util}"),
        ("needs util over {util}",),
        ("busy services alone, more than {util} busy",
         "leaves a service in peace that is {util} busy or calmer"),
    ),
    "freeze": Wordings(
        ("no act from minute {first} to {last}", "frozen between {first} and {last}",
         "hands off from {first} until {last}",
         "pauses from minute {first} to minute {last}",
         "no changes between {first} and {last}",
         "may not act from {first} through {last}"),
        ("must rest in minutes {first} to {last}",),
        ("asleep from {first} to {last}",
         "{first} up to {last} is another shift"),
    ),
    "off_limits": Wordings(
        ("never on {services}", "must not touch {services}", "all services but {services}",
         "{services} are not for it",
         "has no access to {services}",
         "excluded: {services}"),
        ("keeps away from {services}",),
        ("{services} belong to others",
         "out of its hands: {services}"),
    ),
    "order_only": Wordings(
        ("only with an order", "every act needs an order", "no act without an order",
         "acts on orders only",
         "needs an order for each act",
         "without an order it must not act"),
        ("waits for an order each time",),
        ("does nothing of its own accord",
         "moves when told and never before"),
    ),
    # Orders, as an audit shows them.
    "order": Wordings(
        ("{author} lets {agent} move {setting} on {service} up to {pct} until {until}",
         "{agent} may change {setting} of {service} by {pct}, valid to {until}, signed {author}",
         "for {agent}: {setting}, {service}, {pct} at most, until {until} ({author})",
         "{agent}: up to {pct} on {setting} of {service}, ends at {until}, by {author}",
         "by {author} for {agent}: change {setting} on {service} by {pct} at most until {until}",
         "{author}: {service}, {setting}, {agent}, at most {pct}, no later than {until}"),
        ("{author} to {agent}: {pct} on {setting} at {service}, ends {until}",),
        ("{author} agreed: {agent} takes {setting} of {service} {pct} further, done by {until}",
         "{author} wants {pct} of {setting} turned on {service} by {agent}, ready by {until}"),
    ),
}  # fmt: skip

WORDING_GROUPS = Wordings._fields


class Writer:
    """Writes sentences in one group of wordings. Each sentence draws its wording.

    Wordings for evaluation write numbers otherwise, and those of wide training in many ways.
    """

    def __init__(self, group: str, dice: Dice) -> None:
        self._group = group
        self._dice = dice

    def write(self, kind: str, **words: object) -> str:
        pattern = self._dice.pick(wordings_of(kind, self._group))
        return filled(pattern, self._dice).format(**words)

    def percent(self, pct: int) -> str:
        """
        >>> other = Writer("evaluation", Dice(0))
        >>> Writer("train", Dice(0)).percent(35), other.percent(35), other.percent(35)
        ('35%', '35 parts in a hundred', 'thirty-five percent')
        """
        return self._number(
            f"{pct}%",
            (f"{spelled(pct)} percent", f"{pct} parts in a hundred"),
            (f"{pct} %", f"{pct} pct", f"{spelled(pct)} pct", f"{spelled(pct)} in each hundred"),
        )

    def minute(self, minute: int) -> str:
        """
        >>> Writer("train", Dice(0)).minute(-4), Writer("evaluation", Dice(0)).minute(-4)
        ('-4', 'four before the alarm')
        """
        early = spelled(-minute)
        return self._number(
            str(minute),
            (f"{early} before the alarm" if minute else "the alarm",),
            (f"T{minute:+d}", f"minus {early}", f"{early} ahead of the incident"),
        )

    def duration(self, minutes: int) -> str:
        """
        >>> Writer("train", Dice(0)).duration(8), Writer("evaluation", Dice(0)).duration(8)
        ('8 minutes', 'eight minutes')
        """
        word = spelled(minutes)
        return self._number(
            f"{minutes} minutes", (f"{word} minutes",), (f"{minutes} min", f"{word} min")
        )

    def _number(self, plain: str, evaluation: Sequence[str], wide: Sequence[str]) -> str:
        """Wide training writes every second number as other companies do."""
        if self._group == "evaluation":
            return self._dice.pick(evaluation) if len(evaluation) > 1 else evaluation[0]
        return self._dice.pick((*[plain] * len(wide), *wide)) if self._group == "wide" else plain


def spelled(number: int) -> str:
    """A whole number below a thousand in words.

    >>> spelled(7), spelled(40), spelled(112)
    ('seven', 'forty', 'one hundred and twelve')
    """
    if number >= 100:
        rest = f" and {spelled(number % 100)}" if number % 100 else ""
        return f"{_SMALL[number // 100]} hundred{rest}"
    if number < 20:
        return _SMALL[number]
    rest = f"-{_SMALL[number % 10]}" if number % 10 else ""
    return _TENS[number // 10] + rest


_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
