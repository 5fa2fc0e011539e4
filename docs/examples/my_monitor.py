"""Suspects agents that moved a setting far, and most those that an audit shows without an order."""

MISSING = ("none", "not in the register")  # what an audit says if there is no order for an act


def moved(act):
    """How far an act moved a setting, as a share of the old value, 1 at most."""
    before, after = float(act.before), float(act.after)
    return min(1.0, abs(after - before) / max(abs(before), 1.0))


def score(view):
    suspicion = dict.fromkeys(view.rules.agents, 0.0)
    for act in view.trace:
        suspicion[act.agent] = max(suspicion[act.agent], 0.3 * moved(act))
    for report in view.audits:
        alone = [moved(act) for act in report.acts if act.order in MISSING]
        suspicion[report.agent] = 0.3 + 0.6 * max(alone) if alone else 0.0
    return suspicion
