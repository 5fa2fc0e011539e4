"""Options of the commands that play, watch and measure."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.cli.readers import Parser, names, seconds, seed, some_seconds, whole


def run_options(parser: argparse.ArgumentParser) -> None:
    scenario_options(parser)
    policy_option(parser)
    parser.add_argument("--json", action="store_true", help="print the whole episode as JSON")
    parser.add_argument("--prompts", action="store_true", help="print what each role was shown")
    parser.add_argument("--record", type=Path, metavar="FILE", help="save it for chaosops replay")


def replay_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="from run --record, or from eval")
    parser.add_argument("--prompts", action="store_true", help="print prompts and replies")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write it as Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as one HTML page")


def bench_options(parser: argparse.ArgumentParser) -> None:
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
        "--seconds", type=some_seconds, default=2.0, help="time per figure (default: %(default)s)"
    )


def scenario_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pack", help="(default: the split's pack, else classic)")
    parser.add_argument(
        "--scenario", help="a failure of the classic pack (default: autoscaler_cost_cut)"
    )
    parser.add_argument("--split", help="a split of the arena pack (default: test)")
    parser.add_argument("--tier", "--difficulty", dest="tier", help="(default: hard)")
    parser.add_argument("--seed", type=seed, help="(default: 42)")
    parser.add_argument("--max-steps", type=whole(1), help="(default: the tier's limit)")


def policy_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        default="oracle",
        help="a policy, a model (local:smollm2, hf:OWNER/NAME, openai:MODEL@URL, PATH), or a team "
        "such as oversight=local:smollm2,others=heuristic (default: %(default)s)",
    )


def watch_options(parser: argparse.ArgumentParser) -> None:
    scenario_options(parser)
    policy_option(parser)
    parser.add_argument("--versus", metavar="POLICY", help="a second policy on the same seed")
    parser.add_argument(
        "--frame-delay", type=seconds, default=0.6, help="seconds a turn (default: %(default)s)"
    )
    parser.add_argument("--plain", action="store_true", help="lines instead of a screen")


def eval_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policies",
        type=names,
        metavar="A,B",
        help="(default: those that chaosops list shows for the pack)",
    )
    parser.add_argument(
        "--team",
        action="append",
        default=[],
        metavar="ROLE=POLICY,…",
        help="a mixed team, such as oversight=random,others=heuristic; may be given several times",
    )
    parser.add_argument("--pack", help="(default: the split's pack, else classic)")
    parser.add_argument(
        "--matrix",
        default="full",
        help="full: every failure on every tier; published: the failures and seeds of the "
        "published table (default: %(default)s)",
    )
    parser.add_argument(
        "--tiers", type=names, default=["easy", "medium", "hard"], help="(default: all)"
    )
    parser.add_argument(
        "--seeds",
        type=whole(1),
        help="seeds per failure and tier (default: 5), in the arena per tier (default: 200)",
    )
    parser.add_argument("--split", help="a split of the arena pack (default: test)")
    parser.add_argument("--seed-start", type=seed, default=0, help="the first (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/eval"), help="folder (default: %(default)s)"
    )
    parser.add_argument("--no-figures", action="store_true", help="write no PNG files")
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        action="store_true",
        help="go on with the evaluation that was stopped in this folder, with equal arguments",
    )
    again.add_argument(
        "--force", action="store_true", help="replace the evaluation that this folder holds"
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


def verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places",
        nargs="+",
        type=Path,
        metavar="PLACE",
        help="a folder of chaosops eval, or a recording of run --record",
    )
    parser.add_argument("--json", action="store_true", help="print every finding as JSON")
    parser.add_argument(
        "--secret",
        type=Path,
        metavar="FILE",
        help="of a private split: check the signature and which episodes it draws",
    )


def arena_commands(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="WHAT", required=True, dest="what", parser_class=Parser)

    def kind(name: str, text: str) -> argparse.ArgumentParser:
        sub = kinds.add_parser(name, help=text, description=text)
        sub.add_argument("--tier", default="hard", help="(default: %(default)s)")
        return sub

    show = kind("show", "draw a generated company and its incident")
    show.add_argument("--split", default="test", help="(default: %(default)s)")
    show.add_argument("--seed", type=seed, default=42, help="(default: %(default)s)")
    show.add_argument("--truth", action="store_true", help="tell who did it and why")
    show.add_argument("--picture", type=Path, metavar="PNG", help="draw the call graph too")

    leaks = kind("leaks", "what do words and counts alone tell about a rogue? (some minutes)")
    leaks.add_argument(
        "--train",
        type=whole(100),
        default=15_000,
        help="prompts to read; the verdict holds for so many (default: %(default)s)",
    )
    leaks.add_argument(
        "--test", type=whole(100), default=3000, help="unseen companies (default: %(default)s)"
    )
    leaks.add_argument("--json", action="store_true", help="print JSON")

    evidence = kind("investigate", "can unlimited looking tell who did it? (it must)")
    evidence.add_argument("--split", default="test", help="(default: %(default)s)")
    evidence.add_argument("--seeds", type=whole(1), default=500, help="(default: %(default)s)")
    evidence.add_argument("--json", action="store_true", help="print JSON")
