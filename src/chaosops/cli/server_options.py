"""Options of the server and of those who sit at it."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.cli.readers import names, seed, some_seconds, whole


def serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="(default: %(default)s)")
    parser.add_argument(
        "--port",
        type=whole(0, 65_535),
        default=8000,
        help="0 takes a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--max-sessions", type=whole(1), default=256, help="at once (default: %(default)s)"
    )
    parser.add_argument(
        "--idle-timeout",
        type=some_seconds,
        default=600.0,
        metavar="SECONDS",
        help="until a silent session is closed (default: %(default)s)",
    )
    parser.add_argument("--no-web", action="store_true", help="without the page for people")
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


def table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="of the server: http://HOST:PORT")
    parser.add_argument("--pack", help="(default: classic, or arena where a split is named)")
    parser.add_argument("--scenario", help="a classic failure (default: the seed draws one)")
    parser.add_argument("--tier", help="(default: hard)")
    parser.add_argument("--split", help="a split of the arena pack (default: train)")
    parser.add_argument("--seed", type=seed, help="(default: drawn)")
    parser.add_argument("--max-steps", type=whole(1), help="limit (default: the tier's)")
    parser.add_argument(
        "--turn-timeout",
        type=some_seconds,
        metavar="SECONDS",
        help="until a silent seat ends the table (default, and most: the server's idle time-out)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def seat_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="of the server: http://HOST:PORT")
    parser.add_argument("--token", required=True, help="of the seat, from chaosops table")
    parser.add_argument(
        "--policy", default="heuristic", help="a policy or a model (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="for what the policy draws")
    parser.add_argument(
        "--received", type=Path, metavar="FILE", help="write every message of the server to it"
    )
