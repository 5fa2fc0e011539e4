"""Commands that play a pack in real time, and what they ask for first."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.cli.options import HERE, EngineOptions
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.live.needs import keep_off_company
from chaosops.packs import load_pack
from chaosops.world.real_time import permit_real_time


def permit_company(core: int | None = None) -> None:
    permit_real_time()
    keep_off_company(core)


def permit_one(scenario: Scenario, players: Sequence[str] = ("",)) -> None:
    """For a command that plays the episode that the user named."""
    if load_pack(scenario.pack).real_time:
        if len(players) > 1:
            raise BadInput(f"pack {scenario.pack} plays one episode at a time; leave out --versus")
        permit_company()


def permit_matrix(pack: str, *, is_little: bool, where: EngineOptions) -> None:
    """For an evaluation, whose defaults would take days."""
    if not load_pack(pack).real_time:
        return
    if not is_little:
        raise BadInput(
            f"pack {pack} plays about one episode a minute: name --seeds and --policies, such as "
            "--seeds 5 --policies heuristic,auditor"
        )
    if where != HERE:
        raise BadInput(
            f"pack {pack} plays on this machine and in this process; leave out --workers, --ray "
            "and --gpus"
        )
    permit_company()
