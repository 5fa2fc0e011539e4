"""``chaosops bundle``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.output import print
from chaosops.policies.llm.weights import embedded_dense
from chaosops.training.bundle import bundle


def execute(
    recipes: Annotated[tuple[Path, ...], Parameter(metavar="RECIPE.toml")] = (),
    /,
    *,
    out: Annotated[Path, Parameter(help="an empty folder for the parts")],
    base: Annotated[
        Path | None, Parameter(help="a model's folder", show_default="the embedded one")
    ] = None,
    no_base: Annotated[bool, Parameter(help="leave the model out")] = False,
    adapter: Annotated[tuple[Path, ...], Parameter(help="an adapter's folder to start from")] = (),
    wheels: Annotated[Path | None, Parameter(help="a folder of wheels to install there")] = None,
    part_mb: float = 55,
) -> int:
    model = base or (None if no_base else embedded_dense())
    files = bundle(
        out,
        recipes=recipes,
        base=model,
        adapters=adapter,
        wheels=wheels,
        part_mb=part_mb,
        tell=lambda line: print(line, file=sys.stderr),
    )
    for path in files:
        print(f"{path}  {path.stat().st_size:,} bytes")
    print(f"there: sh unpack.sh DIR   (needs sh, tar, xz and python3; see {files[-1]})")
    return 0
