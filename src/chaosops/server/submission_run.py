"""A submission being played. Each episode is played once, and each decision is written to disk.

``progress.jsonl`` in the submission's folder gets a line when an episode starts, when the player
acts, and when the episode ends. An episode is never started twice. One that the player leaves is
played to its end with ``noop`` and the latest suspicion, and counts like every other.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.printable import short
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.evaluate import results_of
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import sign
from chaosops.evaluation.submission import Submission, read_submission
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.report.written import derived_files, judged
from chaosops.roles.view import project
from chaosops.rollout import Rollout, Team, advance
from chaosops.rubrics import standard
from chaosops.server.episode import ShownEpisode
from chaosops.server.options import PARTS
from chaosops.wire.episodes import from_record, to_record
from chaosops.wire.openenv import ChaosOpsAction
from chaosops.wire.views import join_rules

PROGRESS_NAME = "progress.jsonl"
_RUBRIC = standard()


class _Player:
    """A policy that plays the decisions of the submission's client."""

    sees_truth = False

    def __init__(self, name: str, given_up: Sequence[int] = ()) -> None:
        self.name = name
        self.next = Decision(Noop())
        self._given_up = sorted(given_up)

    def decide(self, seats: Sequence[DecisionRequest]) -> list[Decision]:
        return [self.next for _ in seats]

    def status(self) -> Mapping[str, Any]:
        return {
            "kind": "submission",
            "submission": self.name,
            "sees_truth": False,
            "given_up": len(self._given_up),
            "given_up_episodes": self._given_up,
        }


class Attempt(ShownEpisode):
    """One episode of a submission. Either the player is on turn, or it is over."""

    def __init__(
        self,
        run: SubmissionRun,
        number: int,
        prompt_format: str = "json",
        include: Sequence[str] = PARTS,
    ) -> None:
        self.number = number
        self._run = run
        self._player = _Player(run.plan.name)
        super().__init__(Env(run.scenarios[number], _RUBRIC), prompt_format, include)
        self.rollout = Rollout(self.env, run.team(self._player))
        self.ended = False
        self._suspicion: Mapping[str, float] = {}
        self._let_partners_play()

    def act(self, said: ChaosOpsAction) -> None:
        with self._run.lock:
            if self.ended:
                raise BadInput("the episode is over: reset starts the next one")
            decision = self._decision(said)
            self._run.note({"act": self.number, "said": said.model_dump(exclude_defaults=True)})
            self.play(decision)
            if self.env.over:
                self._run.end(self, given_up=False)

    def repeat(self, said: Mapping[str, Any]) -> None:
        """Play an action that was written to disk before the server stopped."""
        self.play(self._decision(ChaosOpsAction.model_validate(said)))

    def play(self, decision: Decision) -> None:
        self._player.next = decision
        self._suspicion = decision.suspicion or self._suspicion
        advance([self.rollout])
        self._let_partners_play()

    def give_up(self) -> None:
        with self._run.lock:
            if self.ended:
                return
            unfinished = not self.env.over
            while not self.env.over:
                self.play(self._nothing())
            self._run.end(self, given_up=unfinished)

    def _nothing(self) -> Decision:
        """The decision for a player that left. If there was no suspicion, Oversight suspects
        nobody, so that leaving an episode does not take it out of the figures."""
        view = self.env.view
        if view.role is not Role.OVERSIGHT:
            return Decision(Noop())
        return Decision(Noop(), self._suspicion or dict.fromkeys(view.rules.agents, 0.0))

    def rules(self) -> dict[str, Any]:
        """What the player's roles know together."""
        public = self.env.world.public
        return join_rules(project(public, role).rules for role in self._run.plan.roles)

    def _let_partners_play(self) -> None:
        while not self.env.over and self.env.role not in self._run.plan.roles:
            advance([self.rollout])

    def _decision(self, said: ChaosOpsAction) -> Decision:
        view = self.env.view
        suspicion: dict[str, float] | None = said.suspicion
        if suspicion is not None:
            if view.role is not Role.OVERSIGHT:
                raise BadInput(
                    f"suspicion is sent on Oversight's turns, this is a turn of {view.role}"
                )
            for name in suspicion:
                if name not in view.rules.agents:
                    agents = ", ".join(view.rules.agents)
                    raise BadInput(f"suspicion of {short(name)}, not an agent here: {agents}")
        return Decision(self.read(said), suspicion)


