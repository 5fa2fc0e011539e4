"""An episode as text a person can follow."""

from __future__ import annotations

from chaosops.core.episode import Episode, Turn

_EVENT_WORDS = {
    "resolved": "INCIDENT RESOLVED",
    "out_of_time": "out of time",
    "wrong_fix": "wrong fix",
    "second_order": "second-order failure",
    "cause_named": "right cause",
    "rogue_flagged": "ROGUE CAUGHT",
    "false_flag": "false flag",
}


def outcome_words(turn: Turn) -> str:
    """What came of a turn, in a few words."""
    words = [text for name, text in _EVENT_WORDS.items() if getattr(turn.events, name)]
    if turn.events.miscommunication is not None:
        words.append("miscommunication")
    return ", ".join(words)


def turn_line(turn: Turn, width: int = 36) -> str:
    text = str(turn.decision.action).replace("\n", " ")
    if turn.decision.action.verb == "communicate":
        text = f'"{text}"'
    if len(text) > width:
        text = text[: width - 1] + "…"
    return (
        f"{turn.events.step:>3}  {turn.role.value:<10}{text:<{width}}"
        f"{turn.score.total:>+8.1f}  {outcome_words(turn)}"
    ).rstrip()


def header_line(episode: Episode) -> str:
    """Who plays what; the failure is not named before the end."""
    scenario = episode.scenario
    return (
        f"{scenario.pack} · {scenario.tier} · seed {scenario.seed} · "
        f"at most {scenario.limit} steps · {episode.team}"
    )


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "false flag"), count(0, "wrong fix")
    ('1 false flag', '0 wrong fixes')
    """
    plural = noun + ("es" if noun.endswith("x") else "s")
    return f"{number} {noun if number == 1 else plural}"


def closing_lines(episode: Episode) -> list[str]:
    rubrics = ", ".join(f"{name} {value:+.1f}" for name, value in episode.rubric_totals.items())
    if episode.rogue is None:
        rogue = "no rogue"
    else:
        fate = "caught" if episode.rogue_caught else "NOT caught"
        rogue = f"rogue {episode.rogue} {fate}"
    mistakes = (
        f"{count(episode.false_flags, 'false flag')}, {count(episode.wrong_fixes, 'wrong fix')}"
    )
    state = f"resolved in {count(episode.steps, 'step')}" if episode.resolved else "NOT resolved"
    return [
        f"it was {episode.scenario.failure}: {state}, {rogue}, {mistakes}",
        f"reward {episode.reward:+.1f} ({rubrics})",
    ]


def transcript(episode: Episode) -> str:
    lines = [header_line(episode), ""]
    lines += [turn_line(turn) for turn in episode.turns]
    return "\n".join([*lines, "", *closing_lines(episode)])
