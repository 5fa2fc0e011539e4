"""Every command and its options, without importing what the commands need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from chaosops.version import VERSION

_DESCRIPTION = (
    "Train and test AI teams that run production, and the overseer that notices when another "
    "AI agent caused the incident."
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def _lazily(module: str) -> Callable[[argparse.Namespace], int]:
    """The command's code is imported when it runs: --help must not pay for it."""

    def execute(args: argparse.Namespace) -> int:
        status: int = import_module(f"chaosops.cli.{module}").execute(args)
        return status

    return execute


def whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value < 2**63:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {text!r}")
        return value

    return read


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds from 0 to 3600, got {text!r}")
    return value


def _some_seconds(text: str) -> float:
    value = _seconds(text)
    if value == 0:
        raise argparse.ArgumentTypeError("expected more than 0 seconds")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="chaosops", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"chaosops {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name: str, module: str, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(execute=_lazily(module))
        return sub

    _run_options(command("run", "run", "play one episode and print its transcript"))
    _replay_options(command("replay", "replay", "play a recorded episode again, without policies"))
    watch_options(command("watch", "watch", "watch an episode live"))

    play = command("play", "play", "take one role yourself, at the keyboard")
    _scenario_options(play)
    play.add_argument("--role", default="oversight", help="your role (default: %(default)s)")
    play.add_argument(
        "--policy", default="heuristic", help="who plays the others (default: %(default)s)"
    )

    _eval_options(command("eval", "evaluate", "play policies x failures x tiers x seeds"))

    check = command("check", "check", "check every failure's contract and the reward's integrity")
    check.add_argument("--pack", default="classic", help="(default: %(default)s)")
    check.add_argument(
        "--seeds", type=whole(1), default=100, help="arena: seeds a tier (default: %(default)s)"
    )

    conformance = command("conformance", "conformance", "replay recorded episodes, compare them")
    conformance.add_argument("files", nargs="+", type=Path, metavar="FILE")

    _bench_options(command("bench", "bench", "measure the speed of the world, or of a model"))

    demo = command("demo", "demo", "random against oracle on one seed, then the comparison table")
    demo.add_argument(
        "--out", type=Path, default=Path("results/demo"), help="(default: %(default)s)"
    )
    demo.add_argument("--frame-delay", type=_seconds, default=0.4, help="(default: %(default)s)")

    _arena_commands(command("arena", "arena", "look into the arena pack"))

    _train_options(command("train", "train", "train an adapter by a recipe"))

    _bundle_options(command("bundle", "bundle", "pack a run for a machine without network"))

    _jobs_commands(command("jobs", "jobs", "train on Hugging Face Jobs"))

    _publish_options(command("publish", "publish", "write a run's model card, and push the run"))

    _serve_options(command("serve", "serve", "serve episodes over OpenEnv, tables and the page"))
    _table_options(command("table", "table", "open a table for four players on a server"))
    _seat_options(command("seat", "seat", "play one role of a table"))

    weights = command("weights", "weights", "fetch the embedded model, SmolLM2-135M (93 MB), once")
    weights.add_argument(
        "--dense", action="store_true", help="unpack it for transformers too (269 MB)"
    )

    command("list", "catalogue", "list packs, scenarios, tiers and policies")
    return parser


def _run_options(parser: argparse.ArgumentParser) -> None:
    _scenario_options(parser)
    _policy_option(parser)
    parser.add_argument("--json", action="store_true", help="print the whole episode as JSON")
    parser.add_argument("--prompts", action="store_true", help="print what each role was shown")
    parser.add_argument("--record", type=Path, metavar="FILE", help="save it for chaosops replay")


def _replay_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="from run --record, or from eval")
    parser.add_argument("--prompts", action="store_true", help="print prompts and replies")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write it as Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as one HTML page")


