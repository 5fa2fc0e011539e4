"""Push a run's folder to a repository on the hub: safetensors and text, never a pickle."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from chaosops.core.errors import BadInput
from chaosops.hub.client import (
    endpoint,
    open_api,
    require_hub,
    require_token,
    told_in_one_line,
)
from chaosops.report.evaluated import Evaluated
from chaosops.report.run_record import COST, CURVE, RECIPE, RunRecord
from chaosops.training.run_folder import METRICS

WORK = "publishing"
CARD = "README.md"
# Loading one of these runs the code in it.
PICKLES = (".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth")
_RESULTS = ("results.json", "summary.json", "monitor.json", "table.md")
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


class Upload(NamedTuple):
    name: str  # in the repository
    path: Path


def uploads(run: RunRecord, evaluations: Sequence[Evaluated]) -> list[Upload]:
    """Everything but the card, which is made last. PEFT expects adapter and config at the top."""
    paths = sorted((run.folder / "adapter").iterdir())
    paths += [run.folder / name for name in (RECIPE, METRICS, CURVE, COST)]
    found = [Upload(path.name, path) for path in paths if path.is_file() and path.name != CARD]
    for evaluation in evaluations:
        beside = evaluation.path.parent
        paths = [evaluation.path, *(beside / name for name in _RESULTS), *beside.glob("*.png")]
        for path in sorted({path for path in paths if path.is_file()}):
            found.append(Upload(f"results/{evaluation.name}/{path.name}", path))
    names = [upload.name for upload in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"two files would be called {twice[0]}; rename one of their folders")
    return found


def left_out(run: RunRecord) -> list[str]:
    """Files and folders of the run with pickles, such as its checkpoint: they are not pushed."""
    pickles = (path for path in run.folder.rglob("*") if path.suffix.lower() in PICKLES)
    return sorted({path.relative_to(run.folder).parts[0] for path in pickles} - {"adapter"})


def require_publishable(run: RunRecord, found: Sequence[Upload]) -> None:
    """Refuse what others cannot load or should not load."""
    for upload in found:
        if upload.path.suffix.lower() in PICKLES:
            raise BadInput(
                f"{upload.path} is a pickle, which runs code when it is loaded; save the adapter "
                "as safetensors and remove it"
            )
    _require_safetensors(run.weights)
    if not _HUB_NAME.fullmatch(run.base_model) or Path(run.base_model).exists():
        raise BadInput(
            f"the adapter's base is {run.base_model}, a folder that others do not have; train on "
            "hf:OWNER/NAME or local:smollm2 to publish"
        )


def _require_safetensors(path: Path) -> None:
    """Check the content: a safetensors file begins with the length of a JSON header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        head = file.read(length) if 0 < length <= path.stat().st_size - 8 else b""
    try:
        json.loads(head)
    except ValueError:
        raise BadInput(f"{path} is not a safetensors file") from None


def push(found: Sequence[Upload], repo: str, *, private: bool) -> str:
    """Push everything in one commit. Returns the address of the repository."""
    token = require_token(WORK)
    hub = require_hub(WORK)
    api = open_api(WORK, token)
    if not sys.stderr.isatty():
        hub.utils.disable_progress_bars()
    with told_in_one_line(f"publishing {repo}", [token]):
        api.create_repo(repo, private=private or None, exist_ok=True)
        operations = [hub.CommitOperationAdd(upload.name, upload.path) for upload in found]
        api.create_commit(repo, operations, commit_message="Adapter, card, recipe and results")
    return f"{endpoint()}/{repo}"
