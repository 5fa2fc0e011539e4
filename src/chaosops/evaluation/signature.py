"""The owner's signature of a folder of results. Nobody else can make it."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_bytes
from chaosops.evaluation.results import RESULTS_NAME
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.stored import results_file
from chaosops.evaluation.submission import Submission

SIGNATURE_NAME = "signature.json"
FORMAT = "chaosops signature 1"


def sign(folder: Path, secret: Secret) -> Path:
    """Sign the bytes of ``results.json``. The signature names the secret by its commitment. It can
    be published before the results."""
    digest = _digest(folder)
    content = {
        "format": FORMAT,
        "results_sha256": digest,
        "commitment": secret.commitment,
        "hmac_sha256": _mac(secret, digest),
    }
    path = folder / SIGNATURE_NAME
    write_text(path, json.dumps(content, indent=1) + "\n")
    return path


def signature_problems(folder: Path, secret: Secret) -> list[str]:
    """What is wrong with the signature of a folder."""
    path = folder / SIGNATURE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ["is missing: these results were not signed"]
    except (OSError, ValueError, RecursionError) as error:
        return [f"cannot be read: {error}"]
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return [f"is not a signature ('format' is not {FORMAT!r})"]
    if content.get("commitment") != secret.commitment:
        return ["was made with another secret than this one"]
    digest = _digest(folder)
    if content.get("results_sha256") != digest:
        return [f"{RESULTS_NAME} is not the file that was signed"]
    signed = str(content.get("hmac_sha256")).encode()
    if not hmac.compare_digest(signed, _mac(secret, digest).encode()):
        return ["is forged: this secret did not sign it"]
    return []


def mapping_problems(
    manifest: Mapping[str, Any], episodes: Sequence[Mapping[str, Any]], secret: Secret
) -> list[str]:
    """Where the episodes are not those that the secret draws for the submission's public seeds."""
    wire = manifest.get("submission")
    if not isinstance(wire, dict):
        return ["the manifest names no submission, so it tells no public seeds"]
    try:
        plan = Submission.from_wire({**wire, "token_sha256": ""})
        expected = [scenario.to_wire() for scenario in plan.scenarios(secret)]
    except BadInput as error:
        return [f"the manifest's submission: {error}"]
    problems = []
    if len(episodes) != len(expected):
        problems.append(f"{len(expected)} episodes were to be played, {len(episodes)} are here")
    for number, (episode, scenario) in enumerate(zip(episodes, expected, strict=False), 1):
        if episode.get("policy") != plan.team:
            problems.append(f"episode {number} is of {episode.get('policy')!r}, not {plan.team!r}")
        if episode.get("scenario") != scenario:
            problems.append(
                f"episode {number} is not the one that this secret draws for its public seed"
            )
    return problems


def _mac(secret: Secret, digest: str) -> str:
    return secret.mac("results 1", digest).hex()


def _digest(folder: Path) -> str:
    """The hash of the uncompressed results."""
    path = results_file(folder) or folder / RESULTS_NAME
    return sha256(read_bytes(path, "results")).hexdigest()
