"""Makes the turns of a run before the run, on a machine that needs no GPU."""

from __future__ import annotations

import time
from pathlib import Path

from chaosops.policies.llm.pretrained import load_tokenizer
from chaosops.training.batches import Position, batch_stream, open_windows, progress_at
from chaosops.training.encoder import Encoder, open_pool
from chaosops.training.own_play import require_played
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.tracking import Tell
from chaosops.workers import HERE, Engine


def make_turns(
    recipe: Recipe, base: Path, turns: Path, *, engine: Engine = HERE, tell: Tell = lambda row: None
) -> None:
    require_played(recipe)
    encoder = Encoder.of(load_tokenizer(str(base)), str(base))
    started, tokens = time.monotonic(), 0
    with open_pool(engine, encoder) as pool:
        windows = open_windows(recipe, encoder, pool, turns, ProcessGroup())
        for _, following, batch in batch_stream(windows, None, Position()):
            tokens += sum(len(turn.prompt) for turn in batch)
            speed = tokens / (time.monotonic() - started)
            done = progress_at(recipe, following)
            tell({"step": following.step, "done": done, "tokens_per_s": speed})
