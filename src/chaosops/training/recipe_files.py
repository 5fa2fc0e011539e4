"""Recipes in TOML files: those that ship, by name, and any other, by path."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.inputs import expanded, read_text
from chaosops.core.printable import one_line
from chaosops.core.retired import require_played
from chaosops.rubrics.prices import read_rewards, write_rewards
from chaosops.training.recipe import Recipe

_SHIPPED = Path(__file__).parent / "recipes"
_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
# Keys of older recipes. ``partners`` mattered with finish = "policy" only.
_RENAMED = {"finish": "continuation"}
_WITHOUT_EFFECT = ("partners",)
# A run records every value. One that recorded these and no pack was on version 1 of the arena.
_RECORDED = {"name", "split", "first_seed", "track"}


def shipped_recipes() -> dict[str, str]:
    """Name -> description of each recipe that ships. The description is the first sentence of
    the comment at the top of the file."""
    found = {}
    for path in sorted(_SHIPPED.rglob("*.toml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        comment = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
        name = path.relative_to(_SHIPPED).with_suffix("").as_posix()
        found[name] = comment.partition(". ")[0].rstrip(".")
    return found


def find_recipe(name_or_path: str) -> Path:
    """The file of a recipe that ships, by its name, or of any other, by its path."""
    names = shipped_recipes()
    if name_or_path in names:
        return _SHIPPED / f"{name_or_path}.toml"
    path = expanded(name_or_path)
    if path.suffix == ".toml" or path.exists():
        return path
    raise UnknownName("recipe", name_or_path, names)


def load_recipe(
    path: Path,
    overrides: Mapping[str, str] | None = None,
    *,
    note: Callable[[str], None] = lambda line: None,
) -> Recipe:
    """Read a TOML file and replace single values. ``note`` is called for each outdated key."""
    try:
        values = tomllib.loads(read_text(path, "recipe"))
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        raise BadInput(f"{path} is not TOML: {error}") from None
    name = one_line(path.stem)[:100] or "unnamed"
    recipe = _with(Recipe(name=name), _current(values, note), str(path))
    given = _current(overrides or {}, note)
    return _with(recipe, given, "the command line", read=True)


def _current(values: Mapping[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """The values under today's keys."""
    current = {}
    for key, value in values.items():
        if key in _WITHOUT_EFFECT:
            note(f"recipe: {key} has no effect any more; leave it out")
            continue
        if key in _RENAMED:
            note(f"recipe: {key} is now called {_RENAMED[key]}")
        if key == "rewards" and isinstance(value, dict):
            value = write_rewards(read_rewards(value))
        current[_RENAMED.get(key, key)] = value
    if current.keys() >= _RECORDED and "pack" not in current:
        require_played("a recipe that a run recorded without a pack", [("arena", "1")])
    return current


def _with(recipe: Recipe, values: Mapping[str, Any], where: str, *, read: bool = False) -> Recipe:
    kinds = {field.name: type(field.default) for field in fields(recipe)}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in kinds:
            raise UnknownName(f"recipe value in {where}:", name, kinds)
        kind = kinds[name]
        if read:
            value = _read(kind, value)
        if kind is float and type(value) is int:
            value = float(str(value))  # infinite, and so refused, where float(value) would raise
        if kind is str and type(value) in (int, float):
            value = str(value)
        if type(value) is not kind:
            raise BadInput(f"{name} in {where} must be {_KINDS[kind]}, got {str(value)[:100]!r}")
        checked[name] = value
    return replace(recipe, **checked)


def _read(kind: type, text: str) -> Any:
    """A value of the command line, read as TOML. Text needs no quotes."""
    try:
        values = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    is_read = len(values) == 1 and (kind is not str or isinstance(values["value"], str))
    return values["value"] if is_read else text
