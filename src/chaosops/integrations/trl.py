"""One role of an incident for TRL's ``GRPOTrainer(environment_factory=...)``: the model plays whole
episodes by calling tools, and scripts play the other roles.

This file needs no TRL: the trainer takes any class with ``reset``, ``get_reward`` and tools.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from chaosops.core.actions import VERBS, Action
from chaosops.core.arguments import Argument
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.given import whole_number
from chaosops.core.printable import short
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import GENERATED_PACK, load_pack, make_scenario, read_tiers, require_trainable
from chaosops.roles.parse import parse_object
from chaosops.roles.prompt import Style, system_prompt, user_prompt
from chaosops.rollout import Team, load_team
from chaosops.rubrics import CompositeRubric
from chaosops.seat import Seat

OVER = "The incident is over."
_TYPES: dict[str, type] = {"string": str, "integer": int, "number": float}


class SeatEnvironment:
    """An episode in which a model plays one role. All public methods of a subclass are tools."""

    _role: ClassVar[Role]
    _partners: ClassVar[Team]
    _pack: ClassVar[str]
    _rubric: ClassVar[CompositeRubric | None]

    def __init__(self) -> None:
        self._seat: Seat | None = None

    def reset(self, *, seed: int | None = None, **row: Any) -> str:
        """Start the incident of a row of ``rows``. The answer belongs into the first prompt."""
        if seed is None:
            raise BadInput("a row of the dataset has no seed; make the dataset with rows(...)")
        split, tier = row.get("split"), row.get("tier")
        scenario = make_scenario(pack=self._pack, split=split, tier=tier, seed=seed, fresh=True)
        require_trainable(scenario.split, scenario.pack)
        self._seat = Seat(scenario, self._role, self._partners, rubric=self._rubric)
        view = self._seat.view
        if view is None:
            return OVER
        constant = system_prompt(view.rules, view.role, Style.TOOLS)
        return f"{constant}\n\n{user_prompt(view, Style.TOOLS)}"

    def get_reward(self) -> float:
        """The reward of the episode. If the model stopped calling tools, it is played to its end:
        see ``Seat.finish``."""
        if not self._playing.over:
            self._playing.finish()
        return self._playing.episode.reward

    @property
    def _playing(self) -> Seat:
        if self._seat is None:
            raise BadInput("call reset() before a tool")
        return self._seat

    def _act(self, action: Action) -> str:
        """Play the model's turn and those of its partners, and say what the model sees then."""
        seat = self._playing
        view = None if seat.over else seat.act(Decision(action)).view
        return OVER if view is None else user_prompt(view, Style.TOOLS)


def environment(
    role: str,
    *,
    partners: str = "heuristic",
    pack: str = GENERATED_PACK,
    rubric: CompositeRubric | None = None,
) -> type[SeatEnvironment]:
    """A class for ``environment_factory``, with a tool for each action of the role.

    >>> cls = environment("oversight")
    >>> [name for name in vars(cls) if not name.startswith("_")]
    ['noop', 'communicate', 'flag_rogue', 'audit']
    """
    if role not in list(Role):
        raise UnknownName("role", role, list(Role))
    own = Role(role)
    team = load_team(partners)
    team.require_trained_on(pack)
    rules = Env(make_scenario(pack=pack, fresh=True, seed=0)).world.public.rules
    tools = {verb: _tool(VERBS[verb]) for verb in rules.verbs[own]}
    held = {"_role": own, "_partners": team, "_pack": load_pack(pack).name, "_rubric": rubric}
    return type(f"ChaosOps{own.value.capitalize()}", (SeatEnvironment,), {**tools, **held})


def rows(
    seeds: Iterable[int], *, split: str = "train", tiers: Iterable[str] | str = tuple(Tier)
) -> list[dict[str, Any]]:
    """Rows for ``datasets.Dataset.from_list``: one incident each. All completions of a row play the
    same incident, so that their rewards can be compared.

    >>> rows([7], tiers=["easy"])[0]["seed"]
    7
    """
    require_trainable(split)
    if not isinstance(seeds, Iterable):
        raise BadInput(f"seeds must be several, got {short(seeds)}; for example range(500)")
    numbers = [whole_number("seed", seed, least=0) for seed in seeds]
    names = [tier.value for tier in read_tiers(tiers)]
    if not numbers:
        raise BadInput("a dataset needs at least one seed")
    # A new list each: the trainer appends the observation to the prompt.
    return [
        {"prompt": [{"role": "user", "content": ""}], "seed": seed, "split": split, "tier": tier}
        for tier in names
        for seed in numbers
    ]


def _tool(kind: type[Action]) -> Callable[..., str]:
    """A method that plays an action. TRL reads its name, signature and docstring. It takes whatever
    a model passes: wrong arguments are a miscommunication, like every reply that cannot be read."""

    def tool(self: SeatEnvironment, /, **arguments: Any) -> str:
        return self._act(parse_object({**arguments, "action": kind.verb}))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [own, *map(_parameter, kind.arguments)]
    tool.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    tool.__annotations__ = {p.name: p.annotation for p in parameters[1:]} | {"return": str}
    tool.__name__ = tool.__qualname__ = kind.verb
    lines = [inspect.getdoc(kind) or kind.title]
    if kind.arguments:
        lines += ["", "Args:", *(f"    {a.name}: {_about(a)}" for a in kind.arguments)]
    tool.__doc__ = "\n".join(lines)
    return tool


def _parameter(argument: Argument) -> inspect.Parameter:
    kind: Any = _TYPES[argument.type]
    if argument.required:
        return inspect.Parameter(argument.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    return inspect.Parameter(
        argument.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=kind if argument.default is not None else kind | None,
        default=argument.default,
    )


def _about(argument: Argument) -> str:
    about = argument.about or f"a {argument.names}"
    if argument.type == "number":
        return f"{about}, from 0 to {argument.limit}"
    if argument.values:
        return f"{about}: {', '.join(map(str, argument.values))}"
    return about
