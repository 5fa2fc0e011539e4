"""A system prompt of the user's own, from a text file: ``openai:MODEL@URL+prompt=FILE``."""

from __future__ import annotations

import re

from chaosops.core.errors import BadInput
from chaosops.core.inputs import expanded, read_text
from chaosops.core.vocabulary import Role
from chaosops.roles.prompt import DUTY_LINES

MOST_CHARS = 16_000
PLACES = {
    "rules": "the company, the role's actions and the form of a reply",
    "duty": "who the role is, in the standard words",
    "role": "the role's name",
}
_PLACE = re.compile(r"\{([a-z_]+)\}")
_TAG = re.compile(r"<\|[^|<>]*\|>")


def read_own_prompt(text: str) -> str:
    path = expanded(text)
    prompt = read_text(path, "prompt").replace("\r\n", "\n").strip()
    for problem in _problems(prompt):
        raise BadInput(f"prompt {path} {problem}")
    return prompt


def _problems(prompt: str) -> list[str]:
    places = _PLACE.findall(prompt)
    found = []
    if len(prompt) > MOST_CHARS:
        found.append(f"has {len(prompt)} characters; shorten it to {MOST_CHARS}")
    if unknown := [place for place in places if place not in PLACES]:
        known = ", ".join(f"{{{place}}} ({what})" for place, what in PLACES.items())
        found.append(f"holds {{{unknown[0]}}}, which stands for nothing; allowed: {known}")
    if places.count("rules") != 1:
        found.append(
            f"must hold {{rules}} once, has it {places.count('rules')} times: {PLACES['rules']} "
            "go there, and without them no reply can be read"
        )
    if tag := _TAG.search(prompt):
        found.append(f"must not hold {tag[0]}: the server writes the tags of its chat template")
    if odd := [char for char in prompt if not (char.isprintable() or char in "\n\t")]:
        found.append(f"holds the control character {odd[0]!a}; take it out")
    return found


def fill_in(prompt: str, role: Role, standard: str) -> str:
    """The system prompt of a role, made from the standard one.

    >>> fill_in("You are {role}. Be careful.\\n{rules}", Role.DEV, "Duty.\\nMore.\\nActions: ...")
    'You are dev. Be careful.\\nActions: ...'
    """
    lines = standard.split("\n")
    words = {
        "rules": "\n".join(lines[DUTY_LINES:]),
        "duty": "\n".join(lines[:DUTY_LINES]),
        "role": role.value,
    }
    return _PLACE.sub(lambda place: words.get(place[1], place[0]), prompt)
