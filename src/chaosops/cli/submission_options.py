"""Options of evaluation mode, of the owner's submissions, and of those who play them."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.cli.readers import names, whole


def evaluation_mode_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--evaluation",
        action="store_true",
        help="play submissions on hidden seeds, and tell nobody the truth",
    )
    evaluation_folder(parser, required=False)


def evaluation_folder(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument(
        "--secret-file",
        type=Path,
        metavar="FILE",
        required=required,
        help="with the secret of evaluation mode, from chaosops secret",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        required=required,
        help="with the submissions of evaluation mode; their results are written there",
    )


def submission_commands(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    opening = actions.add_parser("open", help="let somebody be measured; prints the token")
    opening.add_argument("name", help="of the submission; its numbers stand under it")
    evaluation_folder(opening)
    opening.add_argument("--split", default="test", help="(default: %(default)s)")
    opening.add_argument(
        "--tiers", type=names, default=["hard"], metavar="NAMES", help="(default: hard)"
    )
    opening.add_argument(
        "--seeds", type=whole(1), default=200, help="episodes a tier (default: %(default)s)"
    )
    opening.add_argument("--seed-start", type=whole(0), default=0, help="(default: %(default)s)")
    opening.add_argument(
        "--series",
        default="main",
        help="submissions of one series play the same episodes (default: %(default)s)",
    )
    opening.add_argument(
        "--roles",
        type=names,
        default=["oversight"],
        metavar="NAMES",
        help="that the submission plays, or all (default: oversight)",
    )
    opening.add_argument(
        "--partners", default="heuristic", help="who plays the others (default: %(default)s)"
    )
    closing = actions.add_parser(
        "close", help="give up what was not played, and write the results; stop the server first"
    )
    closing.add_argument("name")
    evaluation_folder(closing)


def submit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="of the server: http://HOST:PORT")
    parser.add_argument("--token", required=True, help="of the submission, from its owner")
    parser.add_argument(
        "--policy", default="heuristic", help="a policy or a model (default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="for what the policy draws")
