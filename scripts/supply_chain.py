"""Check the lock file for known vulnerabilities (``audit``) and list its content (``sbom``).

``audit`` compares the lock with advisories in OSV's format on this machine. It asks no server.
``sbom`` writes CycloneDX 1.5 as JSON: the same bytes for the same lock and version.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "CHAOSOPS_ADVISORIES"
_CURE = f"set {VARIABLE} to a folder of OSV JSON files (PyPI/all.zip of osv.dev, unpacked)"


class Finding(NamedTuple):
    package: str
    version: str
    advisory: str
    text: str


def packages(lock: Path) -> list[dict[str, Any]]:
    """Everything in the lock that comes from an index."""
    found = _content(lock)["package"]
    return [package for package in found if "registry" in package.get("source", {})]


def _content(lock: Path) -> dict[str, Any]:
    return tomllib.loads(lock.read_text(encoding="utf-8"))


def audit(lock: Path, folder: str | None) -> int:
    if not folder:
        print(f"NOT AUDITED: no advisories at hand; {_CURE}", file=sys.stderr)
        return 0
    try:
        advisories = list(_advisories(Path(folder)))
    except (OSError, ValueError) as error:
        print(f"cannot audit with {folder}: {error}; {_CURE}", file=sys.stderr)
        return 2
    if not advisories:
        print(f"cannot audit: {folder} holds no advisory about PyPI; {_CURE}", file=sys.stderr)
        return 2
    held = packages(lock)
    by_name: dict[str, list[str]] = {}
    for package in held:
        by_name.setdefault(canonicalize_name(package["name"]), []).append(package["version"])
    findings = sorted({found for advisory in advisories for found in _findings(advisory, by_name)})
    for found in findings:
        print(f"{found.package} {found.version}: {found.advisory} {found.text}".rstrip())
    newest = max(str(advisory.get("modified", "")) for advisory in advisories) or "unknown"
    scale = f"{len(held)} packages, {len(advisories)} advisories, the newest of {newest}"
    print(f"{scale}: {f'{len(findings)} apply' if findings else 'none applies'}")
    return 1 if findings else 0


def _advisories(folder: Path) -> Iterator[dict[str, Any]]:
    if not folder.is_dir():
        raise ValueError("it is not a folder")
    for path in sorted(folder.rglob("*.json")):
        try:
            advisory = json.loads(path.read_text(encoding="utf-8"))
            entries = advisory["affected"] if isinstance(advisory, dict) else None
        except (ValueError, KeyError, RecursionError) as error:
            raise ValueError(f"{path} is not an advisory ({type(error).__name__})") from None
        if not isinstance(entries, list):
            raise ValueError(f"{path} is not an advisory")
        about = [e.get("package") or {} for e in entries if isinstance(e, dict)]
        if any(package.get("ecosystem") == "PyPI" for package in about):
            yield advisory


def _findings(advisory: dict[str, Any], held: dict[str, list[str]]) -> Iterator[Finding]:
    if advisory.get("withdrawn"):
        return
    for entry in advisory["affected"]:
        package = entry.get("package") or {}
        name = canonicalize_name(str(package.get("name", "")))
        if package.get("ecosystem") != "PyPI" or name not in held:
            continue
        for version in held[name]:
            text = str(advisory.get("summary", ""))
            try:
                affected = _is_affected(entry, Version(version))
            except (InvalidVersion, KeyError, TypeError, AttributeError):
                affected, text = True, f"{text} (its versions cannot be read: look it up)"
            if affected:
                yield Finding(name, version, str(advisory.get("id")), text)


def _is_affected(entry: dict[str, Any], version: Version) -> bool:
    """As OSV's schema defines it. An entry that names no versions concerns all of them."""
    listed = entry.get("versions") or []
    ranges = [r for r in entry.get("ranges") or [] if r["type"] == "ECOSYSTEM"]
    if not listed and not ranges:
        return True
    return _is_listed(listed, version) or any(_is_within(r["events"], version) for r in ranges)


def _is_listed(listed: list[str], version: Version) -> bool:
    return str(version) in listed or any(_parsed(text) == version for text in listed)


