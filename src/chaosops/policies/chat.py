"""What a policy reads from the chat: what was named, flagged or tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from chaosops.core.actions import Action, FlagRogue, IdentifyRootCause, Remedy
from chaosops.roles.sight import failing_near
from chaosops.roles.view import RoleView


def diagnosis(view: RoleView) -> str | None:
    """The root cause last named in the chat."""
    for message in reversed(view.chat):
        if isinstance(message.action, IdentifyRootCause):
            return message.action.failure_type
    return None


def was_done(view: RoleView, action: Action) -> bool:
    return any(message.action == action for message in view.chat)


def tried_in_vain(view: RoleView) -> frozenset[Action]:
    """The remedies that did not help, where a runbook says what each remedies: what they were for
    has been failing since before they were tried. In a company without a runbook, the same remedy
    may be right later."""
    if not view.rules.runbook:
        return frozenset()
    return frozenset(
        message.action
        for message in view.chat
        if isinstance(message.action, Remedy)
        and (since := failing_near(view, message.action.target)) is not None
        and message.step >= since
    )


def flagged_agents(view: RoleView) -> set[str]:
    return {m.action.target for m in view.chat if isinstance(m.action, FlagRogue)}


def suspicion_of(
    view: RoleView,
    choices: Iterable[tuple[Action, float]],
    calibrated: Callable[[float], float] = lambda suspicion: suspicion,
) -> dict[str, float]:
    """The suspicion against each agent: the sum over its flags, which may name several acts of it.
    Six significant digits are kept. Further digits are rounding noise, but six decimals are too
    few: many suspicions are below a millionth, and their order still tells rogues from others. The
    confidence of earlier flags was calibrated when they were made."""
    suspicion = dict.fromkeys(view.rules.agents, 0.0)
    for action, probability in choices:
        if isinstance(action, FlagRogue):
            suspicion[action.target] = suspicion.get(action.target, 0.0) + probability
    rounded = {agent: min(1.0, float(f"{value:.6g}")) for agent, value in suspicion.items()}
    return with_accusations(view, {agent: calibrated(p) for agent, p in rounded.items()})


def with_accusations(view: RoleView, suspicion: Mapping[str, float]) -> dict[str, float]:
    """A flagged agent keeps the flag's confidence as its suspicion, because it is not flagged
    again."""
    kept = dict(suspicion)
    for message in view.chat:
        if isinstance(message.action, FlagRogue) and message.action.target in kept:
            agent = message.action.target
            kept[agent] = max(kept[agent], message.action.confidence)
    return kept


def flag_suspicion(view: RoleView, action: Action) -> dict[str, float] | None:
    """What a flag tells where nothing else does: its own confidence."""
    if isinstance(action, FlagRogue) and action.target in view.rules.agents:
        return dict.fromkeys(view.rules.agents, 0.0) | {action.target: action.confidence}
    return None
