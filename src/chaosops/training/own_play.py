"""Episodes that a policy has played, as the way to turns that are trained on.

The behaviour policy makes other mistakes than the model. It never tries the same wrong remedy six
times, so its turns teach nothing about that. With ``played`` every second episode goes the way
that the model went, and what is learned at each of its turns is again the counterfactual return
of every action (DAgger: Ross, Gordon and Bagnell, 2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.evaluation.results import JOURNAL_NAME
from chaosops.evaluation.stored import read_journal
from chaosops.packs import load_pack, make_scenario
from chaosops.training.recipe import Recipe
from chaosops.training.seeds import VALIDATION_SEEDS
from chaosops.wire.decisions import read_decision
from chaosops.wire.episodes import decision_of_turn

_TURNS = 24  # per episode: a team that is stuck repeats itself


class Played(NamedTuple):
    scenario: Scenario
    turns: tuple[Mapping[str, Any], ...]  # decisions as a journal has them

    def envs(self, env: Env) -> Iterator[Env]:
        """The world at each turn. ``env`` is at the start of the scenario."""
        for wire in self.turns:
            if env.over:
                return
            yield env
            decision, _ = read_decision(wire, env.view)
            env.play(decision)


def played_at(recipe: Recipe, index: int) -> Played | None:
    """What was played in an episode of a run; None if the behaviour policy plays it."""
    if not recipe.played or index < 0 or index % 2:
        return None
    known = _episodes(recipe.played, recipe.pack, recipe.split)
    return known[index // 2 % len(known)]


def require_played(recipe: Recipe) -> None:
    """Refuse a folder that cannot be trained on, before anything is loaded."""
    if recipe.played:
        _episodes(recipe.played, recipe.pack, recipe.split)


def digest_of(folder: str) -> str:
    """What the turns of a run depend on."""
    digest = blake2b(digest_size=8)
    for path in _journals(folder):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _journals(folder: str) -> list[Path]:
    """Of an evaluation, or of the evaluations in a folder."""
    at = Path(folder)
    found = [at / JOURNAL_NAME, *sorted(at.glob(f"*/{JOURNAL_NAME}"))]
    found = [path for path in found if path.is_file()]
    if not found:
        raise BadInput(
            f"played = '{folder}': no {JOURNAL_NAME} there; name the --out of a chaosops eval, or "
            "a folder of several"
        )
    return found


@cache
def _episodes(folder: str, pack: str, split: str) -> list[Played]:
    """One of each journal in turn, so that a run meets all tiers from its first update on."""
    rounds = zip_longest(*(_read(path, pack, split) for path in _journals(folder)))
    return [played for each in rounds for played in each if played]


def _read(path: Path, pack: str, split: str) -> Iterator[Played]:
    header, lines = read_journal(path)
    hashes = {name: of["hash"] for name, of in header["job"]["packs"].items()}
    if hashes != {pack: load_pack(pack).content_hash()}:
        raise BadInput(f"{path} was not played in today's pack {pack}; play it again")
    for line in lines:
        told = line.get("scenario", {})  # a line that cannot be read is empty
        if told.get("split") != split or told.get("seed") in VALIDATION_SEEDS:
            raise BadInput(
                f"{path} holds seed {told.get('seed')} of split {told.get('split')}, which this "
                f"recipe must not train on; play --split {split} with other seeds"
            )
        scenario = make_scenario(pack=pack, split=split, tier=told["tier"], seed=told["seed"])
        turns = map(decision_of_turn, line["turns"][:_TURNS])
        # What was believed and written is not needed, and would take most of the memory.
        yield Played(scenario, tuple({"action": turn["action"]} for turn in turns))