def _parsed(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:  # an old version; locked packages have valid versions
        return None


def _is_within(events: list[dict[str, str]], version: Version) -> bool:
    places = [
        (Version("0a0" if text == "0" else text), kind) for e in events for kind, text in e.items()
    ]
    inside = False
    for place, kind in sorted(places, key=lambda event: event[0]):
        reached = version > place if kind == "last_affected" else version >= place
        if reached:
            inside = kind == "introduced"
    return inside


def sbom(lock: Path) -> str:
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import ComponentType
    from cyclonedx.output.json import JsonV1Dot5

    from chaosops.version import VERSION

    held = packages(lock)
    (project,) = (p for p in _content(lock)["package"] if p["name"] == "chaosops")
    root = _component("chaosops", VERSION, ComponentType.APPLICATION, [])
    parts = {_key(package): _library(package) for package in held}
    models = list(_models())
    bom = Bom(serial_number=uuid5(NAMESPACE_URL, f"chaosops {VERSION} {_sha256(lock)}"))
    bom.metadata.timestamp = _time(held)
    bom.metadata.component = root
    bom.components = [*parts.values(), *models]
    bom.register_dependency(root, [*_needed(project, parts), *models])
    for package in held:
        bom.register_dependency(parts[_key(package)], _needed(package, parts))
    return str(JsonV1Dot5(bom).output_as_string(indent=1)) + "\n"


def _key(package: dict[str, Any]) -> tuple[str, str]:
    return package["name"], package["version"]


def _needed(package: dict[str, Any], parts: dict[tuple[str, str], Any]) -> list[Any]:
    """The packages that it names, with and without its extras. Only names that are locked twice
    have a version."""
    named = list(package.get("dependencies", []))
    for extras in ("optional-dependencies", "dev-dependencies"):
        named += [one for group in package.get(extras, {}).values() for one in group]
    wanted = {(one["name"], one.get("version")) for one in named}
    return [
        part
        for (name, version), part in parts.items()
        if (name, None) in wanted or (name, version) in wanted
    ]


def _component(name: str, version: str, kind: Any, digests: list[str], **more: Any) -> Any:
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.component import Component

    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in digests]
    reference = f"{name}@{version}"
    return Component(
        name=name, version=version, type=kind, bom_ref=reference, hashes=hashes, **more
    )


def _library(package: dict[str, Any]) -> Any:
    from cyclonedx.model.component import ComponentType
    from packageurl import PackageURL

    files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    digests = [file["hash"].removeprefix("sha256:") for file in files]
    purl = PackageURL("pypi", None, *_key(package))
    return _component(*_key(package), ComponentType.LIBRARY, digests, purl=purl)


def _models() -> Iterator[Any]:
    """The weights that the trained policy is made of."""
    from cyclonedx.model.component import ComponentType

    from chaosops.policies.llm import weights
    from chaosops.trained import trained_adapter

    kind = ComponentType.MACHINE_LEARNING_MODEL
    adapter = trained_adapter() / "adapter_model.safetensors"
    yield _component(Path(weights._MEMBER).name, weights._PACKAGE, kind, [weights._SHA256])
    yield _component(f"trained/{adapter.name}", _sha256(adapter)[:12], kind, [_sha256(adapter)])


def _time(held: list[dict[str, Any]]) -> datetime:
    """The time of the release if it is given, otherwise that of the newest file in the lock."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return datetime.fromtimestamp(int(epoch), UTC)
    times = [
        file["upload-time"] for p in held for file in p.get("wheels", []) if "upload-time" in file
    ]
    return datetime.fromisoformat(max(times))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["audit", "sbom"])
    parser.add_argument("--lock", type=Path, default=ROOT / "uv.lock")
    parser.add_argument("--out", type=Path, default=Path("sbom.cdx.json"))
    args = parser.parse_args()
    if args.what == "audit":
        return audit(args.lock, os.environ.get(VARIABLE))
    args.out.write_text(sbom(args.lock), encoding="utf-8")
    print(f"written: {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
