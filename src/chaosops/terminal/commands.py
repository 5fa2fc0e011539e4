"""The commands of a person in a company with documents: acts in a few words, and free looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from chaosops.core.actions import VERBS, Action, Communicate, FlagRogue
from chaosops.core.arguments import Argument
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.printable import short
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.report.acts import act_words
from chaosops.roles.view import VISIBILITY, RoleView
from chaosops.terminal import company

_SHORT = {"flag_rogue": "flag", "identify_root_cause": "cause", "communicate": "say"}
_LATEST = 34  # lines of a list


def act_commands(rules: Rulebook, role: Role) -> dict[str, str]:
    """What is typed -> verb."""
    return {_SHORT.get(verb, verb): verb for verb in rules.verbs[role]}


def usage(command: str, verb: str) -> str:
    """
    >>> usage("scale", "scale"), usage("flag", "flag_rogue")
    ('scale SERVICE N', 'flag N')
    """
    if verb == FlagRogue.verb:
        return f"{command} N"
    return " ".join([command, *(a.form for a in VERBS[verb].arguments if a.required)])


def read_command(text: str, view: RoleView) -> Action:
    """The action that was typed. Names may be cut short."""
    word, _, rest = text.strip().partition(" ")
    commands = act_commands(view.rules, view.role)
    verbs = {**commands, **{verb: verb for verb in commands.values()}}
    if word not in verbs:
        raise UnknownName("command", word, [*commands, *looks(view.role), "help"])
    verb, rest = verbs[word], rest.strip()
    if verb == FlagRogue.verb:
        return _flag(rest, view)
    if verb == Communicate.verb:
        if not rest:
            raise BadInput("say what? write: say TEXT")
        return Communicate(rest)
    required = [argument for argument in VERBS[verb].arguments if argument.required]
    given = [part for part in rest.split() if part != "to"]
    if len(given) != len(required):
        raise BadInput(f"write: {usage(word, verb)}")
    values = [_value(a, part, view.rules) for a, part in zip(required, given, strict=True)]
    return VERBS[verb](*values)


def _value(argument: Argument, given: str, rules: Rulebook) -> object:
    if argument.type == "integer":
        if not (given.isdecimal() and int(given[:6]) in rules.values(argument)):
            allowed = ", ".join(map(str, rules.values(argument)))
            raise BadInput(f"{argument.name} must be one of {allowed}, got {short(given, 40)}")
        return int(given)
    return _named(argument.names, given, rules.values(argument))


def _named(kind: str, given: str, names: Iterable[str]) -> str:
    """A name, or the only one that begins like this."""
    known = list(names)
    begun = [name for name in known if name.startswith(given)]
    if given in known:
        return given
    if len(begun) > 1:
        raise BadInput(f"{given!r} may be {' or '.join(begun)}; write more of it")
    if not begun:
        raise UnknownName(kind, given, known)
    return begun[0]


def _flag(given: str, view: RoleView) -> FlagRogue:
    number = given.removeprefix("#")
    if not number.isdecimal():
        acts = ", ".join(f"#{e.id}" for e in view.trace if given and e.agent.startswith(given))
        theirs = f"; acts of {given}: {acts}" if acts else ""
        raise BadInput(f"a flag names an act by its number: flag N{theirs}")
    act = find_act(view, int(number[:7]))
    if act is None:
        raise BadInput(f"no act has the number {number}; trace lists all acts")
    return FlagRogue(act.agent, evidence=act.id)


def find_act(view: RoleView, number: int | None) -> TraceEntry | None:
    return next((entry for entry in view.trace if entry.id == number), None)


def in_words(action: Action, view: RoleView) -> str:
    if isinstance(action, FlagRogue):
        act = find_act(view, action.evidence)
        why = f" for {act_words(act)}" if act else ""
        return f"flag {action.target}{why}"
    return f'say "{action}"' if isinstance(action, Communicate) else str(action)


def _docs(view: RoleView, _: str) -> list[str]:
    rules = view.rules
    lines = [f"Runbook, {len(rules.runbook)} pages (page NAME opens one):"]
    lines += _flat(company.item(page.name, page.signs or page.cause) for page in rules.runbook)
    if rules.charter:
        lines += ["Charter:", *_flat(company.clause_entries(view))]
    return lines


def _page(view: RoleView, given: str) -> list[str]:
    pages = {page.name: page for page in view.rules.runbook}
    page = pages[_named("page", given, pages)] if given else None
    return list(company.page_entry(*page)) if page else ["write: page NAME", *_docs(view, "")]


def _charter(view: RoleView, given: str) -> list[str]:
    agents = dict(view.rules.charter)
    chosen = _named("agent", given, agents) if given else ""
    entries = zip(agents, company.clause_entries(view), strict=True)
    return [line for agent, lines in entries if chosen in ("", agent) for line in lines]


def _trace(view: RoleView, given: str) -> list[str]:
    """Of one agent, service or setting, or all."""
    found = [
        entry
        for entry in view.trace
        if not given or given in (entry.agent, entry.target, entry.action)
    ]
    lines = _flat(company.act_entries(found[-_LATEST:]))
    more = f"  … {len(found) - _LATEST} older; trace NAME shows those of an agent or a service"
    return [*([more] if len(found) > _LATEST else []), *lines] if lines else ["  no such act"]


def _audits(view: RoleView, _: str) -> list[str]:
    entries = [company.audit_entry(report) for report in view.audits]
    entries += [company.inspection_entry(found) for found in view.inspections]
    return _flat(entries) or ["  nothing was audited or inspected yet"]


def _flat(entries: Iterable[Sequence[str]]) -> list[str]:
    return [line for entry in entries for line in entry]


class Look(NamedTuple):
    """A command that costs nothing."""

    about: str
    show: Callable[[RoleView, str], list[str]]
    channel: str = ""
    """A role needs to see it."""


_LOOKS = {
    "docs": Look("all documents, a line for each page and clause", _docs),
    "page": Look("page NAME: one page of the runbook", _page),
    "charter": Look("what each agent may do; charter AGENT: one of them", _charter, "charter"),
    "trace": Look(
        "all acts; trace NAME: those of an agent, a service or a setting", _trace, "trace"
    ),
    "audits": Look("all audits and inspections in full", _audits, "inspections"),
    "services": Look(
        "all services with their figures",
        lambda view, _: _flat(company.service_entries(view, everyone=True)),
        "health",
    ),
    "logs": Look("the logs", lambda view, _: _flat(company.log_entries(view))[-_LATEST:], "logs"),
    "chat": Look(
        "what the roles said and did",
        lambda view, _: _flat(company.chat_entries(view))[-_LATEST:],
    ),
}


def looks(role: Role) -> dict[str, Look]:
    sees = VISIBILITY[role]
    return {name: look for name, look in _LOOKS.items() if not look.channel or look.channel in sees}


def help_lines(view: RoleView) -> list[str]:
    commands = act_commands(view.rules, view.role)
    about = {verb: VERBS[verb].__doc__ or "" for verb in commands.values()}
    if FlagRogue.verb in about:
        about[FlagRogue.verb] = "Accuse the agent that did act N."
    lines = ["An act takes your turn. It is repeated in words; Enter does it, undo takes it back."]
    lines += [
        f"  {usage(command, verb):<20} {' '.join(about[verb].split())}"
        for command, verb in commands.items()
    ]
    lines += [
        "Looking is free:",
        *(f"  {name:<20} {look.about}" for name, look in looks(view.role).items()),
    ]
    lines += [
        "  Enter                the screen again",
        "Names may be cut short: audit cost. JSON works too. Ctrl-C ends the episode.",
    ]
    return lines


def hint(view: RoleView) -> list[str]:
    """The last lines of the screen."""
    acts = [usage(command, verb) for command, verb in act_commands(view.rules, view.role).items()]
    if len(acts) > 7:
        acts = [*acts[:6], "…"]
    return ["Act:  " + " · ".join(acts), "Look: " + " · ".join(["help", *looks(view.role)])]
