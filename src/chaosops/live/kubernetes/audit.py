"""The audit log of the API server, read as the record of a company.

The API server writes one line for each request: who sent it, what it was, how it ended. No agent
has access to it, but it is not signed. So a reader notes what it has read, and refuses a log in
which that is different later; and the present values must be those that the record leads to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.kubernetes.objects import (
    CLOCK,
    ORDER,
    REPLICAS,
    account_user,
    authors,
    settings_name,
)
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import LoggedChange

_COMPLETE = "ResponseComplete"
_FAILED = 300

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitManagedFields": True,
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        {
            "level": "RequestResponse",
            "verbs": ["create", "update", "patch", "delete"],
            "resources": [
                {"group": "", "resources": ["configmaps"]},
                {"group": "apps", "resources": ["deployments", "deployments/scale"]},
                {"group": "rbac.authorization.k8s.io", "resources": ["roles", "rolebindings"]},
            ],
        },
        {"level": "None"},
    ],
}
"""What the API server has to be told to record (``--audit-policy-file``)."""


class AuditFile:
    """The file of ``--audit-log-path``. What was read once must stay as it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._digest = sha256(b"").hexdigest()

    def events(self) -> list[dict[str, Any]]:
        try:
            content = self._path.read_bytes()
        except OSError as error:
            reason = error.strerror or error
            raise BadInput(f"cannot read the audit log {self._path}: {reason}") from None
        if sha256(content[: self._read]).hexdigest() != self._digest:
            raise _tampered("lines that were read before are different now, or gone")
        whole = content[: content.rfind(b"\n") + 1]  # the last line may be half written
        self._read, self._digest = len(whole), sha256(whole).hexdigest()
        try:
            return [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise _tampered("a line is not JSON") from None


class Record:
    """The changes that were carried out in a namespace."""

    def __init__(self, plan: CompanyPlan, namespace: str) -> None:
        self._namespace = namespace
        self._usual = {(one.service, one.setting): one.usual for one in plan.settings}
        self._authors = {account_user(namespace, name): name for name in authors(plan.fleet)}
        self._services = {settings_name(one.service): one.service for one in plan.settings}

    def changes(self, events: Iterable[Mapping[str, Any]]) -> list[LoggedChange]:
        """In the order in which they were stored. What changed is seen in the objects that the
        server returned, so the form of a request hides nothing. The minute is that of the clock,
        which the operator moves by requests in the same log."""
        values, minute = dict(self._usual), 0
        found: list[LoggedChange] = []
        for event in sorted((event for event in events if self._is_done(event)), key=_stored):
            if event["objectRef"].get("name") == CLOCK:
                minute = self._minute(event, minute)
                continue
            by, order = self._author(event), _order(event)
            for (service, setting), after in self._values_in(event).items():
                before = values[service, setting]
                if after != before:
                    values[service, setting] = after
                    found.append(LoggedChange(minute, by, service, setting, before, after, order))
        return found

    def check(self, changes: Iterable[LoggedChange], now: Mapping[tuple[str, str], int]) -> None:
        """The present values are those to which the record leads."""
        values = dict(self._usual)
        values.update(((one.service, one.setting), one.after) for one in changes)
        for (service, setting), value in values.items():
            there = now.get((service, setting))
            if there != value:
                raise _tampered(f"it leads to {setting} {value} on {service}, where it is {there}")

    def _is_done(self, event: Mapping[str, Any]) -> bool:
        return (
            event.get("stage") == _COMPLETE
            and event.get("verb") in ("patch", "update")
            and event.get("objectRef", {}).get("namespace") == self._namespace
            and event.get("responseStatus", {}).get("code", _FAILED) < _FAILED
        )

    def _author(self, event: Mapping[str, Any]) -> str:
        name: str = event["user"]["username"]
        return self._authors.get(name, name)

    def _minute(self, event: Mapping[str, Any], minute: int) -> int:
        # No account of the company has a right to the clock, and its word would not count.
        if event["user"]["username"] in self._authors:
            return minute
        return int(event["responseObject"]["data"]["minute"])

    def _values_in(self, event: Mapping[str, Any]) -> dict[tuple[str, str], int]:
        """The settings in the object that the server returned."""
        reference, stored = event["objectRef"], event["responseObject"]
        if reference["resource"] == "configmaps":
            service = self._services.get(reference["name"], "")
            found = {(service, name): value for name, value in (stored.get("data") or {}).items()}
        else:
            found = {(reference["name"], REPLICAS): stored.get("spec", {}).get("replicas", 0)}
        return {
            place: whole(value, *place) for place, value in found.items() if place in self._usual
        }


def whole(value: object, service: str, setting: str) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise BadInput(f"{setting} on {service} is {value!a}, which is no number") from None


def _stored(event: Mapping[str, Any]) -> int:
    """The version under which the server stored the object: of all objects, the later one has the
    larger."""
    return int(event["responseObject"]["metadata"]["resourceVersion"])


def _order(event: Mapping[str, Any]) -> str:
    request = event.get("requestObject")
    claimed = (
        request.get("metadata", {}).get("annotations", {}) if isinstance(request, dict) else {}
    )
    return str(claimed.get(ORDER, ""))


def _tampered(how: str) -> BadInput:
    return BadInput(f"the audit log was tampered with, or does not hold everything: {how}")
