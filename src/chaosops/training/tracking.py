"""Report a run to trackio, if the recipe names a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from chaosops.core.errors import MissingExtra
from chaosops.training.recipe import Recipe

Tell = Callable[[dict[str, Any]], None]  # called with each row of metrics


def require_tracking(recipe: Recipe) -> Any:
    """Import trackio if the recipe needs it."""
    if not recipe.track:
        return None
    try:
        import trackio
    except ImportError:
        raise MissingExtra(f"track = '{recipe.track}'", "trackio", "track") from None
    return trackio


@contextmanager
def tracked(recipe: Recipe, tell: Tell) -> Iterator[Tell]:
    """Add trackio to ``tell``. With method ``trl``, TRL reports itself."""
    if not recipe.track or recipe.method == "trl":
        yield tell
        return
    trackio = require_tracking(recipe)

    def both(row: dict[str, Any]) -> None:
        tell(row)
        trackio.log(dict(flat(row)), step=row["step"])

    trackio.init(project=recipe.track, name=recipe.name)
    try:
        yield both
    finally:
        trackio.finish()


def flat(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """
    >>> dict(flat({"step": 3, "regret": {"arena dev": 4.5}, "warnings": [], "auroc": None}))
    {'regret/arena dev': 4.5}
    """
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name}/")
        elif isinstance(value, int | float) and name != "step":
            yield before + name, value
