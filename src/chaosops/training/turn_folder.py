"""Turns that are kept on disk: made once on any machine, and used by many runs.

The turns of a window depend on the recipe and the tokenizer only, and not on the weights. So
they can be made before a GPU is rented, and runs that differ in their seed, their rate or their
objective share them.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_bytes, write_text
from chaosops.core.labels import LABELS
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import load_pack
from chaosops.training.credited_turns import CreditedTurn, FollowUp
from chaosops.training.encoder import Encoder
from chaosops.training.marks import QUESTIONS, Mark
from chaosops.training.own_play import digest_of
from chaosops.training.recipe import Recipe
from chaosops.world.incident import ActReading

# What the turns of a recipe depend on. The size of a run and its batches are among it, because
# some turns change with the progress of the run.
_DECIDES = (
    *("pack", "split", "first_seed", "classic_share", "curriculum", "shuffle_tiers"),
    *("role_shares", "prefixes", "continuation", "rogue_bonus_multiplier", "rewards"),
    *("act_bonus", "cause_bonus", "plain_first", "flag_now", "page_out"),
    *("window", "steps", "episodes", "batch_tokens"),
)
_ROLES, _TIERS = tuple(Role), tuple(Tier)
# What numpy raises for files that are cut off, changed or something else.
_DAMAGED = (
    *(OSError, EOFError, ValueError, TypeError, AttributeError, LookupError),
    *(zipfile.BadZipFile, zlib.error),
)


class TurnFolder:
    """The kept windows of one recipe, in a folder that may hold those of others."""

    def __init__(self, root: Path, recipe: Recipe, encoder: Encoder, processes: int = 1) -> None:
        lines = [f"{name} = {getattr(recipe, name)!r}" for name in _DECIDES]
        packs = {name: load_pack(name).content_hash() for name in recipe.packs}
        lines += [f"reading = {bool(recipe.reading)}", f"packs = {packs}"]
        lines += [f"processes = {processes}", f"encoder = {encoder.key:016x}"]
        lines += [f"played = {digest_of(recipe.played)}"] if recipe.played else []
        text = "\n".join(lines) + "\n"
        self.path = root / f"{key_of('turns', text):016x}"
        open_folder(self.path)
        write_text(self.path / "made_for.txt", text)

    def holds(self, window: int, rank: int) -> bool:
        return self._file(window, rank).is_file()

    def load(self, window: int, rank: int) -> list[CreditedTurn]:
        path = self._file(window, rank)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as table:
                return _turns({name: table[name] for name in table.files})
        except _DAMAGED as error:
            cause = (str(error).splitlines() or [type(error).__name__])[0]
            raise BadInput(f"{path} holds no turns ({cause}); delete it, and run again") from None

    def save(self, window: int, rank: int, turns: Sequence[CreditedTurn]) -> None:
        content = BytesIO()
        np.savez_compressed(content, **_table(turns))
        write_bytes(self._file(window, rank), content.getvalue())

    def _file(self, window: int, rank: int) -> Path:
        return self.path / f"window-{window:05d}-{rank}.npz"


class _Row(NamedTuple):
    """A turn, or what comes after an action of the turn before it."""

    turn: CreditedTurn | None
    label: str = ""
    reward: float = 0.0


def _rows(turns: Sequence[CreditedTurn]) -> Iterator[_Row]:
    for turn in turns:
        yield _Row(turn)
        for label, each in turn.follow_ups.items():
            yield _Row(each.turn, label, each.reward)


def _table(turns: Sequence[CreditedTurn]) -> dict[str, Any]:
    rows = list(_rows(turns))
    found = [row.turn for row in rows if row.turn]
    packs = sorted({turn.pack for turn in found})
    labels = {label: at for at, label in enumerate(LABELS)}
    tokens = np.fromiter(chain.from_iterable(turn.prompt for turn in found), np.uint32)
    marks = [mark for turn in found for mark in turn.marks]
    return {
        "packs": np.array(packs),
        "after": np.array([labels[row.label] if row.label else -1 for row in rows], np.int16),
        "reward": np.array([row.reward for row in rows]),
        "is_turn": np.array([row.turn is not None for row in rows]),
        "role": np.array([_ROLES.index(turn.role) for turn in found], np.uint8),
        "tier": np.array([_TIERS.index(turn.tier) for turn in found], np.uint8),
        "pack": np.array([packs.index(turn.pack) for turn in found], np.uint8),
        "lengths": np.array([len(turn.prompt) for turn in found], np.uint32),
        "tokens": tokens.astype(np.min_scalar_type(int(tokens.max(initial=0)))),
        "choices": np.array([len(turn.returns) for turn in found], np.uint16),
        "choice": np.array([labels[name] for turn in found for name in turn.returns], np.uint16),
        "returns": np.array([value for turn in found for value in turn.returns.values()], float),
        "marks": np.array([len(turn.marks) for turn in found], np.uint16),
        "place": np.array([mark.place for mark in marks], np.uint32),
        "answers": np.array([mark.answers for mark in marks], bool).reshape(-1, len(QUESTIONS)),
    }


def _turns(table: dict[str, Any]) -> list[CreditedTurn]:
    """The turns of a table. Values are Python's own, as if they were just made."""
    found = _each(table)
    turns: list[CreditedTurn] = []
    rows = zip(*(table[name].tolist() for name in ("after", "reward", "is_turn")), strict=True)
    for after, reward, is_turn in rows:
        turn = next(found) if is_turn else None
        if after < 0 and turn:
            turns.append(turn._replace(follow_ups={}))
        else:
            turns[-1].follow_ups[LABELS[after]] = FollowUp(reward, turn)  # type: ignore[index]
    return turns


def _each(table: dict[str, Any]) -> Iterator[CreditedTurn]:
    packs = table["packs"].tolist()
    tokens = table["tokens"].tolist()
    choice, returns = table["choice"].tolist(), table["returns"].tolist()
    marks = [
        Mark(place, ActReading(*answers))
        for place, answers in zip(table["place"].tolist(), table["answers"].tolist(), strict=True)
    ]
    at = chosen = marked = 0
    names = ("role", "tier", "pack", "lengths", "choices", "marks")
    for role, tier, pack, length, choices, asked in zip(
        *(table[name].tolist() for name in names), strict=True
    ):
        some = slice(chosen, chosen + choices)
        yield CreditedTurn(
            (),
            {LABELS[c]: value for c, value in zip(choice[some], returns[some], strict=True)},
            _ROLES[role],
            packs[pack],
            _TIERS[tier],
            prompt=tokens[at : at + length],
            marks=tuple(marks[marked : marked + asked]),
        )
        at, chosen, marked = at + length, chosen + choices, marked + asked
