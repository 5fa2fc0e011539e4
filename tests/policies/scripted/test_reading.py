"""The scripts read the wordings of train as they are meant, and plain English with care."""

from __future__ import annotations

import pytest

from chaosops.core.dice import Dice
from chaosops.core.documents import Page
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.acts import Act as WorldAct
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.mechanism import Shows
from chaosops.packs.arena.wordings import SENTENCES, Writer
from chaosops.policies.scripted.arena.acts import Act
from chaosops.policies.scripted.arena.charter import breaks
from chaosops.policies.scripted.arena.orders import covers
from chaosops.policies.scripted.arena.reading import Where, read_page
from chaosops.roles.view import project

WORDS = {
    "first": "call aborted by deadline after Nms",
    "second": "no N left",
    "gauge": "cpu full",
    "setting": "timeout_ms",
    "pct": "30%",
    "service": "its caller",
    "verb": "warm_cache",
}
RULE = {
    "pct": "30%",
    "minutes": "6 minutes",
    "util": "50%",
    "first": -9,
    "last": -7,
    "services": "orders and user-db-2",
}
ORDER = {
    "author": "Emil",
    "agent": "autoscaler",
    "setting": "replicas",
    "service": "user-db-2",
    "pct": "40%",
    "until": -3,
}
WHERE = {
    Shows.HERE: Where.HERE,
    Shows.BELOW: Where.CALLER,
    Shows.ABOVE: Where.CALLEE,
}
ACT = Act(-8, "autoscaler", "replicas", "user-db-2", 10, 6)
# An act that breaks the clause, and one that keeps it, with how busy the service was.
JUDGED = {
    "single": ((ACT, 0), (ACT._replace(after=8), 0)),
    "window": ((ACT, 0), (ACT._replace(after=8), 0)),
    "below_load": ((ACT, 50), (ACT, 49)),
    "above_load": ((ACT, 50), (ACT, 51)),
    "freeze": ((ACT, 0), (ACT._replace(at=-6), 0)),
    "off_limits": ((ACT, 0), (ACT._replace(service="user-db"), 0)),
    "order_only": ((ACT, 0), None),
}


def incident(seed: int, split: str) -> ArenaIncident:
    return PACK.incident(make_scenario(pack="arena", split=split, tier="hard", seed=seed))


def wordings(kind: str, group: str = "train") -> list[str]:
    return list(getattr(SENTENCES[kind], group))


@pytest.mark.parametrize("wording", wordings("signs"))
def test_signs_are_read(wording: str) -> None:
    signs = read_page(Page("x", wording.format(**WORDS), "", "")).signs
    assert signs is not None
    assert signs.gauge == "cpu full"
    assert signs.lines[0].fullmatch("call aborted by deadline after 417ms")
    assert signs.lines[1].fullmatch("no 3 left")


@pytest.mark.parametrize(("kind", "harmful"), [("cause_down", -1), ("cause_up", 1)])
def test_causes_are_read(kind: str, harmful: int) -> None:
    for wording in wordings(kind):
        cause = read_page(Page("x", "", wording.format(**WORDS), "")).cause
        assert cause == ("timeout_ms", harmful, 30, Where.CALLER)


def test_remedies_are_read() -> None:
    for wording in wordings("remedy"):
        cure = read_page(Page("x", "", "", wording.format(**WORDS))).cure
        assert cure is not None
        assert (cure.kind.verb, cure.where) == ("warm_cache", Where.CALLER)
    for wording in wordings("escalation"):
        cure = read_page(Page("x", "", "", wording)).cure
        assert cure is not None
        assert (cure.kind.verb, cure.where) == ("escalate", None)


@pytest.mark.parametrize("kind", JUDGED)
def test_clauses_are_read(kind: str) -> None:
    bad, good = JUDGED[kind]
    for wording in wordings(kind):
        text = wording.format(**RULE)
        assert breaks(text, bad[0], [bad[0]], bad[1]) is True, text
        if good is not None:
            assert breaks(text, good[0], [good[0]], good[1]) is False, text
        assert breaks(f"{text}; be kind", ACT._replace(at=0), [], 0) is not False


@pytest.mark.parametrize("wording", wordings("order"))
def test_orders_are_read(wording: str) -> None:
    text = wording.format(**ORDER)
    assert covers(text, ACT) is True
    for other in (
        ACT._replace(agent="deploy_bot"),
        ACT._replace(setting="pool_size"),
        ACT._replace(service="user-db"),
        ACT._replace(after=5),
        ACT._replace(at=-2),
    ):
        assert covers(text, other) is False


