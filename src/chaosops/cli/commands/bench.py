"""``chaosops bench``"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Json, Pack, SomeSeconds, whole
from chaosops.cli.output import print, print_json
from chaosops.evaluation.bench import bench
from chaosops.evaluation.model_bench import bench_model
from chaosops.packs import DEFAULT_PACK, GENERATED_PACK


def execute(
    *,
    pack: Annotated[Pack, Parameter(show_default="classic; for a model arena")] = None,
    policy: Annotated[str, Parameter(metavar="MODEL", help="a local model to measure")] = "",
    episodes: Annotated[int, whole(1, help="of a model")] = 16,
    steps: Annotated[int, whole(1, help="turns of each episode of a model")] = 8,
    seconds: Annotated[SomeSeconds, Parameter(help="time per figure")] = 2.0,
    json: Json = False,
) -> int:
    if policy:
        figures = bench_model(policy, pack or GENERATED_PACK, episodes, steps)
    else:
        figures = bench(seconds, pack or DEFAULT_PACK)
    if json:
        print_json(figures)
    else:
        for name, value in figures.items():
            shown = value if isinstance(value, str) else f"{value:,}"
            print(f"{name:<40}{shown:>14}")
    return 0