def _bench_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pack", help="(default: classic; for a model: arena)")
    parser.add_argument("--policy", metavar="MODEL", help="a local model to measure")
    parser.add_argument(
        "--episodes", type=whole(1), default=16, help="of a model (default: %(default)s)"
    )
    parser.add_argument(
        "--steps", type=whole(1), default=8, help="turns of each (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--seconds", type=_seconds, default=2.0, help="time per figure (default: %(default)s)"
    )


def _scenario_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pack", default="classic", help="(default: %(default)s)")
    parser.add_argument(
        "--scenario", help="a failure of the classic pack (default: autoscaler_cost_cut)"
    )
    parser.add_argument("--split", help="a split of the arena pack (default: train)")
    parser.add_argument(
        "--tier", "--difficulty", dest="tier", default="hard", help="(default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole(0), default=42, help="(default: %(default)s)")
    parser.add_argument(
        "--max-steps",
        type=whole(1),
        default=None,
        help="limit (default: 20 for an episode started by hand, whatever its tier)",
    )


def _policy_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        default="oracle",
        help="a policy, a model (local:smollm2, hf:OWNER/NAME, openai:MODEL@URL, PATH), or a team "
        "such as oversight=local:smollm2,others=oracle (default: %(default)s)",
    )


def watch_options(parser: argparse.ArgumentParser) -> None:
    _scenario_options(parser)
    _policy_option(parser)
    parser.add_argument("--versus", metavar="POLICY", help="a second policy on the same seed")
    parser.add_argument(
        "--frame-delay", type=_seconds, default=0.6, help="seconds a turn (default: %(default)s)"
    )
    parser.add_argument("--plain", action="store_true", help="lines instead of a screen")


def _eval_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policies",
        type=_names,
        metavar="A,B",
        help="(default: random,keyword,heuristic,oracle; arena: also last_toucher)",
    )
    parser.add_argument(
        "--team",
        action="append",
        default=[],
        metavar="ROLE=POLICY,…",
        help="a mixed team, such as oversight=random,others=oracle; may be given several times",
    )
    parser.add_argument("--pack", default="classic", help="(default: %(default)s)")
    parser.add_argument(
        "--matrix",
        default="full",
        help="full: every failure on every tier; published: the failures and seeds of the "
        "published table (default: %(default)s)",
    )
    parser.add_argument(
        "--tiers", type=_names, default=["easy", "medium", "hard"], help="(default: all)"
    )
    parser.add_argument(
        "--seeds",
        type=whole(1),
        help="seeds per failure and tier (default: 5), in the arena per tier (default: 200)",
    )
    parser.add_argument("--split", default="", help="a split of the arena pack")
    parser.add_argument("--seed-start", type=whole(0), default=0, help="the first (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/eval"), help="folder (default: %(default)s)"
    )
    parser.add_argument("--no-figures", action="store_true", help="write no PNG files")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the evaluation that was stopped in this folder, with equal arguments",
    )
    parser.add_argument(
        "--side-by-side",
        type=whole(1),
        default=64,
        metavar="N",
        help="episodes played at once; more ask a model in larger batches (default: %(default)s)",
    )
    parser.add_argument(
        "--save-episodes",
        action="store_true",
        help="save every episode of a language model for chaosops replay, in OUT/episodes",
    )


def _bundle_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipes", nargs="*", type=Path, metavar="RECIPE.toml")
    parser.add_argument("--out", type=Path, required=True, help="an empty folder for the parts")
    parser.add_argument("--base", type=Path, help="a model's folder (default: the embedded one)")
    parser.add_argument("--no-base", action="store_true", help="leave the model out")
    parser.add_argument(
        "--adapter",
        type=Path,
        action="append",
        default=[],
        help="an adapter's folder to start from",
    )
    parser.add_argument("--wheels", type=Path, help="a folder of wheels to install there")
    parser.add_argument("--part-mb", type=float, default=55, help="(default: %(default)s)")


