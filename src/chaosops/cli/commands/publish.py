"""``chaosops publish``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Folder
from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.printable import printable
from chaosops.hub import publish
from chaosops.hub.client import endpoint, require_repo, require_token
from chaosops.hub.publish import CARD, Upload
from chaosops.report.evaluated import read_evaluated
from chaosops.report.figures import require_matplotlib
from chaosops.report.model_card import model_card
from chaosops.report.run_record import CURVE, RunRecord, failed_runs, read_run
from chaosops.report.training_figures import learning_curve
from chaosops.training.run_folder import METRICS


def execute(
    run: Folder,
    /,
    *,
    repo: Annotated[str, Parameter(metavar="OWNER/NAME")] = "",
    results: Annotated[tuple[Folder, ...], Parameter(consume_multiple=True)] = (),
    private: bool = False,
    dry_run: bool = False,
    log: Path | None = None,
) -> None:
    """
    Args:
        run: the folder of a run, from train
        repo: push to this repository; without it only the card is written
        results: folders of chaosops eval with this adapter, or their results.json
        private: make the repository private
        dry_run: list the files that would be pushed, and push nothing
        log: a log of experiments; the card quotes its failed runs
    """
    if repo:
        require_repo(repo, "--repo")
    elif private or dry_run:
        raise BadInput("--private and --dry-run are for pushing; name a repository: --repo")
    record = read_run(run)
    cure = f"evaluate it: chaosops eval --policies {record.policy(str(run / 'adapter'))}"
    evaluations = [read_evaluated(path, record.weights.parent, cure) for path in results]
    if not record.has_curve and not dry_run:
        require_matplotlib()
        learning_curve(record.folder / METRICS, record.folder / CURVE)
    found = publish.uploads(record, evaluations)
    if repo:
        publish.require_publishable(record, found)
        if not dry_run:
            require_token(publish.WORK)
    failures = failed_runs(log) if log else None
    text = printable(model_card(record, evaluations, failures, repo))
    card = record.folder / CARD
    if dry_run:
        _rehearse(record, text, found, repo, private)
        return
    write_text(card, text)
    print(f"written: {card}")
    if repo:
        url = publish.push([Upload(CARD, card), *found], repo, private=private)
        print(f"published: {url} ({len(found) + 1} files)")
        _tell_left_out(record)


def _rehearse(run: RunRecord, text: str, found: list[Upload], repo: str, private: bool) -> None:
    kind = "private" if private else "public, or as its owner's default says"
    print(f"would push to {endpoint()}/{repo} ({kind}):")
    sizes = [(CARD, len(text.encode())), *((each.name, each.path.stat().st_size) for each in found)]
    for name, size in sizes:
        print(f"  {size:>12,} bytes  {name}")
    if not run.has_curve:
        print(f"  {'to be drawn':>18}  {CURVE}")
    _tell_left_out(run)
    print("nothing was written or sent")


def _tell_left_out(run: RunRecord) -> None:
    if names := publish.left_out(run):
        print(f"left out: {', '.join(names)} (pickles are not published)")
