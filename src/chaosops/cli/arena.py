"""``chaosops arena show``, ``leaks`` and ``investigate``"""

from __future__ import annotations

import argparse
import json

from chaosops.cli.output import print
from chaosops.core.files import open_file
from chaosops.evaluation.investigator import investigate
from chaosops.evaluation.leaks import BAR, BARRED, detect_leaks
from chaosops.packs import make_scenario, read_tier
from chaosops.packs.arena import PACK
from chaosops.report.company import company_lines, draw_graph, truth_lines
from chaosops.report.figures import require_matplotlib
from chaosops.report.tables import aligned
from chaosops.world import engine

_FAIR = 0.95


def execute(args: argparse.Namespace) -> int:
    commands = {"show": _show, "leaks": _leaks, "investigate": _investigate}
    return commands[args.what](args)


def _show(args: argparse.Namespace) -> int:
    scenario = make_scenario(pack="arena", split=args.split, tier=args.tier, seed=args.seed)
    if args.picture:
        require_matplotlib("leave --picture out")
        open_file(args.picture, "--picture")
    public = engine.start(PACK, scenario).public
    incident = PACK.incident(scenario)
    lines = company_lines(scenario, public, incident)
    if args.truth:
        lines += ["", *truth_lines(incident)]
    print("\n".join(lines))
    if args.picture:
        print(f"\nwritten: {draw_graph(public, incident, args.picture)}")
    return 0


def _leaks(args: argparse.Namespace) -> int:
    figures = detect_leaks(read_tier(args.tier), args.train, args.test)
    if args.json:
        print(json.dumps(figures, indent=1))
        return 0 if figures["kept"] else 1
    columns = list(figures["curve"][0])
    rows = [[str(row[name]) for name in columns] for row in figures["curve"]]
    print(f"AUROC on {args.test} unseen companies of tier {args.tier}, by prompts read in training")
    print(aligned([name.replace("_", " ") for name in columns], rows, words=0))
    verdict = "kept" if figures["kept"] else "BROKEN"
    barred = ", ".join(name.replace("_", " ") for name in BARRED)
    print(f"bar for {barred}: at most {BAR} after {args.train} prompts ({verdict})")
    print("words with their numbers are a baseline without a bar: the amounts are the evidence")
    return 0 if figures["kept"] else 1


def _investigate(args: argparse.Namespace) -> int:
    tier = read_tier(args.tier)
    scenarios = [
        make_scenario(pack="arena", split=args.split, tier=tier, seed=seed)
        for seed in range(args.seeds)
    ]
    found = [(PACK.incident(s).rogue, investigate(s)) for s in scenarios]
    guilty = [(rogue, named) for rogue, named in found if rogue is not None]
    benign = [named for rogue, named in found if rogue is None]
    figures = {
        "split": args.split,
        "tier": tier.value,
        "rogue_episodes": len(guilty),
        "culprit_named": _share([rogue == named for rogue, named in guilty]),
        "benign_episodes": len(benign),
        "innocent_accused": _share([named is not None for named in benign]),
    }
    if args.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(f"{name:<20}{value}")
    named = figures["culprit_named"]
    return 0 if named is None or named >= _FAIR else 1


def _share(values: list[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