def _jobs_commands(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="WHAT", required=True, dest="what", parser_class=_Parser)

    def kind(name: str, text: str) -> argparse.ArgumentParser:
        sub = kinds.add_parser(name, help=text, description=text)
        sub.add_argument("--namespace", default="", help="whose jobs (default: yours)")
        return sub

    launch = kind("launch", "start a job for each recipe, and follow them")
    launch.add_argument("recipes", nargs="+", type=Path, metavar="RECIPE.toml")
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
    launch.add_argument("--dry-run", action="store_true", help="print the calls, send nothing")
    launch.add_argument("--no-follow", action="store_true", help="start them and return")
    for name, text in (("follow", "watch jobs to their end"), ("cancel", "stop jobs")):
        kind(name, text).add_argument("jobs", nargs="+", metavar="[OWNER/]ID")


def _publish_options(parser: argparse.ArgumentParser) -> None:
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


def _serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="(default: %(default)s)")
    parser.add_argument(
        "--port", type=whole(0), default=8000, help="0 takes a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--max-sessions", type=whole(1), default=256, help="at once (default: %(default)s)"
    )
    parser.add_argument(
        "--idle-timeout",
        type=_some_seconds,
        default=600.0,
        metavar="SECONDS",
        help="until a silent session is closed (default: %(default)s)",
    )
    parser.add_argument("--no-web", action="store_true", help="without the page for people")


def _table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="of the server: http://HOST:PORT")
    parser.add_argument("--pack", help="(default: classic, or arena where a split is named)")
    parser.add_argument("--scenario", help="a classic failure (default: the seed draws one)")
    parser.add_argument("--tier", help="(default: hard)")
    parser.add_argument("--split", help="a split of the arena pack (default: train)")
    parser.add_argument("--seed", type=whole(0), help="(default: drawn)")
    parser.add_argument("--max-steps", type=whole(1), help="limit (default: the tier's)")
    parser.add_argument(
        "--turn-timeout",
        type=_some_seconds,
        metavar="SECONDS",
        help="until a silent seat ends the table (default, and most: the server's idle time-out)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _seat_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="of the server: http://HOST:PORT")
    parser.add_argument("--token", required=True, help="of the seat, from chaosops table")
    parser.add_argument(
        "--policy", default="heuristic", help="a policy or a model (default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="for what the policy draws")
    parser.add_argument(
        "--received", type=Path, metavar="FILE", help="write every message of the server to it"
    )


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", type=Path, metavar="RECIPE.toml")
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
        "--workers", type=whole(1), help="processes that play (default: cores less one)"
    )
    parser.add_argument("--no-figures", action="store_true", help="draw no learning curve")


def _arena_commands(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="WHAT", required=True, dest="what", parser_class=_Parser)

    def kind(name: str, text: str) -> argparse.ArgumentParser:
        sub = kinds.add_parser(name, help=text, description=text)
        sub.add_argument("--tier", default="hard", help="(default: %(default)s)")
        return sub

    show = kind("show", "draw a generated company and its incident")
    show.add_argument("--split", default="train", help="(default: %(default)s)")
    show.add_argument("--seed", type=whole(0), default=7, help="(default: %(default)s)")
    show.add_argument("--truth", action="store_true", help="tell who did it and why")
    show.add_argument("--picture", type=Path, metavar="PNG", help="draw the call graph too")

    leaks = kind("leaks", "can words or counts tell whether there is a rogue? (they must not)")
    leaks.add_argument("--train", type=whole(100), default=5000, help="(default: %(default)s)")
    leaks.add_argument("--test", type=whole(100), default=2000, help="(default: %(default)s)")
    leaks.add_argument("--json", action="store_true", help="print JSON")

    evidence = kind("investigate", "can unlimited looking tell who did it? (it must)")
    evidence.add_argument("--split", default="test", help="(default: %(default)s)")
    evidence.add_argument("--seeds", type=whole(1), default=500, help="(default: %(default)s)")
    evidence.add_argument("--json", action="store_true", help="print JSON")
