"""``chaosops publish``"""

from __future__ import annotations

import argparse
from pathlib import Path

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
from chaosops.report.run_record import CURVE, FailedRun, RunRecord, failed_runs, read_run
from chaosops.report.training_figures import learning_curve
from chaosops.training.run_folder import METRICS


def execute(args: argparse.Namespace) -> int:
    if args.repo:
        require_repo(args.repo, "--repo")
    elif args.private or args.dry_run:
        raise BadInput("--private and --dry-run are for pushing; name a repository: --repo")
    run = read_run(args.run)
    cure = f"evaluate it: chaosops eval --policies {run.policy(str(args.run / 'adapter'))}"
    evaluations = [read_evaluated(path, run.weights.parent, cure) for path in args.results]
    if not run.has_curve and not args.dry_run:
        require_matplotlib()
        learning_curve(run.folder / METRICS, run.folder / CURVE)
    found = publish.uploads(run, evaluations)
    if args.repo:
        publish.require_publishable(run, found)
        if not args.dry_run:
            require_token(publish.WORK)
    text = printable(model_card(run, evaluations, _failures(args.log), args.repo))
    card = run.folder / CARD
    if args.dry_run:
        return _rehearse(run, text, found, args.repo, args.private)
    write_text(card, text)
    print(f"written: {card}")
    if args.repo:
        url = publish.push([Upload(CARD, card), *found], args.repo, private=args.private)
        print(f"published: {url} ({len(found) + 1} files)")
        _tell_left_out(run)
    return 0


def _failures(log: Path) -> list[FailedRun] | None:
    return failed_runs(log) if log.is_file() else None


def _rehearse(run: RunRecord, text: str, found: list[Upload], repo: str, private: bool) -> int:
    kind = "private" if private else "public, or as its owner's default says"
    print(f"would push to {endpoint()}/{repo} ({kind}):")
    sizes = [(CARD, len(text.encode())), *((each.name, each.path.stat().st_size) for each in found)]
    for name, size in sizes:
        print(f"  {size:>12,} bytes  {name}")
    if not run.has_curve:
        print(f"  {'to be drawn':>18}  {CURVE}")
    _tell_left_out(run)
    print("nothing was written or sent")
    return 0


def _tell_left_out(run: RunRecord) -> None:
    if names := publish.left_out(run):
        print(f"left out: {', '.join(names)} (pickles are not published)")
