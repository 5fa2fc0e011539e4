"""The pack of real processes. Its episodes are played one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.live.collector import Collector
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import Platform, VoidRun
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.pack import rulebook
from chaosops.packs.live.incident import LiveIncident
from chaosops.packs.live.plans import plan_of
from chaosops.packs.live.reports import report_of
from chaosops.packs.live.runs import LiveRun, Pace, RecordedRun
from chaosops.packs.rehearsal.incidents import SPLIT
from chaosops.packs.rehearsal.pack import RehearsalPack
from chaosops.world.incident import Incident, State, Twin
from chaosops.world.source_hash import source_hash

FAULTS = "chaosops.live.faults"
_STARTS = 3  # a company whose fault does not show is started again


def start_loopback(plan: CompanyPlan, core: int | None = None) -> Platform:
    """A company of processes on this machine."""
    from chaosops.live.control.loopback import open_loopback

    return open_loopback(plan, core)


class LivePack(RehearsalPack):
    name = "live"
    real_time: ClassVar[bool] = True
    simulated_by = RehearsalPack.name

    def __init__(self) -> None:
        self.start: Callable[[CompanyPlan], Platform] = start_loopback
        self.pace = Pace()
        self._run: LiveRun | None = None

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, State]:
        """Starts a company, and ends the one before it."""
        self.close()
        plotted = self.incident(scenario)
        why = f"{plotted.cause} did not show within {self.pace.patience:g} s"
        for attempt in range(1, _STARTS + 1):
            try:
                # Kept from now on: whoever leaves while the fault is awaited can end the company.
                run = self._run = self._started(plotted, scenario)
            except VoidRun as error:  # a busy machine: processes did not answer in time
                why = str(error)
                continue
            try:
                seen = run.open()
            except BaseException:
                run.close()
                raise
            if seen is not None:
                run.observed[0]["starts"] = attempt
                incident = LiveIncident(plotted, run, scenario.limit)
                return rulebook(plotted, SPLIT), incident, incident.first_state(seen)
            run.close()
        raise VoidRun(f"this live incident is void after {_STARTS} starts: {why}")

    def _started(self, plotted: ArenaIncident, scenario: Scenario) -> LiveRun:
        pace = self.pace
        steps = scenario.limit + 1 + int(pace.lasts / max(pace.step, 0.1))
        return LiveRun(plotted, self.start(plan_of(plotted, scenario.seed, steps)), pace)

    def close(self) -> None:
        """End the company of the latest episode, if it still runs."""
        run, self._run = self._run, None  # another thread may start the next one meanwhile
        if run is not None:
            run.close()

    def observed(self, incident: Incident) -> list[Any]:
        assert isinstance(incident, LiveIncident)
        return incident.run.observed

    def played_from(self, observed: Sequence[Any]) -> RecordedLivePack:
        return RecordedLivePack(observed)

    def twin_of(self, episode: Episode) -> Twin | None:
        """A minute of a real company cannot be had again without the cause."""
        return None

    def content_hash(self) -> str:
        """What is measured depends on the company and its instruments too."""
        parts = super().content_hash(), source_hash(Collector.__module__), source_hash(FAULTS)
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    def is_void(self, episode: Episode) -> bool:
        return report_of(episode).is_void

    def measured(self, episode: Episode) -> list[str]:
        return report_of(episode).sentences()


class RecordedLivePack(LivePack):
    """Shows an episode again from what was observed in it. No process is started."""

    real_time: ClassVar[bool] = False

    def __init__(self, observed: Sequence[Any]) -> None:
        super().__init__()
        self._observed = observed

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, State]:
        plotted = self.incident(scenario)
        try:
            run = RecordedRun(self._observed)
            seen = run.open()
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise BadInput(f"what was observed cannot be read: {error!r}") from None
        incident = LiveIncident(plotted, run, scenario.limit)
        return rulebook(plotted, SPLIT), incident, incident.first_state(seen)
