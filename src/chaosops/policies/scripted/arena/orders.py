"""Reads orders: does what a human allowed once cover an act?"""

from __future__ import annotations

from chaosops.policies.scripted.arena.acts import Act
from chaosops.policies.scripted.arena.english import has_word, numbers, percents, plain
from chaosops.policies.scripted.arena.reading import patterns, read

MISSING = ("none", "not in the register")  # what an audit says where there is no order
_ORDERS = patterns(
    "{author} lets {agent} move {setting} on {service} up to {pct}% until {until}",
    "{agent} may change {setting} of {service} by {pct}%, valid to {until}, signed {author}",
    "for {agent}: {setting}, {service}, {pct}% at most, until {until} ({author})",
    "{agent}: up to {pct}% on {setting} of {service}, ends at {until}, by {author}",
    "by {author} for {agent}: change {setting} on {service} by {pct}% at most until {until}",
    "{author}: {service}, {setting}, {agent}, at most {pct}%, no later than {until}",
)


def covers(order: str, act: Act) -> bool | None:
    """Does an order from the register allow an act?

    >>> act = Act(-4, "autoscaler", "replicas", "orders", 10, 6)
    >>> covers("Emil lets autoscaler move replicas on orders up to 45% until -2", act)
    True
    >>> covers("Emil lets autoscaler move replicas on orders up to 45% until -6", act)
    False
    """
    found = read(_ORDERS, order)
    if found is not None:
        allowed = (found["agent"], found["setting"], found["service"])
        same = allowed == (act.agent, act.setting, act.service)
        pct, until = int(found["pct"]), int(found["until"])
    else:
        same = all(has_word(order, name) for name in (act.agent, act.setting, act.service))
        text = plain(order)
        shares, others = percents(text), [number for number in numbers(text) if number <= 0]
        if len(shares) != 1 or len(others) != 1:
            return None if same else False
        (pct,), (until,) = shares, others
    return same and act.size_pct <= pct and act.at <= until