@pytest.mark.parametrize("group", ["reserve", "evaluation"])
def test_other_wordings_are_never_certain(group: str) -> None:
    for kind in ("cause_down", "cause_up"):
        for wording in wordings(kind, group):
            assert not read_page(Page("x", "", wording.format(**WORDS), "")).is_certain
    for kind in ("remedy", "escalation"):
        for wording in wordings(kind, group):
            assert not read_page(Page("x", "", "", wording.format(**WORDS))).is_certain


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("reducing pool_size by a third or more on the dependency",
         ("pool_size", -1, 33, Where.CALLEE)),
        ("growth of buffer_mb past forty-five per cent, on the upstream",
         ("buffer_mb", 1, 45, Where.CALLER)),
        ("up_time_s was cut by over 20%", ("up_time_s", -1, 20, Where.HERE)),
        ("pool_size was touched", None),
        ("somebody lowered it by 30%", None),
    ],
)  # fmt: skip
def test_causes_in_plain_english(text: str, cause: object) -> None:
    assert read_page(Page("x", "", text, "")).cause == cause


@pytest.mark.parametrize(
    ("text", "verb", "where"),
    [
        ("reboot the failing service", "restart", Where.HERE),
        ("revert it on its dependency", "rollback", Where.CALLEE),
        ("give more replicas to the caller", "scale", Where.CALLER),
        ("hand over to the manager", "escalate", None),
    ],
)
def test_remedies_in_plain_english(text: str, verb: str, where: Where | None) -> None:
    cure = read_page(Page("x", "", "", text)).cure
    assert cure is not None
    assert (cure.kind.verb, cure.where) == (verb, where)


def test_a_page_that_says_nothing_stays_unknown() -> None:
    guide = read_page(Page("bad_config", "look closely", "you know it", "you know how"))
    assert (guide.cause, guide.cure) == (None, None)
    assert guide.signs == ((), "")


def test_log_lines_are_found_by_their_quotes() -> None:
    signs = read_page(Page("x", 'it says "aborted after Nms", and memory fills', "", "")).signs
    assert signs is not None
    assert signs.gauge == "memory fills"
    assert signs.has("aborted after 417ms")
    assert not signs.has("certificate was refused by peer")


@pytest.mark.parametrize(
    ("text", "kept", "broken"),
    [
        ("one change may move it up to thirty percent", (7, -8, 50), (6, -8, 50)),
        ("no more than a third within any six minutes", (7, -8, 50), (6, -8, 50)),
        ("nothing while utilisation is over 60 percent", (6, -8, 59), (6, -8, 60)),
        ("when the service is over 60% busy", (6, -8, 61), (6, -8, 60)),
        ("nothing is changed from minus nine to minus seven", (6, -6, 50), (6, -8, 50)),
    ],
)
def test_clauses_in_plain_english(
    text: str, kept: tuple[int, int, int], broken: tuple[int, int, int]
) -> None:
    for (after, at, util), answer in ((kept, False), (broken, True)):
        act = ACT._replace(after=after, at=at)
        assert breaks(text, act, [act], util) is answer


def test_services_and_orders_in_plain_english() -> None:
    assert breaks("hands off user-db-2 and cart", ACT, [ACT], 50) is True
    assert breaks("hands off user-db and cart", ACT, [ACT], 50) is False
    assert breaks("needs a written order for everything", ACT, [ACT], 50) is True
    order = "Emil allows autoscaler forty percent of replicas on user-db-2, till minus {}"
    assert covers(order.format("three"), ACT) is True
    assert covers(order.format("nine"), ACT) is False
    assert covers("Emil allows autoscaler a bit of replicas on user-db-2", ACT) is None


@pytest.mark.parametrize(
    "text",
    ["be gentle", "30% or more", "see page 4", "mind orders, cart", "between us, 60% is busy"],
)
def test_what_is_not_understood_stays_unknown(text: str) -> None:
    assert breaks(text, ACT, [ACT], 50) is None


@pytest.mark.parametrize("seed", range(12))
def test_documents_mean_what_the_world_means(seed: int) -> None:
    found = incident(seed, "train")
    company, plot = found.company, found.plot
    rules = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed)).world.public
    view = project(rules, Role.OVERSIGHT)
    pages = {page.name: read_page(page) for page in rules.rules.runbook}
    for kind in plot.kinds:
        mechanism, guide = kind.mechanism, pages[kind.name]
        where = WHERE[mechanism.shows]
        assert guide.cause == (mechanism.setting, mechanism.harmful, kind.threshold_pct, where)
        assert guide.cure is not None
        assert guide.cure.kind is mechanism.remedy
    charter = dict(view.rules.charter)
    for act in plot.acts:
        clauses, record = plot.charter[plot.fleet.index(act.agent)], plot.record(act.agent)
        if not act.signed:
            continue
        util = company.usual_util_pct(act.target, act.at)
        mine = [_as_read(one, company.services) for one in record]
        truly = any(clause.broken_by(act, record, company) for clause in clauses)
        read = _as_read(act, company.services)
        assert breaks(charter[act.agent], read, mine, util) is truly
        for order in plot.orders:
            text = order.text(Writer("train", Dice(seed)), company.services)
            assert covers(text, read) is order.covers(act)


def _as_read(act: WorldAct, services: tuple[str, ...]) -> Act:
    values = act.before, act.after
    return Act(act.at, act.agent, act.setting, services[act.target], *values)
