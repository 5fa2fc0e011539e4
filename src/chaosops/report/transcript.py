"""An episode as text a person can follow."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.episode import Episode, Turn
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import role_on_turn

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


def deed_words(turn: Turn, width: int) -> str:
    """What a role did, cut to a width."""
    text = str(turn.decision.action).replace("\n", " ")
    if turn.decision.action.verb == "communicate":
        text = f'"{text}"'
    return text if len(text) <= width else text[: width - 1] + "…"


def turn_line(turn: Turn, width: int = 36) -> str:
    return (
        f"{turn.events.step:>3}  {turn.role.value:<10}{deed_words(turn, width):<{width}}"
        f"{turn.score.total:>+8.1f}  {outcome_words(turn)}"
    ).rstrip()


def header_line(episode: Episode) -> str:
    """Who plays what; the failure is not named before the end."""
    return f"{scenario_line(episode.scenario)} · {episode.team}"


def scenario_line(scenario: Scenario) -> str:
    split = f" {scenario.split}" if scenario.split else ""
    where = f"{scenario.pack}{split} · {scenario.tier}"
    return f"{where} · seed {scenario.seed} · at most {scenario.limit} steps"


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
        f"it was {episode.cause}: {state}, {rogue}, {mistakes}",
        f"reward {episode.reward:+.1f} ({rubrics})",
    ]


def transcript(episode: Episode) -> str:
    lines = [header_line(episode), ""]
    lines += [turn_line(turn) for turn in episode.turns]
    return "\n".join([*lines, "", *closing_lines(episode)])


def versus_transcript(episodes: Sequence[Episode], width: int = 28) -> str:
    """Several teams on one incident, turn by turn side by side."""
    column = width + 31
    lines = [
        scenario_line(episodes[0].scenario),
        "",
        " " * 15 + "".join(episode.team.ljust(column) for episode in episodes).rstrip(),
    ]
    for i in range(max(episode.steps for episode in episodes)):
        cells = []
        for episode in episodes:
            cell = ""
            if i < episode.steps:
                turn = episode.turns[i]
                deed = deed_words(turn, width)
                cell = f"{deed:<{width}}{turn.score.total:>+7.1f}  {outcome_words(turn)}"
            cells.append(cell.ljust(column))
        lines.append(f"{i + 1:>3}  {role_on_turn(i).value:<10}{''.join(cells)}".rstrip())
    for episode in episodes:
        lines += ["", *(f"{episode.team}: {line}" for line in closing_lines(episode))]
    return "\n".join(lines)
