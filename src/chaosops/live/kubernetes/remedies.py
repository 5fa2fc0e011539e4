"""The verbs of the team, as calls to the API server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.faults import remedies
from chaosops.live.kubernetes.api import Api
from chaosops.live.kubernetes.objects import OWN, REPLICAS, RESTARTED, REVISION, Paths
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import TEAM

_HASH = "pod-template-hash"
_SETTLE_S = 10.0
_POLL_S = 0.1


class TeamRemedies:
    def __init__(self, api: Api, plan: CompanyPlan, paths: Paths, now: Callable[[], str]) -> None:
        self._api = api
        self._plan = plan
        self._paths = paths
        self._now = now

    def remedy(self, verb: str, service: str, replicas: int = 0) -> None:
        verbs = set(remedies().values())
        if verb not in verbs:
            raise BadInput(f"no remedy {verb[:40]!a}; there are: {', '.join(sorted(verbs))}")
        if verb == "scale":
            body = {"spec": {REPLICAS: replicas}}
            self._api.call("PATCH", self._paths.scale(service), body, author=TEAM)
            return
        if verb == "restart":
            self._restart(service)
        elif verb == "rollback":
            self._undo(service)
        self._restore(verb, service)

    def _restore(self, verb: str, service: str) -> None:
        """Escalating concerns every service."""
        verbs = remedies()
        usual: dict[str, dict[str, str]] = {}
        for one in self._plan.settings:
            if verbs.get(one.setting) == verb and (one.service == service or not service):
                usual.setdefault(one.service, {})[one.setting] = str(one.usual)
        for name, settings in usual.items():
            body = {"data": settings}
            self._api.call("PATCH", self._paths.settings(name), body, author=TEAM)

    def _restart(self, service: str) -> None:
        metadata = {"annotations": {RESTARTED: self._now()}}
        body = {"spec": {"template": {"metadata": metadata}}}
        self._api.call("PATCH", self._paths.deployment(service), body)

    def _undo(self, service: str) -> None:
        """As ``kubectl rollout undo``: the template of the release before the present one. Where
        there is none, the settings alone are put back."""
        deployment = self.settled(service)
        query = f"?labelSelector={OWN}/service={service}"
        releases = self._api.call("GET", self._paths.replica_sets + query)["items"]
        present = _revision(deployment)
        before = [one for one in releases if _revision(one) < present]
        if before:
            template = max(before, key=_revision)["spec"]["template"]
            template["metadata"]["labels"].pop(_HASH, None)
            patch = [{"op": "replace", "path": "/spec/template", "value": template}]
            self._api.call("PATCH", self._paths.deployment(service), patch)

    def settled(self, service: str) -> dict[str, Any]:
        """The Deployment, once the cluster has made a release of what it says."""
        end = time.monotonic() + _SETTLE_S
        while True:
            deployment = self._api.call("GET", self._paths.deployment(service))
            seen = deployment.get("status", {}).get("observedGeneration", 0)
            if seen >= deployment["metadata"]["generation"]:
                return deployment
            if time.monotonic() > end:
                raise BadInput(
                    f"the cluster makes no releases of {service}: does it have a "
                    "controller manager?"
                )
            time.sleep(_POLL_S)


def _revision(release: dict[str, Any]) -> int:
    return int(release["metadata"].get("annotations", {}).get(REVISION, 0))
