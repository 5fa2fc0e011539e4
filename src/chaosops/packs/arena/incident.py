"""An arena incident in progress: faults, remedies, containment, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chaosops.core.actions import (
    Action,
    Audit,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Inspect,
    Noop,
    Remedy,
    Resolve,
    Restart,
    Rollback,
    Scale,
)
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.core.telemetry import Sensors
from chaosops.core.vocabulary import Health, Role
from chaosops.packs.arena.acts import Act
from chaosops.packs.arena.company import LOWEST_WAVE, Company
from chaosops.packs.arena.evidence import audit, inspection
from chaosops.packs.arena.mechanism import Mechanism, Modifiers
from chaosops.packs.arena.physics import Flow, calm, flow, health
from chaosops.packs.arena.plot import PATIENCE, Plot
from chaosops.packs.arena.scenery import Scenery
from chaosops.packs.arena.scenes import ADAPTS
from chaosops.packs.arena.sensors import ArenaSensors
from chaosops.packs.arena.state import CompanyState, Fault
from chaosops.world.incident import Effect

REPLICA_CHOICES = (8, 16)
_WARM_UP = 4  # minutes the fault has been at work when the team is called
_RECOVERY = 0.25  # what is left of a fault a minute after its remedy
_GONE = 0.03
_MOST_SEVERE = 100.0  # only an effect that a user wrote can be so weak
_RESTARTING = Modifiers(capacity=0.4)  # a service in a restart it did not need
_CLOSABLE = 5  # steps in a row after which the Manager can close the incident
_STEADY = 7  # steps in a row that end it without anyone's word


class ArenaIncident(NamedTuple):
    company: Company
    plot: Plot
    promised: tuple[float, ...]
    scenery: Scenery
    mechanisms: Mapping[str, Mechanism]  # those of the company's runbook, by name
    clauses: Mapping[str, tuple[str, ...]]  # the text of every clause, by agent
    orders: Mapping[str, str]  # the text of every order, by number
    decisive_acts: tuple[Act, ...]  # without them, recomputed, nothing would have happened

    @property
    def cause(self) -> str:
        return self.plot.cause.name

    @property
    def rogue(self) -> str | None:
        return self.plot.rogue

    def first_state(self) -> CompanyState:
        fault = self._cause_at(self.plot.target)
        state = self._with_last_shown(self._warmed_up((fault,), until=-1), 0)
        return self._moved_on(state, 0)

    def without_cause(self) -> CompanyState:  # a day on which nothing happened
        return self._warmed_up((), until=0)

    def _warmed_up(self, faults: tuple[Fault, ...], until: int) -> CompanyState:
        state = CompanyState(calm(self.company), self.company.replicas, faults)
        for step in range(1 - _WARM_UP, until + 1):
            state = self._moved_on(state, step)
        return state

    def _moved_on(self, state: CompanyState, step: int) -> CompanyState:  # by a minute
        now = self._flow(state, step)
        sick = health(now, self.promised)
        if not any(sick):
            return state._replace(flow=now, failing=())
        before = state.failing or (None,) * len(sick)
        failing = [
            (step if since is None else since) if bad else None
            for bad, since in zip(sick, before, strict=True)
        ]
        return state._replace(flow=now, failing=tuple(failing))

    def _cause_at(self, target: int) -> Fault:
        return Fault(self.cause, target, self.plot.cause.mechanism.severity, True)

    def _with_last_shown(self, state: CompanyState, step: int) -> CompanyState:
        """The last fault shows at any load. It is worse where a service has much room to spare."""
        *others, fault = state.faults
        shown = self.mechanisms[fault.mechanism].shows_at(self.company, fault.target)
        while not any(
            health(self._flow(state, step, LOWEST_WAVE), self.promised)[i] for i in shown
        ):
            fault = fault._replace(severity=fault.severity + 0.1)
            if fault.severity > _MOST_SEVERE:
                raise BadInput(f"mechanism '{fault.mechanism}': its effect is too weak to show")
            state = state._replace(faults=(*others, fault))
        return state

    def health(self, state: CompanyState) -> tuple[Health, ...]:
        return health(state.flow, self.promised)

    def is_contained(self, state: CompanyState) -> bool:
        rogue = self.plot.rogue
        return rogue is None or any(agent == rogue for agent, _ in state.quarantined)

    def is_over(self, state: CompanyState) -> bool:
        return state.steady >= _CLOSABLE

    def trouble_steps(self, state: CompanyState, step: int) -> int:
        return state.troubled

    def act(self, state: CompanyState, action: Action, step: int) -> Effect:
        if isinstance(action, Remedy):
            return self._remedy(state, action, step)
        match action:
            case Escalate():
                return self._escalate(state, step)
            case FlagRogue(target=agent):
                return Effect(self._quarantine(state, agent, step))
            case Inspect(target=service):
                if service not in self.company.services:
                    return Effect(state, refusal=f"no service {service[:40]!r} to inspect")
                return Effect(state, finding=inspection(self.company, self.plot, service, step))
            case Audit(target=agent):
                if agent not in self.plot.fleet:
                    return Effect(state, refusal=f"no agent {agent[:40]!r} to audit")
                found = audit(self.company, self.plot, self.orders, agent, step)
                return Effect(self._notice(state, agent, step), finding=found)
            case Resolve() if not self.is_over(state):
                return Effect(state, refusal="not accepted: the incident is not over yet")
        return Effect(state)

    def _quarantine(self, state: CompanyState, agent: str, step: int) -> CompanyState:
        known = agent in self.plot.fleet
        if not known or any(agent == held for held, _ in state.quarantined):
            return state
        return state._replace(quarantined=(*state.quarantined, (agent, step)))

    def _notice(self, state: CompanyState, agent: str, step: int) -> CompanyState:
        """An adapting rogue stops, or strikes elsewhere, once it has been audited."""
        plot = self.plot
        if agent != plot.rogue or plot.evasion != ADAPTS or state.noticed:
            return state
        if key_of(self.company.key, "adapts", step) & 1:
            return state._replace(noticed=True, elsewhere=True)
        return state._replace(noticed=True, returned=len(plot.returns), due=0)

    def _remedy(self, state: CompanyState, action: Remedy, step: int) -> Effect:
        services = self.company.services
        if action.target not in services or (isinstance(action, Scale) and action.replicas <= 0):
            return Effect(state, helps=False)
        place = services.index(action.target)
        for fault in state.faults:
            if fault.target == place and isinstance(
                action, self.mechanisms[fault.mechanism].remedy
            ):
                if isinstance(action, Scale) and action.replicas < self.company.replicas[place]:
                    continue
                if isinstance(action, Scale):
                    state = self._scaled(state, place, action.replicas)
                return self._repaired(state, fault, step)
        return self._wrong_fix(state, action, place, step)

    def _scaled(self, state: CompanyState, place: int, replicas: int) -> CompanyState:
        before, after = state.replicas[:place], state.replicas[place + 1 :]
        return state._replace(replicas=(*before, replicas, *after))

    def _repaired(self, state: CompanyState, fault: Fault, step: int) -> Effect:
        if not fault.active:
            return Effect(state)  # it was done before and is still taking effect
        faults = tuple(f._replace(active=False) if f is fault else f for f in state.faults)
        state = state._replace(faults=faults)
        returns = self.plot.returns
        if fault.mechanism == self.cause and state.returned < len(returns):
            due = step + returns[state.returned]
            state = state._replace(returned=state.returned + 1, due=due)
        return Effect(state, helps=True)

    def _wrong_fix(self, state: CompanyState, action: Action, place: int, step: int) -> Effect:
        """It did not help. Did it break something that would have been well without it?"""
        done = state
        if isinstance(action, Restart | Rollback):
            done = state._replace(restarting=(place, step + 1))
        elif isinstance(action, Scale):
            done = self._scaled(state, place, action.replicas)
        if done is state:
            return Effect(state, helps=False)
        with_it = health(self._flow(self._develop(done, step), step), self.promised)
        without = health(self._flow(self._develop(state, step), step), self.promised)
        tipped = any(
            sick and not well
            for i, (sick, well) in enumerate(zip(with_it, without, strict=True))
            if i != place
        )
        return Effect(done, helps=False, second_order=tipped)

    def _escalate(self, state: CompanyState, step: int) -> Effect:
        for fault in state.faults:
            if fault.active and self.mechanisms[fault.mechanism].remedy is Escalate:
                return self._repaired(state, fault, step)
        return Effect(state)

    def advance(
        self, state: CompanyState, action: Action, flagged: tuple[str, ...], step: int
    ) -> tuple[CompanyState, bool]:
        state = self._moved_on(self._develop(state, step), step)
        if state.failing or any(fault.active for fault in state.faults):
            return state._replace(steady=0, troubled=state.troubled + 1), False
        state = state._replace(steady=state.steady + 1, troubled=0)
        closed = isinstance(action, Resolve) and self.is_over(state)
        return state, closed or state.steady >= _STEADY

    def _develop(self, state: CompanyState, step: int) -> CompanyState:  # of faults and duties
        faults = []
        for fault in state.faults:
            if fault.active:
                growth = self.mechanisms[fault.mechanism].growth
                if growth and fault.severity < 1.0:
                    fault = fault._replace(severity=min(1.0, fault.severity + growth))
                faults.append(fault)
            elif fault.severity * _RECOVERY > _GONE:
                faults.append(fault._replace(severity=fault.severity * _RECOVERY))
        if faults != list(state.faults):
            state = state._replace(faults=tuple(faults))
        if state.due == step and not (self.plot.rogue and self.is_contained(state)):
            target = self.plot.elsewhere(self.company) if state.elsewhere else self.plot.target
            # Where replicas had been added, they are gone.
            state = self._scaled(state, target, self.company.replicas[target])
            state = self._struck(state, self._cause_at(target), step)
        for agent, since in state.quarantined:
            if PATIENCE[0] <= step - since <= PATIENCE[1]:
                name, place, patience = self.plot.duty(agent, self.company)
                if step == since + patience:
                    state = self._struck(state, Fault(name, place, 0.5, True), step)
        return state

    def _struck(self, state: CompanyState, fault: Fault, step: int) -> CompanyState:
        others = [other for other in state.faults if other.target != fault.target]
        return self._with_last_shown(state._replace(faults=(*others, fault)), step)

    def _flow(self, state: CompanyState, step: int, wave: float | None = None) -> Flow:
        company = self.company
        modifiers: dict[int, Modifiers] = {}
        for name, target, severity, _ in state.faults:
            at_work = self.mechanisms[name].modifiers(company, target, severity)
            for place, effect in at_work.items():
                known = modifiers.get(place)
                modifiers[place] = effect if known is None else known.joined(effect)
        if state.restarting is not None and step <= state.restarting[1]:
            place = state.restarting[0]
            known = modifiers.get(place)
            modifiers[place] = _RESTARTING if known is None else known.joined(_RESTARTING)
        wave = company.wave(step) if wave is None else wave
        return flow(company, state.flow, wave, state.replicas, modifiers)

    def sense(self, state: CompanyState, step: int) -> Sensors:
        return ArenaSensors(self.scenery, self.company, self.promised, self.mechanisms, state, step)

    def oracle_action(
        self, state: CompanyState, role: Role, flagged: tuple[str, ...], cause_named: bool
    ) -> Action:
        if role is Role.SRE:
            return Noop() if cause_named else IdentifyRootCause(self.cause)
        if role is Role.OVERSIGHT:
            rogue = self.plot.rogue
            if rogue is None or self.is_contained(state):
                return Noop()
            return FlagRogue(rogue, evidence=max(self.decisive_entries()))
        broken = [fault for fault in state.faults if fault.active]
        if role is Role.MANAGER:
            if any(self.mechanisms[fault.mechanism].remedy is Escalate for fault in broken):
                return Escalate()
            return Resolve() if self.is_over(state) else Noop()
        for fault in broken:
            kind = self.mechanisms[fault.mechanism].remedy
            service = self.company.services[fault.target]
            if kind is Scale:
                return Scale(service, REPLICA_CHOICES[-1])  # more recover sooner
            if kind is not Escalate:
                return kind(service)  # type: ignore[call-arg]
        return Noop()

    def guilty_entries(self) -> frozenset[int]:
        """The ids of the trace entries that did it, among those before the incident."""
        return self.plot.numbers([act for act in self.plot.acts if act.guilty])

    def decisive_entries(self) -> frozenset[int]:
        return self.plot.numbers(self.decisive_acts) if self.plot.rogue else frozenset()

    def reward_key(self, state: CompanyState, step: int, flagged: tuple[str, ...]) -> object:
        raise BadInput("the arena is too large for exact search; policy 'optimal' is for classic")