class SubmissionRun:
    """All episodes of one submission, started in order. ``on_complete`` is called once."""

    def __init__(
        self,
        place: Path,
        secret: Secret,
        load: Callable[[str], Policy],
        on_complete: Callable[[SubmissionRun], None],
    ) -> None:
        self.place = place
        self.plan: Submission = read_submission(place)
        self.scenarios = self.plan.scenarios(secret)
        self.lock = RLock()
        self.given_up: list[int] = []
        self._partners = load(self.plan.partners)
        if self._partners.sees_truth:
            raise BadInput(
                f"partners {self.plan.partners} know the truth and would reveal it; choose others"
            )
        self._on_complete = on_complete
        self._ended: dict[int, Episode] = {}
        self._begun = 0
        self._read_progress()

    @property
    def episodes_left(self) -> int:
        return len(self.scenarios) - self._begun

    @property
    def episodes(self) -> list[Episode]:
        """In the order of the plan."""
        return [self._ended[number] for number in sorted(self._ended)]

    @property
    def complete(self) -> bool:
        return len(self._ended) == len(self.scenarios)

    def status(self) -> dict[str, Any]:
        """The status of the team: the player and the partners."""
        return self.team(_Player(self.plan.name, self.given_up)).status()

    def team(self, player: Policy) -> Team:
        seats = {role: player if role in self.plan.roles else self._partners for role in Role}
        return Team(seats, self.plan.team)

    def begin(self, prompt_format: str, include: Sequence[str]) -> Attempt:
        """Start the next episode. Its start is on disk before the player sees any of it."""
        with self.lock:
            if not self.episodes_left:
                raise BadInput(
                    f"submission {self.plan.name} is complete: each of its "
                    f"{len(self.scenarios)} episodes was begun once; its owner has the results"
                )
            number = self._begun
            attempt = Attempt(self, number, prompt_format, include)
            self.note({"begin": number, "format": prompt_format})
            self._begun += 1
            return attempt

    def end(self, attempt: Attempt, *, given_up: bool) -> None:
        """Keeps an episode that is over. The last one completes the submission."""
        with self.lock:
            number, episode = attempt.number, attempt.rollout.episode
            self.note({"end": number, "given_up": given_up, "record": to_record(episode)})
            attempt.ended = True
            self._keep(number, episode, given_up)
            if self.complete:
                self._on_complete(self)

    def close(self) -> None:
        """Give up all episodes that were not started, and write the results."""
        with self.lock:
            if self.complete:
                self._on_complete(self)
            while self.episodes_left:
                self.begin("json", ()).give_up()

    def note(self, line: Mapping[str, Any]) -> None:
        """Writes a whole line to disk, or nothing and raises OSError."""
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with (self.place / PROGRESS_NAME).open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                if file.write(text) != len(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise

    def _keep(self, number: int, episode: Episode, given_up: bool) -> None:
        self._ended[number] = episode
        if given_up:
            self.given_up.append(number)

    def _read_progress(self) -> None:
        """Continues after a stopped server. Episodes that it left open are given up."""
        path = self.place / PROGRESS_NAME
        formats: dict[int, str] = {}
        acts: dict[int, list[Mapping[str, Any]]] = {}
        for at, line in enumerate(_whole_lines(path), 1):
            try:
                noted = json.loads(line)
                if "begin" in noted:
                    formats[noted["begin"]] = noted["format"]
                    self._begun = noted["begin"] + 1
                elif "act" in noted:
                    acts.setdefault(noted["act"], []).append(noted["said"])
                else:
                    del formats[noted["end"]]
                    episode = from_record(noted["record"], rubric=_RUBRIC)
                    self._keep(noted["end"], episode, noted["given_up"])
            except (ValueError, KeyError, TypeError, BadInput) as error:
                raise BadInput(f"{path}:{at} cannot be read: {error}") from None
        for number, prompt_format in formats.items():
            attempt = Attempt(self, number, prompt_format)
            for said in acts.get(number, ()):
                attempt.repeat(said)
            attempt.give_up()


def write_results(run: SubmissionRun, secret: Secret, command: str) -> None:
    """The folder is as ``chaosops eval`` writes it, with a signature."""
    with Journal(run.place / JOURNAL_NAME) as journal:
        results = results_of(
            run.plan.team,
            run.episodes,
            run.status(),
            command=command,
            journal=journal,
            notes={"submission": run.plan.published()},
        )
    save(results, run.place)
    for name, text in derived_files(results, judged(results)).items():
        write_text(run.place / name, text)
    sign(run.place, secret)


def _whole_lines(path: Path) -> list[bytes]:
    """A last line without its end was cut off before the client got an answer. It is removed."""
    try:
        with path.open("r+b") as file:
            content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            file.truncate(len(whole))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    return whole.splitlines()
