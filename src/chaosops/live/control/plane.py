"""The state of the control plane: who may ask for what, what settings are, what was recorded.

It knows requests as bytes with a MAC, so that a test can attack it without a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from chaosops.core.chain import read_json
from chaosops.core.errors import ChaosOpsError
from chaosops.core.telemetry import TraceEntry
from chaosops.live.control.keys import KEY_BYTES, is_mac
from chaosops.live.control.log import CHANGE, QUARANTINE, Log
from chaosops.live.machinery import Machinery
from chaosops.live.plan import SettingPlan
from chaosops.live.platform import HUMAN, INFRASTRUCTURE, TEAM, LoggedChange, Observation

OPERATOR = "operator"
"""The process that plays the incident. It acts for the team, and for whoever is no agent."""
ACTS_FOR = (TEAM, HUMAN, INFRASTRUCTURE)
_MOST_FEED = 10_000
_LONGEST = 300  # characters of a text in the feed
_LARGEST = 2**53


class Refused(ChaosOpsError):
    """A request that was not carried out. ``status`` is that of HTTP."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Plane:
    def __init__(
        self,
        settings: Iterable[SettingPlan],
        fleet: tuple[str, ...],
        machinery: Machinery,
        log: Log,
    ) -> None:
        self.log = log
        self.fleet = fleet
        self.minute: int | None = None
        self.quarantined: set[str] = set()
        self.refusals: dict[str, int] = {}
        """How often an agent in quarantine went on."""
        self._machinery = machinery
        self._values = {(one.service, one.setting): one.usual for one in settings}
        self._services = {one.service for one in settings}
        self._keys: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}
        self._feed: list[TraceEntry] = []
        # What is carried out and what is recorded are one thing, in one order.
        self._changing = asyncio.Lock()

    def register(self, name: str, key: bytes) -> None:
        """Once for each: a second key would be a second author under the same name."""
        if name in self._keys or (name != OPERATOR and name not in self.fleet):
            raise Refused(409, f"{name} has a key already, or is not of this company")
        self._keys[name] = key
        self._counts[name] = 0

    def claim(self, body: bytes) -> str:
        """Whoever starts a company claims it with a key of its own. A second claim is refused, so
        an operator that came too late knows it. Returns the public key of the log."""
        said = _read_object(body)
        try:
            key = bytes.fromhex(_text(said, "key"))
        except ValueError:
            key = b""
        if len(key) != KEY_BYTES:
            raise Refused(400, f"a key has {KEY_BYTES} bytes")
        self.register(OPERATOR, key)
        return self.log.public_key

    def author(self, path: str, body: bytes, claimed_mac: str) -> tuple[str, dict[str, Any]]:
        """Who sent a request, and what it says. Each request of an author has the next number, so
        one that is repeated, late or held back is refused."""
        request = _read_object(body)
        author = _text(request, "author")
        if author not in self._keys or not is_mac(self._keys[author], path, body, claimed_mac):
            raise Refused(401, "the request is not authenticated by the key of its author")
        expected = self._counts[author] + 1
        if request.get("count") != expected:
            raise Refused(409, f"request {request.get('count')!a} of {author} is not {expected}")
        self._counts[author] = expected
        return author, request

    async def change(self, author: str, request: dict[str, Any]) -> LoggedChange:
        by = _text(request, "by")
        if by != author and not (author == OPERATOR and by in ACTS_FOR):
            raise Refused(403, f"{author} cannot act as {by}")
        service, setting = _text(request, "service"), _text(request, "setting")
        after, order = _whole(request, "after"), _text(request, "order")
        async with self._changing:
            if author in self.quarantined:
                self.refusals[author] = self.refusals.get(author, 0) + 1
                raise Refused(403, f"{author} is in quarantine")
            if (service, setting) not in self._values:
                raise Refused(404, f"no setting {setting[:40]!a} on service {service[:40]!a}")
            change = self._as_of_now(by, service, setting, after, order)
            await self._machinery.set(service, setting, after)
            self._record(change, request.get("count", 0))
        return change

    async def remedy(self, author: str, request: dict[str, Any]) -> None:
        """What the remedy put back is recorded as changes by the team."""
        self._only_operator(author)
        verb, service = _text(request, "verb"), _text(request, "service")
        replicas = _whole(request, "replicas")
        if service and service not in self._services:
            raise Refused(404, f"no service {service[:40]!a}")
        async with self._changing:
            restored = await self._machinery.remedy(verb, service, replicas)
            for one in restored:
                if (one.service, one.setting) in self._values:
                    change = self._as_of_now(TEAM, one.service, one.setting, one.value, "")
                    self._record(change, request["count"])

    async def quarantine(self, author: str, request: dict[str, Any]) -> None:
        """A change that is under way ends first; all later ones are refused."""
        self._only_operator(author)
        agent = _text(request, "agent")
        if agent not in self.fleet:
            raise Refused(404, f"no agent {agent[:40]!a}")
        async with self._changing:
            if agent not in self.quarantined:
                self.quarantined.add(agent)
                held = LoggedChange(self._now(), TEAM, agent, "", 0, 1)
                self.log.append(QUARANTINE, held, request["count"])

    def write_feed(self, body: bytes) -> None:
        """Anybody may write anything here, under any name. It gets a number and nothing else."""
        said = _read_object(body)
        if len(self._feed) >= _MOST_FEED:
            raise Refused(429, "the feed is full")
        names = ("agent", "setting", "service", "before", "after", "reason")
        agent, setting, service, before, after, reason = (_text(said, name) for name in names)
        number = len(self._feed) + 1
        entry = TraceEntry(self._now(), agent, setting, service, before, after, reason, number)
        self._feed.append(entry)

    async def observe(self) -> Observation:
        seen = await self._machinery.observe(self._now())
        return seen._replace(feed=tuple(self._feed))

    def begin(self, minute: int) -> None:
        if self.minute is not None and minute <= self.minute:
            raise Refused(409, f"minute {minute} is over: it is minute {self.minute}")
        self.minute = minute

    def _only_operator(self, author: str) -> None:
        if author != OPERATOR:
            raise Refused(403, f"{author} may change settings and nothing else")

    def _now(self) -> int:
        if self.minute is None:
            raise Refused(409, "no minute has begun")
        return self.minute

    def _as_of_now(
        self, by: str, service: str, setting: str, after: int, order: str
    ) -> LoggedChange:
        """With the time and the value before as the control plane knows them."""
        before = self._values[service, setting]
        return LoggedChange(self._now(), by, service, setting, before, after, order)

    def _record(self, change: LoggedChange, count: int) -> None:
        self._values[change.service, change.setting] = change.after
        self.log.append(CHANGE, change, count)


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        content = read_json(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Refused(400, "a request is a JSON object")
    return content


def _text(request: dict[str, Any], name: str) -> str:
    value = request.get(name)
    # Printable: a line break in the feed would be a line of an agent's own in a prompt.
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        raise Refused(400, f"{name} must be a printable text of at most {_LONGEST} characters")
    return value


def _whole(request: dict[str, Any], name: str) -> int:
    value = request.get(name)
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise Refused(400, f"{name} must be a whole number")
    return value
