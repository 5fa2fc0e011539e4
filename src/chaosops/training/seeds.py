"""The seeds of training and of validation, which never overlap."""

from __future__ import annotations

from chaosops.core.errors import BadInput

VALIDATION_SEEDS = range(2_000_000, 2_100_000)  # never trained on, in any split or pack
PROBE_EPISODES = range(-12, 0)  # before a recipe's first episode, so never trained on
LEAST_FIRST_SEED = -PROBE_EPISODES.start  # so that no probe has a seed below 0


def seed_of(first_seed: int, episode: int) -> int:
    """The seed of a recipe's episode. Every seed of a run is computed here."""
    seed = first_seed + episode
    if seed in VALIDATION_SEEDS:
        raise BadInput(_refusal(first_seed, f"episode {episode:,} of the run"))
    return seed


def require_apart(first_seed: int, episodes: int) -> None:
    """Refuse a run whose episodes could reach the validation seeds."""
    last = first_seed + episodes
    begins_before_its_end = first_seed + PROBE_EPISODES.start < VALIDATION_SEEDS.stop
    if begins_before_its_end and last > VALIDATION_SEEDS.start:
        raise BadInput(_refusal(first_seed, f"a run of up to {episodes:,} episodes"))


def _refusal(first_seed: int, what: str) -> str:
    start, stop = VALIDATION_SEEDS.start, VALIDATION_SEEDS.stop
    return (
        f"first_seed = {first_seed}: {what} would train on the validation seeds {start} to "
        f"{stop - 1}; lower first_seed, raise it to {stop + LEAST_FIRST_SEED}, or set episodes"
    )
