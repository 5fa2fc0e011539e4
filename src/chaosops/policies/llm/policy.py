"""A local model as a policy: a prompt in, one legal reply out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Communicate, FlagRogue, failed_turn
from chaosops.core.decision import LEAST_CHANCE, Chat, Decision, Exchange
from chaosops.core.vocabulary import Role
from chaosops.policies.belief import Thresholds, decide, decides
from chaosops.policies.chat import suspicion_of
from chaosops.policies.llm.calibration import Calibration
from chaosops.policies.llm.choosing import Path, Remembering, at_once, choose, probabilities
from chaosops.policies.llm.formats import Format
from chaosops.policies.llm.runtime import PromptTooLong, Runtime, Session
from chaosops.policies.llm.trained_on import Packs, require_trained_on
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.view import RoleView


class _Options(NamedTuple):
    """The legal replies of one view, in the model's tokens."""

    texts: tuple[str, ...]
    actions: tuple[Action | None, ...]  # None: the model writes the rest freely
    paths: tuple[Path, ...]


class LocalModelPolicy:
    sees_truth = False

    def __init__(
        self,
        name: str,
        runtime: Runtime,
        reply_format: Format,
        temperature: float = 0.0,
        trained_on: Packs | None = None,
        calibration: Calibration | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        self.name = name
        self.trained_on = trained_on
        self.runtime = runtime
        self._format = reply_format
        self._temperature = temperature
        self._calibration = calibration
        self._thresholds = thresholds
        self._tokens = lru_cache(maxsize=100_000)(runtime.tokens)

    def status(self) -> Mapping[str, Any]:
        return {
            "kind": "model",
            "policy": self.name,
            "sees_truth": False,
            "format": self._format.name,
            "constrained": True,
            "temperature": self._temperature,
            **self.runtime.status(),
            **({"calibration": self._calibration._asdict()} if self._calibration else {}),
            **({"thresholds": self._thresholds._asdict()} if self._thresholds else {}),
        }

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        for request in requests:
            # A seat on a server learns the pack from the view alone.
            require_trained_on(self.name, self.trained_on, request.view.rules.layout)
        chats = [self._format.messages(request.view) for request in requests]
        decisions: dict[int, Decision] = {}
        for places in _batches(chats, self.runtime.batch):
            some = self._decide([requests[i] for i in places], [chats[i] for i in places])
            decisions.update(zip(places, some, strict=True))
        return [decisions[i] for i in range(len(requests))]

    def _decide(self, requests: Sequence[DecisionRequest], chats: Sequence[Chat]) -> list[Decision]:
        try:
            session = Remembering(self.runtime.open(chats))
        except PromptTooLong as problem:
            return self._decide_others(requests, chats, problem)
        options = [self._options(request.view) for request in requests]
        paths = [option.paths for option in options]
        chosen = choose(session, paths, [request.key for request in requests], self._temperature)
        views = [request.view for request in requests]
        suspicions = self._suspicions(views, session, options)
        chosen = self._by_belief(views, session, options, chosen)
        chances = _chances(session, options)
        return [
            self._decision(
                chat, session, row, options[row], chosen[row], suspicions.get(row)
            )._replace(chances=chances.get(row))
            for row, chat in enumerate(chats)
        ]

    def _decide_others(
        self, requests: Sequence[DecisionRequest], chats: Sequence[Chat], problem: PromptTooLong
    ) -> list[Decision]:
        """Decide the requests that fit. A prompt that is too long loses only its own turn."""
        rows = [row for row in range(len(requests)) if row not in problem.lengths]
        others = [requests[row] for row in rows], [chats[row] for row in rows]
        decided = dict(zip(rows, self._decide(*others) if rows else [], strict=True))
        for row, length in problem.lengths.items():
            action = failed_turn(f"a prompt of {length} tokens is longer than {problem.limit}")
            view = requests[row].view
            # It suspects nobody: without a suspicion the turn would be left out of the figures.
            told = self._suspicion(view, ()) if view.role is Role.OVERSIGHT else None
            decided[row] = Decision(action, told, Exchange(chats[row], "", length, 0))
        return [decided[row] for row in range(len(requests))]

    def _options(self, view: RoleView) -> _Options:
        replies = self._format.replies(view)
        texts: list[str] = list(replies)
        actions: list[Action | None] = list(replies.values())
        paths = [(*self._tokens(text), self.runtime.end) for text in texts]
        if opening := self._format.opening(view):
            texts.append(opening)
            actions.append(None)
            paths.append(self._tokens(opening))
        return _Options(tuple(texts), tuple(actions), tuple(paths))

    def _suspicions(
        self, views: Sequence[RoleView], session: Session, options: Sequence[_Options]
    ) -> dict[int, dict[str, float]]:
        """By row, the probability that the model flags each agent now, on Oversight's turns."""
        flags = {
            row: {i: a for i, a in enumerate(options[row].actions) if isinstance(a, FlagRogue)}
            for row, view in enumerate(views)
            if view.role is Role.OVERSIGHT
        }
        found = probabilities(session, [option.paths for option in options], flags)
        return {
            row: self._suspicion(views[row], ((flags[row][i], p) for i, p in now.items()))
            for row, now in found.items()
        }

    def _by_belief(
        self,
        views: Sequence[RoleView],
        session: Session,
        options: Sequence[_Options],
        chosen: Sequence[int],
    ) -> list[int]:
        """What is done by the adapter's thresholds, instead of the likeliest reply."""
        thresholds = self._thresholds
        if thresholds is None or self._temperature > 0:
            return list(chosen)
        places = {
            row: range(len(options[row].paths)) for row, view in enumerate(views) if decides(view)
        }
        found = probabilities(session, [option.paths for option in options], places)
        decided = {
            row: decide(views[row], options[row].actions, chances, thresholds)
            for row, chances in found.items()
        }
        return [decided.get(row, likeliest) for row, likeliest in enumerate(chosen)]

    def _suspicion(
        self, view: RoleView, flags: Iterable[tuple[FlagRogue, float]]
    ) -> dict[str, float]:
        if self._calibration is None:
            return suspicion_of(view, flags)
        return suspicion_of(view, flags, self._calibration.of)

    def _decision(
        self,
        chat: Chat,
        session: Session,
        row: int,
        option: _Options,
        chosen: int,
        suspicion: dict[str, float] | None,
    ) -> Decision:
        reply, action = option.texts[chosen], option.actions[chosen]
        if action is None:
            words = session.write(row, option.paths[chosen])
            reply += words + '"}'
            action = Communicate(words)
        elif isinstance(action, FlagRogue) and suspicion is not None:
            action = replace(action, confidence=suspicion[action.target])
        read, written = session.lengths[row], len(self._tokens(reply))
        return Decision(action, suspicion, Exchange(chat, reply, read, written))


def _chances(session: Session, options: Sequence[_Options]) -> dict[int, dict[str, float]]:
    """By row, the likely actions. Only where one answer of the model tells them all: to walk along
    every legal reply takes longer than the decision."""
    paths = [option.paths for option in options]
    rows = {row: range(len(some)) for row, some in enumerate(paths) if at_once(some)}
    found = {}
    for row, of in probabilities(session, paths, rows).items():
        ranked = sorted(of.items(), key=lambda item: -item[1])
        actions = options[row].actions
        found[row] = {_words(actions[i]): round(p, 4) for i, p in ranked if p >= LEAST_CHANCE}
    return found


def _words(action: Action | None) -> str:
    if isinstance(action, FlagRogue) and action.evidence is not None:
        return f"{action} for #{action.evidence}"
    if isinstance(action, Communicate):
        return f'"{action}"'
    return "a message" if action is None else str(action)


def _batches(chats: Sequence[Chat], size: int) -> Iterator[list[int]]:
    """Prompts of similar length go together, so that short ones need little padding."""
    lengths = [sum(len(message["content"]) for message in chat) for chat in chats]
    batch: list[int] = []
    for i in sorted(range(len(chats)), key=lengths.__getitem__):
        if batch and (len(batch) == size or lengths[i] > 1.5 * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
