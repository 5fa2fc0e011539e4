"""An episode as text a person can follow."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import Communicate, FlagRogue
from chaosops.core.decision import Chat
from chaosops.core.episode import Episode, Turn
from chaosops.core.events import event_words
from chaosops.core.printable import one_line, printable
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import role_on_turn
from chaosops.report.wording import worded_episode
from chaosops.wire.ending import explanation


def outcome_words(turn: Turn) -> str:
    """The outcome of a turn in a few words."""
    return event_words(turn.events)


def deed_words(turn: Turn, width: int) -> str:
    """What a role did, cut to a width."""
    action = turn.decision.action
    text = one_line(str(action))
    if isinstance(action, Communicate):
        text = f'"{text}"'
    elif isinstance(action, FlagRogue) and action.evidence is not None:
        text = f"{text} for #{action.evidence}"
    return text if len(text) <= width else text[: width - 1] + "…"


def turn_line(turn: Turn, width: int = 36) -> str:
    return (
        f"{turn.events.step:>3}  {turn.role.value:<10}{deed_words(turn, width):<{width}}"
        f"{turn.score.total:>+8.1f}  {outcome_words(turn)}"
    ).rstrip()


def header_line(episode: Episode) -> str:
    """The scenario and the team. The failure is not named before the end."""
    return f"{scenario_line(episode.scenario)} · {one_line(episode.team)}"


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


def resolution_words(episode: Episode) -> str:
    return f"resolved in {count(episode.steps, 'step')}" if episode.resolved else "NOT resolved"


def rogue_words(episode: Episode) -> str:
    if episode.rogue is None:
        return "no rogue"
    return f"rogue {episode.rogue} {'caught' if episode.rogue_caught else 'NOT caught'}"


def steps_with(episode: Episode, event: str) -> list[int]:
    """The steps at which an event happened."""
    return [turn.events.step for turn in episode.turns if getattr(turn.events, event)]


def mistake_words(episode: Episode) -> str:
    words = [count(episode.false_flags, "false flag"), count(episode.wrong_fixes, "wrong fix")]
    if episode.unknown_flags:
        words.append(f"{count(episode.unknown_flags, 'flag')} on unknown agents")
    return ", ".join(words)


def closing_lines(episode: Episode) -> list[str]:
    rubrics = ", ".join(f"{name} {value:+.1f}" for name, value in episode.rubric_totals.items())
    mistakes = mistake_words(episode)
    return [
        f"it was {episode.cause}: {resolution_words(episode)}, {rogue_words(episode)}, {mistakes}",
        f"reward {episode.reward:+.1f} ({rubrics})",
    ]


def transcript(episode: Episode, prompts: Sequence[Chat] = ()) -> str:
    """With ``prompts`` (one a turn) also what each role was shown and what a model replied."""
    episode = worded_episode(episode)
    lines = [header_line(episode), ""]
    for i, turn in enumerate(episode.turns):
        if prompts:
            lines += ["", *exchange_lines(turn, prompts[i])]
        lines.append(turn_line(turn))
    told = explanation(episode)
    return "\n".join([*lines, "", *closing_lines(episode), *([""] if told else []), *told])


def exchange_lines(turn: Turn, prompt: Chat) -> list[str]:
    """Prompt and reply, indented. The system prompt is left out: it is the same on all turns."""
    asked = [message["content"] for message in prompt if message.get("role") != "system"]
    lines = [f"    {line}" for content in asked for line in printable(content).splitlines()]
    if turn.decision.exchange is not None:
        reply = printable(turn.decision.exchange.reply).splitlines() or [""]
        lines += [f"  > {line}" for line in reply]
    return lines


def versus_transcript(episodes: Sequence[Episode], width: int = 28) -> str:
    """Several teams on one incident, turn by turn side by side."""
    column = width + 31
    episodes = [worded_episode(episode) for episode in episodes]
    lines = [
        scenario_line(episodes[0].scenario),
        "",
        " " * 15 + "".join(one_line(episode.team).ljust(column) for episode in episodes).rstrip(),
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
        lines += ["", *(f"{one_line(episode.team)}: {line}" for line in closing_lines(episode))]
    return "\n".join(lines)
