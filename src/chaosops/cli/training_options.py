"""Options of the commands that train and publish."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.cli.readers import Parser, whole


def train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recipe",
        nargs="?",
        metavar="RECIPE",
        help="name of a recipe that ships, or path of a TOML file (default: list the names)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="replace a value of the recipe; may be repeated",
    )
    parser.add_argument(
        "--rogue-bonus-multiplier", metavar="M", help="constant (2.0) or annealed (2.0->1.0)"
    )
    parser.add_argument("--out", type=Path, help="folder of the run (default: runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument(
        "--workers", type=whole(1, 1024), help="processes that play (default: cores less one)"
    )
    parser.add_argument("--no-figures", action="store_true", help="draw no learning curve")


def jobs_commands(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="WHAT", required=True, dest="what", parser_class=Parser)
    text = "start a job for each recipe; follow them with: hf jobs"
    launch = kinds.add_parser("launch", help=text, description=text)
    launch.add_argument("--namespace", default="", help="whose jobs (default: yours)")
    launch.add_argument("recipes", nargs="+", metavar="RECIPE", help="names or TOML files")
    launch.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="as for train; for all"
    )
    launch.add_argument("--flavor", default="a10g-small", help="machine (default: %(default)s)")
    # Python and uv on Debian, as the hub's own library takes it; torch brings its CUDA along.
    launch.add_argument(
        "--image", default="ghcr.io/astral-sh/uv:python3.12-bookworm", help="(default: %(default)s)"
    )
    launch.add_argument("--timeout", default="2h", help="of a job (default: %(default)s)")
    launch.add_argument(
        "--repo-prefix", default="", metavar="OWNER/NAME", help="publish as OWNER/NAME-RECIPE"
    )
    launch.add_argument(
        "--source",
        default="",
        help="what a job installs: git+https://…, an archive's address, chaosops==VERSION "
        "(default: what is installed here)",
    )
    launch.add_argument(
        "--secret", action="append", default=[], metavar="NAME", help="variable to pass unseen"
    )
    launch.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    launch.add_argument(
        "--dry-run",
        action="store_true",
        help="print the jobs as JSON, secrets masked; send nothing",
    )


def publish_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, from train")
    parser.add_argument("--repo", metavar="OWNER/NAME", help="push to it (default: card only)")
    parser.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="of chaosops eval with this adapter, or results.json in it",
    )
    parser.add_argument("--private", action="store_true", help="make the repository private")
    parser.add_argument("--dry-run", action="store_true", help="say what would be pushed")
    parser.add_argument(
        "--log",
        type=Path,
        default=Path("experiments/LOG.md"),
        help="experiments whose failures the card quotes (default: %(default)s)",
    )
