"""Options of the server and of those who sit at it."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.access.options import add_options
from chaosops.access.tokens import VARIABLE
from chaosops.cli.readers import seed, some_seconds, whole


def serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="(default: %(default)s)")
    parser.add_argument(
        "--port",
        type=whole(0, 65_535),
        default=8000,
        help="0 takes a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--idle-timeout",
        type=some_seconds,
        default=600.0,
        metavar="SECONDS",
        help="until a silent session is closed (default: %(default)s)",
    )
    parser.add_argument("--no-web", action="store_true", help="without the page for people")
    add_options(parser)


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
    _server_token(parser)


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
    _server_token(parser)


def _server_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server-token-file",
        type=Path,
        metavar="FILE",
        help=f"holds the token of a server that asks for one (default: {VARIABLE})",
    )
