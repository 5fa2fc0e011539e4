"""A company in a namespace of a Kubernetes cluster, as a platform."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from chaosops.core.errors import BadInput
from chaosops.core.printable import one_line
from chaosops.core.telemetry import LogLine, TraceEntry
from chaosops.live.control.serving import check_plan
from chaosops.live.kubernetes.api import CONFLICT, FORBIDDEN, NOT_FOUND, Api, ApiRefused
from chaosops.live.kubernetes.audit import Record, whole
from chaosops.live.kubernetes.objects import (
    ORDER,
    REPLICAS,
    SHOWN,
    Paths,
    account_user,
    authors,
    feed_event,
    manifests,
    settings_name,
)
from chaosops.live.kubernetes.remedies import TeamRemedies
from chaosops.live.plan import CompanyPlan, PlannedAct
from chaosops.live.platform import LiveSensors, LoggedChange, Observation
from chaosops.live.topology import SERVICES

_TOKEN_S = 7200
_QUARANTINE_S = 10.0
_END_S = 60.0
_POLL_S = 0.1
_LONGEST = 300  # characters of a text in the feed, or of a warning
_MOST_WARNINGS = 40


class AuditSource(Protocol):
    def events(self) -> Sequence[dict[str, Any]]:
        """The audit events of the API server so far, as objects."""
        ...


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class KubernetesPlatform:
    """Creates the company of a plan in a new namespace.

    The cluster does not know what callers saw: ``sensors`` do. ``audit`` gives the audit log; the
    policy that it needs is ``audit.POLICY``.
    """

    def __init__(
        self,
        plan: CompanyPlan,
        api: Api,
        audit: AuditSource,
        sensors: LiveSensors,
        namespace: str,
        image: str,
        now: Callable[[], str] = utc_now,
    ) -> None:
        check_plan(plan)
        self._plan = plan
        self._api = api
        self._audit = audit
        self._sensors = sensors
        self._paths = Paths(namespace)
        self._record = Record(plan, namespace)
        self._remedies = TeamRemedies(api, plan, self._paths, now)
        self._minute: int | None = None
        self._warned: dict[str, LogLine] = {}
        self._create(image)

    def begin(self, minute: int) -> None:
        """Moves the clock, and lets every author act with their own token."""
        if self._minute is not None and minute <= self._minute:
            raise BadInput(f"minute {minute} is over: it is minute {self._minute}")
        due = {act.at for act in self._plan.acts if act.at <= minute}
        for at in sorted(due | {minute}):
            if self._minute is None or at > self._minute:
                self._minute = at
                body = {"data": {"minute": str(at)}}
                self._api.call("PATCH", self._paths.clock(), body)
                for act in self._plan.acts:
                    if act.at == at:
                        self._act(act)

    def change(self, change: LoggedChange) -> bool:
        if change.at != self._minute:
            raise BadInput(f"a change of minute {change.at} in minute {self._minute}")
        if change.by not in authors(self._plan.fleet):
            raise BadInput(f"no agent {change.by[:40]!a}")
        return self._set(change.by, change.service, change.setting, change.after, change.order)

    def quarantine(self, agent: str) -> None:
        """Takes the agent's rights, and returns when the API server refuses it."""
        if agent not in self._plan.fleet:
            raise BadInput(f"no agent {agent[:40]!a}")
        try:
            self._api.call("DELETE", self._paths.binding(agent))
        except ApiRefused as refused:
            if refused.status != NOT_FOUND:
                raise
        end = time.monotonic() + _QUARANTINE_S
        while self._may_change(agent):
            if time.monotonic() > end:
                raise BadInput(f"{agent} has rights besides its RoleBinding: remove them")
            time.sleep(_POLL_S)

    def changes_of(self, service: str) -> tuple[LoggedChange, ...]:
        return tuple(change for change in self._changes() if change.service == service)

    def record_of(self, agent: str) -> tuple[LoggedChange, ...]:
        return tuple(change for change in self._changes() if change.by == agent)

    def remedy(self, verb: str, service: str, replicas: int = 0) -> None:
        if service and service not in {one.service for one in self._plan.settings}:
            raise BadInput(f"no service {service[:40]!a}")
        self._remedies.remedy(verb, service, replicas)

    def observe(self, minute: int) -> Observation:
        """What the sensors say, with the replicas, warnings and feed of the cluster."""
        seen = self._sensors.observe(minute)
        ready = {
            one["metadata"]["name"]: one.get("status", {}).get("readyReplicas", 0)
            for one in self._api.call("GET", self._paths.deployments)["items"]
        }
        readings = tuple(
            one._replace(replicas=ready.get(one.service, one.replicas)) for one in seen.readings
        )
        events = self._api.call("GET", self._paths.events)["items"]
        events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
        logs = (*seen.logs, *self._warnings(events, minute))
        return seen._replace(readings=readings, logs=logs, feed=read_feed(events))

    def close(self) -> None:
        """Returns when the namespace is gone."""
        path = f"/api/v1/namespaces/{self._paths.namespace}"
        end = time.monotonic() + _END_S
        try:
            self._api.call("DELETE", path)
            while True:
                self._api.call("GET", path)
                if time.monotonic() > end:
                    raise BadInput(f"namespace {self._paths.namespace} is still there: delete it")
                time.sleep(_POLL_S)
        except ApiRefused as refused:
            if refused.status != NOT_FOUND:
                raise
        finally:
            self._api.close()

    def _create(self, image: str) -> None:
        for manifest in manifests(self._plan, self._paths.namespace, image):
            try:
                self._api.call("POST", self._paths.of(manifest), manifest)
            except ApiRefused as refused:
                if refused.status == CONFLICT and manifest["kind"] == "Namespace":
                    raise BadInput(
                        f"namespace {self._paths.namespace} exists already; choose another"
                    ) from None
                raise
        for spec in SERVICES:
            self._remedies.settled(spec.name)  # so that there is a release to go back to
        for author in authors(self._plan.fleet):
            wanted = {"spec": {"expirationSeconds": _TOKEN_S}}
            answer = self._api.call("POST", self._paths.token(author), wanted)
            self._api.trust(author, answer["status"]["token"])

    def _act(self, act: PlannedAct) -> None:
        if act.real and not self._set(act.author, act.service, act.setting, act.after, act.order):
            return
        if act.shown:
            shown = {"minute": str(act.at), **act.entry()}
            event = feed_event(self._paths.namespace, act.service, act.agent, shown)
            self._allowed("POST", self._paths.events, event, act.author)

    def _set(self, by: str, service: str, setting: str, after: int, order: str) -> bool:
        body: dict[str, Any] = {"data": {setting: str(after)}}
        path = self._paths.settings(service)
        if setting == REPLICAS:
            body, path = {"spec": {REPLICAS: after}}, self._paths.scale(service)
        if order:
            body["metadata"] = {"annotations": {ORDER: order}}
        return self._allowed("PATCH", path, body, by)

    def _allowed(self, method: str, path: str, body: object, author: str) -> bool:
        try:
            self._api.call(method, path, body, author=author)
        except ApiRefused as refused:
            if refused.status != FORBIDDEN:
                raise
            return False
        return True

    def _may_change(self, agent: str) -> bool:
        space = self._paths.namespace
        asked = {
            "namespace": space,
            "verb": "patch",
            "resource": "configmaps",
            "name": settings_name(self._plan.settings[0].service),
        }
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{space}"]
        who = {"user": account_user(space, agent), "groups": [*groups, "system:authenticated"]}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        answer = self._api.call("POST", path, {"spec": {**who, "resourceAttributes": asked}})
        return bool(answer["status"]["allowed"])

    def _changes(self) -> list[LoggedChange]:
        changes = self._record.changes(self._audit.events())
        self._record.check(changes, self._present())
        return changes

    def _present(self) -> dict[tuple[str, str], int]:
        maps = {
            one["metadata"]["name"]: one.get("data") or {}
            for one in self._api.call("GET", self._paths.config_maps)["items"]
        }
        replicas = {
            one["metadata"]["name"]: one["spec"].get("replicas", 0)
            for one in self._api.call("GET", self._paths.deployments)["items"]
        }
        return {
            (one.service, one.setting): whole(
                replicas.get(one.service)
                if one.setting == REPLICAS
                else maps.get(settings_name(one.service), {}).get(one.setting),
                one.service,
                one.setting,
            )
            for one in self._plan.settings
        }

    def _warnings(self, events: Sequence[dict[str, Any]], minute: int) -> tuple[LogLine, ...]:
        """The latest, each in the minute in which it was first seen. Agents write them too."""
        services = sorted({one.service for one in self._plan.settings}, key=len, reverse=True)
        for event in events:
            name = event["involvedObject"].get("name", "")
            # A pod or a release has the name of its Deployment, and more.
            service = next((one for one in services if f"{name}-".startswith(f"{one}-")), None)
            if event.get("type") == "Warning" and service is not None:
                text = one_line(event.get("message", ""))[:_LONGEST]
                line = LogLine(minute, service, "WARN", text)
                self._warned.setdefault(event["metadata"]["uid"], line)
        return tuple(self._warned.values())[-_MOST_WARNINGS:]


def read_feed(events: Sequence[dict[str, Any]]) -> tuple[TraceEntry, ...]:
    """The events that say of themselves that they are acts, numbered."""
    found: list[TraceEntry] = []
    for event in events:
        said = _said(event["metadata"].get("annotations", {}).get(SHOWN, ""))
        if said is not None:
            found.append(said._replace(id=len(found) + 1))
    return tuple(found)


def _said(text: str) -> TraceEntry | None:
    """Anybody may write anything there. What cannot be read as an act is none."""
    try:
        said = json.loads(text)
        names = ("agent", "setting", "service", "before", "after", "reason")
        agent, setting, service, before, after, reason = texts = [str(said[name]) for name in names]
        entry = TraceEntry(int(said["minute"]), agent, setting, service, before, after, reason)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return entry if all(one.isprintable() and len(one) <= _LONGEST for one in texts) else None
