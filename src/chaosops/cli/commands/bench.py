"""``chaosops bench``"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Count, Json, Pack, SomeSeconds
from chaosops.cli.output import print_result
from chaosops.evaluation.bench import bench
from chaosops.evaluation.model_bench import bench_model
from chaosops.packs import DEFAULT_PACK, GENERATED_PACK


def execute(
    *,
    pack: Annotated[
        Pack,
        Parameter(
            show_default=f"{DEFAULT_PACK}; for a model {GENERATED_PACK}, or what it was trained on"
        ),
    ] = None,
    policy: Annotated[str, Parameter(metavar="MODEL")] = "",
    episodes: Count = 16,
    steps: Count = 8,
    seconds: SomeSeconds = 2.0,
    json: Json = False,
) -> None:
    """
    Args:
        policy: a local model to measure
        episodes: episodes that a model plays
        steps: turns of each of these episodes
        seconds: time for each measurement
    """
    if policy:
        figures = bench_model(policy, pack, episodes, steps)
    else:
        figures = bench(seconds, pack or DEFAULT_PACK)
    shown = {
        name: value if isinstance(value, str) else f"{value:,}" for name, value in figures.items()
    }
    print_result(figures, (f"{name:<40}{shown[name]:>14}" for name in shown), as_json=json)
