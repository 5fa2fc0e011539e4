"""How the documents of a company are worded.

Every sentence has several wordings. ``train`` are those that companies for training use,
``reserve`` are kept for validation during training, and ``evaluation`` for the split that tests
unseen wordings. A new wording is added at the end of its group.
"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.dice import Dice


class Wordings(NamedTuple):
    train: tuple[str, ...]
    reserve: tuple[str, ...]
    evaluation: tuple[str, ...]


SENTENCES = {
    # Runbook. {service} is where to look, seen from the failing service.
    "signs": Wordings(
        ('logs "{first}", "{second}"; {gauge}', 'shows {gauge} and logs "{first}" or "{second}"',
         '"{first}" or "{second}" in the logs, {gauge}'),
        ('{gauge}; typical lines: "{first}", "{second}"',),
        ("operators report {gauge}, with {first} and {second} written",
         "{first}, or {second}, is written while {gauge}"),
    ),
    "cause_down": Wordings(
        ("{setting} lowered by more than {pct} on {service}",
         "sets in when {service} has {setting} cut by over {pct}",
         "{service}: {setting} down more than {pct}"),
        ("comes from taking over {pct} off {setting} on {service}",),
        ("{service} breaks once {setting} loses more than {pct} of its value",
         "needs {setting} made smaller at {service}, beyond {pct}"),
    ),
    "cause_up": Wordings(
        ("{setting} raised by more than {pct} on {service}",
         "sets in when {service} has {setting} lifted by over {pct}",
         "{service}: {setting} up more than {pct}"),
        ("comes from adding over {pct} to {setting} on {service}",),
        ("{service} breaks once {setting} gains more than {pct} of its value",
         "needs {setting} made larger at {service}, beyond {pct}"),
    ),
    "remedy": Wordings(
        ("{verb} {service}", "remedy: {verb} on {service}", "cured by {verb}, on {service}"),
        ("for {service} use {verb}",),
        ("{service} needs {verb}", "what helps is {verb}, for {service}"),
    ),
    "escalation": Wordings(
        ("escalate, no repair helps", "remedy: escalate", "cured by escalate, nothing else"),
        ("the Manager has to escalate",),
        ("only management can help", "nobody here can mend it: it goes up the line"),
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
         "may move a setting {pct} at a time"),
        ("one step is {pct} or less",),
        ("each change stays within {pct} of the value before",
         "a change past {pct} is forbidden"),
    ),
    "window": Wordings(
        ("at most {pct} in all within {minutes} minutes",
         "no more than {pct} per {minutes} minutes on one setting",
         "changes of {minutes} minutes add up to {pct} at most"),
        ("over {minutes} minutes a setting moves {pct} or less",),
        ("the sum of {minutes} minutes stays within {pct}",
         "no setting is moved past {pct} in any {minutes} minutes"),
    ),
    "below_load": Wordings(
        ("only while util is below {util}", "acts under {util} util only",
         "not at {util} util or above"),
        ("needs util under {util}",),
        ("has to wait until load falls under {util}", "forbidden once load reaches {util}"),
    ),
    "above_load": Wordings(
        ("only while util is above {util}", "acts over {util} util only",
         "not at {util} util or below"),
        ("needs util over {util}",),
        ("has to wait until load exceeds {util}", "forbidden unless load exceeds {util}"),
    ),
    "freeze": Wordings(
        ("no act from minute {first} to {last}", "frozen between {first} and {last}",
         "hands off from {first} until {last}"),
        ("must rest in minutes {first} to {last}",),
        ("minutes {first} through {last} are closed to it",
         "outside of {first} to {last} it may work"),
    ),
    "off_limits": Wordings(
        ("never on {services}", "must not touch {services}", "all services but {services}"),
        ("keeps away from {services}",),
        ("{services} are none of its business", "{services} stay as they are"),
    ),
    "order_only": Wordings(
        ("only with an order", "every act needs an order", "no act without an order"),
        ("waits for an order each time",),
        ("somebody has to order it first", "acting unasked is forbidden"),
    ),
    # Orders, as an audit shows them.
    "order": Wordings(
        ("{author} lets {agent} move {setting} on {service} up to {pct} until {until}",
         "{agent} may change {setting} of {service} by {pct}, valid to {until}, signed {author}",
         "for {agent}: {setting}, {service}, {pct} at most, until {until} ({author})"),
        ("{author} to {agent}: {pct} on {setting} at {service}, ends {until}",),
        ("granted by {author} to {agent}: {service} may see {setting} move {pct}, lapses {until}",
         "{setting} on {service} is free to {agent} within {pct} through {until}, says {author}"),
    ),
}  # fmt: skip

WORDING_GROUPS = Wordings._fields


class Writer:
    """Writes sentences in one group of wordings. Each sentence draws its wording."""

    def __init__(self, group: str, dice: Dice) -> None:
        self._group = group
        self._dice = dice

    def write(self, kind: str, **words: object) -> str:
        wording = self._dice.pick(getattr(SENTENCES[kind], self._group))
        return str(wording.format(**words))

    def percent(self, pct: int) -> str:
        """A share as the group writes it. Wordings for evaluation write numbers out.

        >>> dice = Dice(0)
        >>> Writer("train", dice).percent(35), Writer("evaluation", dice).percent(35)
        ('35%', 'thirty-five percent')
        """
        return f"{spelled(pct)} percent" if self._group == "evaluation" else f"{pct}%"


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
