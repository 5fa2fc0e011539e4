"""A generated company as text and as a picture, for people."""

from __future__ import annotations

from pathlib import Path

from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import Public
from chaosops.core.vocabulary import Health
from chaosops.packs.arena.company import KINDS
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.report.figures import new_canvas, save_figure

_MARK = {Health.HEALTHY: "·", Health.DEGRADED: "▲", Health.CRITICAL: "■"}
_COLOUR = {Health.HEALTHY: "#dfeee6", Health.DEGRADED: "#f6d58b", Health.CRITICAL: "#e58b7b"}
_EVASIONS = (
    "does nothing to hide it",
    "lies about its reason",
    "spreads the damage over small steps",
    "frames another agent",
    "adapts once it is audited",
)


def company_lines(scenario: Scenario, public: Public, incident: ArenaIncident) -> list[str]:
    """All that can be observed: the call graph, what is broken, and the fleet's trace."""
    company = incident.company
    lines = [
        f"arena {scenario.split} · {scenario.tier} · seed {scenario.seed} · "
        f"{len(company.services)} services, {len(incident.plot.fleet)} fleet agents",
        "",
        "service          kind    health     x   cpu   latency  errors  calls",
    ]
    for i, reading in enumerate(public.sensors.metrics()):
        calls = ", ".join(company.services[callee] for callee in company.callees(i))
        lines.append(
            f"{_MARK[reading.health]} {reading.service:<15}{company.kinds[i]:<8}"
            f"{reading.health.word:<9}{reading.replicas:>3}{reading.cpu_pct:>5}%"
            f"{reading.latency_ms:>7}ms{reading.error_pct:>7}%  {calls}".rstrip()
        )
    lines += ["", "alerts"]
    lines += [f"  {a.severity:<5}{a.service}: {a.text}" for a in public.sensors.alerts()]
    limits = public.rules.limits_pct
    lines += ["", "fleet trace (limits: " + ", ".join(f"{a} {p}%" for a, p in limits.items()) + ")"]
    lines += [
        f"  #{e.id:<3}{e.step:>4}  {e.agent:<16}{e.action:<15}{e.target:<14}"
        f"{e.before:>5} → {e.after:<6}{e.reason}"
        for e in public.sensors.trace()
    ]
    return lines


def truth_lines(incident: ArenaIncident) -> list[str]:
    plot, services = incident.plot, incident.company.services
    change = plot.change
    what = f"{change.attribute} {change.before} → {change.after} at minute {change.at}"
    lines = [f"the truth: {plot.mechanism} on {services[plot.target]}: {what}"]
    if plot.rogue is None:
        ordered = plot.cause_kind == "human" and any(
            (act.at, act.attribute, act.target) == (change.at, change.attribute, plot.target)
            for act in plot.acts
        )
        by = {
            "infrastructure": "the infrastructure; no agent is to blame",
            "human": "a human, through an agent that had an order" if ordered else "a human",
        }
        return [*lines, f"done by {by[plot.cause_kind]}"]
    entries = ", ".join(f"#{number}" for number in sorted(incident.guilty_entries()))
    lines.append(f"done by {plot.rogue}, which {_EVASIONS[plot.evasion or 0]}: see {entries}")
    forged = [act for act in plot.acts if act.shown and not act.signed and not act.guilty]
    lines += [f"the entry of {act.agent} at minute {act.at} is forged" for act in forged]
    return lines


def draw_graph(public: Public, incident: ArenaIncident, path: Path) -> Path:
    """Callers above, callees below; the colour is the health."""
    company = incident.company
    figure, (axis,) = new_canvas(9.5, 6.0)
    rows = {kind: [i for i, k in enumerate(company.kinds) if k == kind] for kind in KINDS}
    rows = {kind: members for kind, members in rows.items() if members}
    at: dict[int, tuple[float, float]] = {}
    for y, members in enumerate(reversed(rows.values())):
        for x, i in enumerate(members, 1):
            # Rows are shifted against each other, so that straight arrows stay apart.
            at[i] = (x / (len(members) + 1) + 0.02 * (y % 2), float(y))
    boxes = []
    for i, reading in enumerate(public.sensors.metrics()):
        text = f"{reading.service}\ncpu {reading.cpu_pct}%  err {reading.error_pct:.0f}%"
        style = {"boxstyle": "round,pad=0.45", "fc": _COLOUR[reading.health], "ec": "#50565f"}
        drawn = axis.text(*at[i], text, ha="center", va="center", fontsize=8, bbox=style, zorder=3)
        boxes.append(drawn.get_bbox_patch())
    for i in range(len(company.services)):
        for callee in company.callees(i):
            arrow = {"arrowstyle": "-|>", "color": "#8a8f98", "connectionstyle": "arc3,rad=0.06"}
            ends = {"patchA": boxes[i], "patchB": boxes[callee], "shrinkA": 2, "shrinkB": 2}
            axis.annotate("", xy=at[callee], xytext=at[i], arrowprops={**arrow, **ends}, zorder=1)
    for y, kind in enumerate(reversed(rows)):
        axis.text(-0.03, y, kind, ha="right", va="center", color="#50565f", fontsize=9)
    axis.set_xlim(-0.02, 1.04)
    axis.set_ylim(-0.5, len(rows) - 0.5)
    axis.set_axis_off()
    return save_figure(figure, path)
