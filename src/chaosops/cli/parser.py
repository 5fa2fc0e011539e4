"""Every command and its options, without importing what the commands need."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from chaosops.cli.playing_options import (
    arena_commands,
    bench_options,
    eval_options,
    replay_options,
    run_options,
    scenario_options,
    verify_options,
    watch_options,
)
from chaosops.cli.readers import Parser, seconds, whole
from chaosops.cli.server_options import seat_options, serve_options, table_options
from chaosops.cli.submission_options import (
    evaluation_mode_options,
    submission_commands,
    submit_options,
)
from chaosops.cli.training_options import (
    jobs_commands,
    publish_options,
    train_options,
)
from chaosops.version import VERSION

_DESCRIPTION = (
    "Train and test AI teams that run production, and the overseer that notices when another "
    "AI agent caused the incident."
)


def _lazily(module: str) -> Callable[[argparse.Namespace], int]:
    """The command's code is imported when it runs: --help must not pay for it."""

    def execute(args: argparse.Namespace) -> int:
        status: int = import_module(f"chaosops.cli.{module}").execute(args)
        return status

    return execute


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="chaosops", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"chaosops {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    def command(name: str, module: str, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(execute=_lazily(module))
        return sub

    run_options(command("run", "run", "play one episode and print its transcript"))
    replay_options(command("replay", "replay", "play a recorded episode again, without policies"))
    watch_options(command("watch", "watch", "watch an episode live"))

    play = command("play", "play", "take one role yourself, at the keyboard")
    scenario_options(play)
    play.add_argument("--role", default="oversight", help="your role (default: %(default)s)")
    play.add_argument(
        "--policy", default="heuristic", help="who plays the others (default: %(default)s)"
    )

    eval_options(command("eval", "evaluate", "play policies x failures x tiers x seeds"))

    verify_options(command("verify", "verify", "recompute an evaluation, name what was changed"))

    recount = command(
        "recount", "recount", "compute an evaluation's figures again, without policies"
    )
    recount.add_argument("folder", type=Path, metavar="FOLDER", help="that holds results.json")
    recount.add_argument("--out", type=Path, help="(default: FOLDER, whose figures are replaced)")
    recount.add_argument("--no-figures", action="store_true", help="write no PNG files")

    check = command("check", "check", "check every failure's contract and the reward's integrity")
    check.add_argument("--pack", default="classic", help="(default: %(default)s)")
    check.add_argument(
        "--seeds", type=whole(1), help="arena: seeds a tier for the exploits (default: 100)"
    )
    check.add_argument(
        "--contract-seeds",
        type=whole(1),
        help="arena: seeds a split and tier for the contract, some 0.2 s each (default: 30)",
    )

    conformance = command("conformance", "conformance", "replay recorded episodes, compare them")
    conformance.add_argument("files", nargs="+", type=Path, metavar="FILE")

    bench_options(command("bench", "bench", "measure the speed of the world, or of a model"))

    demo = command("demo", "demo", "random against trained on one seed, then the comparison table")
    demo.add_argument(
        "--out", type=Path, default=Path("results/demo"), help="(default: %(default)s)"
    )
    demo.add_argument("--frame-delay", type=seconds, default=0.4, help="(default: %(default)s)")

    arena_commands(command("arena", "arena", "look into the arena pack"))

    train_options(command("train", "train", "train an adapter by a recipe"))

    jobs_commands(command("jobs", "jobs", "train on Hugging Face Jobs"))

    publish_options(command("publish", "publish", "write a run's model card, and push the run"))

    serve = command("serve", "serve", "serve episodes over OpenEnv, tables and the page")
    serve_options(serve)
    evaluation_mode_options(serve)
    table_options(command("table", "table", "open a table for four players on a server"))
    seat_options(command("seat", "seat", "play one role of a table"))

    secret = command("secret", "secret", "make the secret of a private split")
    secret.add_argument("file", type=Path, metavar="FILE", help="that does not exist yet")
    submission_commands(command("submission", "submission", "let somebody play a private split"))
    submit_options(command("submit", "submit", "play a submission on a server in evaluation mode"))

    weights = command("weights", "weights", "fetch the embedded model, SmolLM2-135M (98 MB), once")
    weights.add_argument(
        "--dense", action="store_true", help="unpack it for transformers too (269 MB)"
    )

    command("list", "catalogue", "list packs, scenarios, tiers and policies")
    return parser
