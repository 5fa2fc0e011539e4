"""The objects of a company in its namespace, and where they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import HUMAN, INFRASTRUCTURE, TEAM
from chaosops.live.topology import SERVICES

OWN = "chaosops.live"  # the prefix of labels and annotations
ORDER, MINUTE, SHOWN = f"{OWN}/order", f"{OWN}/minute", f"{OWN}/shown"
REPLICAS = "replicas"
CLOCK = "clock"
CHANGERS = "changers"
REVISION = "deployment.kubernetes.io/revision"
RESTARTED = "kubectl.kubernetes.io/restartedAt"


class Paths:
    """The paths of a namespace in the API."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._core = f"/api/v1/namespaces/{namespace}"
        self._apps = f"/apis/apps/v1/namespaces/{namespace}"
        self._rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        self.events = f"{self._core}/events"
        self.deployments = f"{self._apps}/deployments"
        self.replica_sets = f"{self._apps}/replicasets"
        self.config_maps = f"{self._core}/configmaps"

    def settings(self, service: str) -> str:
        return f"{self.config_maps}/{settings_name(service)}"

    def clock(self) -> str:
        return f"{self.config_maps}/{CLOCK}"

    def deployment(self, service: str) -> str:
        return f"{self.deployments}/{service}"

    def scale(self, service: str) -> str:
        return f"{self.deployment(service)}/scale"

    def token(self, author: str) -> str:
        return f"{self._core}/serviceaccounts/{account_name(author)}/token"

    def binding(self, author: str) -> str:
        return f"{self._rbac}/rolebindings/{account_name(author)}"

    def of(self, manifest: dict[str, Any]) -> str:
        """Where an object of this kind is created."""
        return {
            "Namespace": "/api/v1/namespaces",
            "ServiceAccount": f"{self._core}/serviceaccounts",
            "ConfigMap": self.config_maps,
            "Deployment": self.deployments,
            "Role": f"{self._rbac}/roles",
            "RoleBinding": f"{self._rbac}/rolebindings",
        }[manifest["kind"]]


def settings_name(service: str) -> str:
    return f"{service}-settings"


def account_name(author: str) -> str:
    """Names in Kubernetes have no underscores.

    >>> account_name("deploy_bot")
    'deploy-bot'
    """
    return author.replace("_", "-")


def account_user(namespace: str, author: str) -> str:
    """The name under which the API server knows an author."""
    return f"system:serviceaccount:{namespace}:{account_name(author)}"


def authors(fleet: Sequence[str]) -> tuple[str, ...]:
    """Everybody who can change a setting has an account of their own."""
    return (*fleet, TEAM, HUMAN, INFRASTRUCTURE)


def manifests(plan: CompanyPlan, namespace: str, image: str) -> Iterator[dict[str, Any]]:
    """What a company consists of, in the order of creation."""
    labels = {f"{OWN}/company": str(plan.seed)}
    yield _object("v1", "Namespace", namespace, labels=labels)
    yield _object("rbac.authorization.k8s.io/v1", "Role", CHANGERS, rules=_rules(plan))
    for author in authors(plan.fleet):
        name = account_name(author)
        yield _object("v1", "ServiceAccount", name)
        yield _binding(name, namespace)
    yield _object("v1", "ConfigMap", CLOCK, data={})
    for service, settings in _settings(plan).items():
        yield _object("v1", "ConfigMap", settings_name(service), data=settings)
    replicas = {one.service: one.usual for one in plan.settings if one.setting == REPLICAS}
    for spec in SERVICES:
        yield _deployment(spec.name, replicas.get(spec.name, spec.replicas), image)


def _settings(plan: CompanyPlan) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {spec.name: {} for spec in SERVICES}
    for one in plan.settings:
        if one.setting != REPLICAS:  # the Deployment has these
            found[one.service][one.setting] = str(one.usual)
    return found


def _rules(plan: CompanyPlan) -> list[dict[str, Any]]:
    """To change settings and replicas, and to say anything in the events of the namespace. The
    clock is not among them, nor are accounts and bindings."""
    names = [settings_name(service) for service in _settings(plan)]
    return [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": names,
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": ["apps"],
            "resources": ["deployments/scale"],
            "verbs": ["get", "patch"],
        },
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
    ]


def _binding(name: str, namespace: str) -> dict[str, Any]:
    return _object(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        name,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": CHANGERS},
        subjects=[{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    )


def _deployment(service: str, replicas: int, image: str) -> dict[str, Any]:
    labels = {f"{OWN}/service": service}
    container = {
        "name": service,
        "image": image,
        "envFrom": [{"configMapRef": {"name": settings_name(service)}}],
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return _object("apps/v1", "Deployment", service, spec=spec)


def feed_event(namespace: str, service: str, agent: str, shown: dict[str, str]) -> dict[str, Any]:
    """An entry of the feed. Who is named as its source is for its writer to say."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "act-", "annotations": {SHOWN: json.dumps(shown)}},
        "involvedObject": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": service,
            "namespace": namespace,
        },
        "type": "Normal",
        "reason": "SettingChanged",
        "message": f"{shown['setting']} {shown['before']} -> {shown['after']}: {shown['reason']}",
        "source": {"component": agent},
    }


def _object(
    version: str, kind: str, name: str, labels: dict[str, str] | None = None, **content: Any
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}
