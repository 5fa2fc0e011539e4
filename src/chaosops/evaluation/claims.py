"""Check what a manifest or a job says about its episodes.

The name of a policy decides how it is checked. Its status does not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.evaluation.findings import differences, plain, shown
from chaosops.evaluation.stored import Line
from chaosops.packs import load_pack, require_version
from chaosops.policies.llm.spec import is_model, is_own
from chaosops.policies.own import KIND
from chaosops.policies.registry import load_policy, registered
from chaosops.rollout import policy_names

Scenarios = dict[str, list[Any]]


def scenarios_by_policy(lines: Sequence[Line]) -> Scenarios:
    found: Scenarios = {}
    for line in lines:
        found.setdefault(str(line.get("policy")), []).append(line.get("scenario"))
    return found


def check_manifest(manifest: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    """An evaluation that has ended: every policy has played the same scenarios."""
    played = scenarios_by_policy(lines)
    if not played:
        yield "holds no episodes"
    if list(played) != list(manifest["policies"]):
        names = [plain(", ".join(of)) for of in (manifest["policies"], played)]
        yield f"the manifest's policies are {names[0]}, the episodes' {names[1]}"
    first = next(iter(played.values()), [])
    for policy, scenarios in played.items():
        if scenarios != first:
            other = plain(next(iter(played)))
            yield f"{plain(policy)} has other scenarios than {other}"
    yield from check_packs(manifest["packs"], first)
    yield from _check_said(manifest["policies"], lines)


def check_stopped(job: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    """An evaluation that has not ended: some of the job's scenarios were played."""
    planned = _planned(job)
    for policy, scenarios in scenarios_by_policy(lines).items():
        if not {_text(of) for of in scenarios} <= {_text(of) for of in planned}:
            yield f"{plain(policy)} has played scenarios that the job does not list"
    yield from check_packs(job["packs"], planned)
    yield from _check_said(job["policies"], lines)


def check_job(job: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    """Each policy has played the scenarios of the job."""
    planned = _planned(job)
    for policy, scenarios in scenarios_by_policy(lines).items():
        if scenarios != planned:
            name = plain(policy)
            what = f"the job lists {len(planned)} scenarios, {name} has played {len(scenarios)}"
            yield what if len(planned) != len(scenarios) else f"{what} others"


def _planned(job: Mapping[str, Any]) -> list[Any]:
    return job["scenarios"] if isinstance(job.get("scenarios"), list) else []


def check_packs(packs: Mapping[str, Any], scenarios: Sequence[Any]) -> Iterator[str]:
    played = {_pack_of(of) for of in scenarios if isinstance(of, dict)}
    named = {name for name, _ in played}
    if named != set(packs):
        words = (plain(", ".join(sorted(of)) or "none") for of in (packs, named))
        yield "the manifest's packs are {}, the episodes' {}".format(*words)
    if len(played) > len(named):
        versions = ", ".join(f"{name} {version or '1'}" for name, version in sorted(played))
        yield f"the episodes are of several versions of a pack: {plain(versions)}"
    for name, version in sorted(of for of in played if of[0] in packs):
        now = present_pack(name, version)
        # Another hash means other code, which is only a note.
        if now is not None and packs[name].get("hash") == now["hash"]:
            for found in differences(packs[name], now, (name,)):
                yield f"the manifest's pack {found.words()}"


def _pack_of(scenario: Mapping[str, Any]) -> tuple[str, str]:
    """The pack of a recorded scenario and its version, which is empty for the first."""
    return str(scenario.get("pack")), str(scenario.get("version", ""))


def present_packs(scenarios: Iterable[Any]) -> dict[str, dict[str, str]]:
    """The installed packs that play recorded scenarios, by their recorded names."""
    played = sorted({_pack_of(of) for of in scenarios if isinstance(of, dict)})
    found = ((name, present_pack(name, version)) for name, version in played)
    return {name: pack for name, pack in found if pack is not None}


def present_pack(name: str, version: str) -> dict[str, str] | None:
    """The installed pack that plays what was recorded under this name. None: there is none."""
    try:
        require_version(name, version)
        pack = load_pack(name)
    except ChaosOpsError:
        return None
    return {"version": pack.version, "hash": pack.content_hash()}


def _check_said(statuses: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    for policy, scenarios in scenarios_by_policy(lines).items():
        if repeated := sum(n > 1 for n in Counter(map(_text, scenarios)).values()):
            yield f"{plain(policy)} has played {repeated} of its scenarios more than once"
    for policy, status in statuses.items():
        yield from check_status(policy, status)
    for line in lines:
        if "status" in line and line["status"] != statuses.get(str(line.get("policy"))):
            yield from check_status(str(line.get("policy")), line["status"])


def check_status(policy: str, status: Any) -> Iterator[str]:
    """Each role's status must be that of the policy that the team's name gives it."""
    if not (policy.isascii() and policy.isprintable() and policy.strip() == policy != ""):
        yield f"the name {shown(policy)} is not plain printable ASCII"
    if not isinstance(status, dict):
        yield f"the status of {plain(policy)} is {shown(status)}, not an object"
        return
    names = names_of(policy)
    problems = [
        what
        for role in Role
        for what in _status_problems(names.get(role, ""), role_status(status, role))
    ]
    for what in dict.fromkeys(problems):
        yield f"the manifest's status of {plain(policy)}: {what}"


def _status_problems(name: str, status: Mapping[str, Any]) -> Iterator[str]:
    if name not in registered() and is_model(name):
        if status.get("kind") != "model":
            yield f"{name} is a model, recorded as {shown(status.get('kind'))}"
        return
    if is_own(name):
        if status.get("kind") != KIND:
            yield f"{name} is somebody's own policy, recorded as {shown(status.get('kind'))}"
        return
    script = name if name in registered() else status.get("policy")
    if script in registered():
        for found in differences(dict(status), dict(load_policy(str(script)).status())):
            yield found.words()
    elif status.get("kind") == "scripted":
        yield f"there is no script {shown(script)}"


def names_of(team: str) -> dict[Role, str]:
    """The policy of each role by the team's name. Empty if this is not a team's name."""
    try:
        return policy_names(team)
    except ChaosOpsError:
        return {}


def role_status(status: Mapping[str, Any], role: Role) -> Mapping[str, Any]:
    """The status of one role. The status of a single policy is that of all roles."""
    of = status if "kind" in status else status.get(role.value)
    return of if isinstance(of, Mapping) else {}


def _text(scenario: Any) -> str:
    return json.dumps(scenario, sort_keys=True)
