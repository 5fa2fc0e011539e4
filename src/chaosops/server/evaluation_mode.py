"""``chaosops serve --evaluation``: submissions play hidden episodes and never see the truth.

A client plays over ``/ws`` with the token of a submission. The owner's plan says which episodes
are played, each once. The server sends no reward, judgement or debrief, and serves no tables and
no page. Results are files in the owner's folder.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar
from uuid import uuid4

from chaosops.access.asgi import ASGIApp, Receive, Scope, Send, refuse
from chaosops.client.openenv_core import Environment, EnvironmentMetadata
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.printable import short
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import SIGNATURE_NAME
from chaosops.evaluation.submission import PLAN_NAME, read_submission, token_digest
from chaosops.packs import load_pack
from chaosops.policies.llm.trained_on import Packs, is_packs, require_trained_on
from chaosops.policies.registry import load_policy
from chaosops.server.environment import ServedObservation
from chaosops.server.episode import observation, state_of
from chaosops.server.errors import NoEpisode, ServerMistake, mistakes_logged
from chaosops.server.options import ResetOptions, read_options
from chaosops.server.submission_run import Attempt, SubmissionRun, write_results
from chaosops.version import VERSION
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsState

_log = logging.getLogger(__name__)

_OPEN_TO_ALL = ("/health", "/metadata", "/schema")
_RESET_OPTIONS = ("submission", "trained_on", "format", "include")
REFUSAL = (
    "this server is in evaluation mode: a submission plays over /ws with its token, and nothing "
    "else is served; the open mode is chaosops serve without --evaluation"
)


class Submissions:
    """All submissions in the owner's folder by their tokens, including those that are opened while
    the server runs."""

    def __init__(self, folder: Path, secret: Secret, command: str = "") -> None:
        self._folder = folder
        self._secret = secret
        self._command = command
        self._places: dict[Path, str] = {}  # -> the digest of the token
        self._runs: dict[Path, SubmissionRun] = {}
        self._load = cache(load_policy)
        self._lock = Lock()
        self._look_for_new()
        for place in self._places:
            if not (place / SIGNATURE_NAME).exists():
                # Episodes that a stopped server left open are given up now.
                run = self._open(place)
                if run.complete:
                    self._complete(run)

    def find(self, token: str) -> SubmissionRun:
        digest = token_digest(token)
        with self._lock:
            try:
                self._look_for_new()
                for place, known in self._places.items():
                    if hmac.compare_digest(known, digest):
                        return self._open(place)
            except ChaosOpsError as error:  # in the owner's files
                _log.error("a submission cannot be played: %s", error)
                raise ServerMistake("this submission cannot be played now; ask its owner") from None
        raise BadInput("this token is for no submission; ask the owner for one")

    def _look_for_new(self) -> None:
        for path in sorted(self._folder.glob(f"*/{PLAN_NAME}")):
            if path.parent not in self._places:
                self._places[path.parent] = read_submission(path.parent).token_sha256

    def _open(self, place: Path) -> SubmissionRun:
        if place not in self._runs:
            run = SubmissionRun(place, self._secret, self._load, self._complete)
            self._runs[place] = run
        return self._runs[place]

    def _complete(self, run: SubmissionRun) -> None:
        """Write the results. A failure does not concern the player, because all episodes are on
        disk already."""
        try:
            write_results(run, self._secret, self._command)
        except ChaosOpsError as error:
            _log.error(
                "results of submission %s are not written: %s; stop the server and run "
                "chaosops submission close",
                run.plan.name,
                error,
            )


class EvaluationEnvironment(Environment):  # type: ignore[misc]
    """One session of a submission. OpenEnv runs ``reset`` and ``step`` in a thread, so that a
    slow partner, such as a model, does not block other sessions."""

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True

    def __init__(self, submissions: Submissions) -> None:
        super().__init__()
        self._submissions = submissions
        self._run: SubmissionRun | None = None
        self._attempt: Attempt | None = None
        self._id = ""

    def reset(self, /, **options: Any) -> ServedObservation:
        """Start the submission's next episode. One that is not over is given up. A player that
        says on which packs it was trained is refused here, before an episode of another pack is
        used up."""
        with mistakes_logged():
            token, trained_on, chosen = _read_reset(options)
            run = self._submissions.find(token)
            pack = load_pack(run.scenarios[0].pack)  # a plan has one split, so one pack
            require_trained_on(
                "the policy", trained_on, pack.name, pack.version, pack_is_given=True
            )
            self._give_up()
            self._attempt = run.begin(chosen.format, chosen.include)
            self._run, self._id = run, str(uuid4())
            return self._observe(first=True)

    def step(
        self, action: ChaosOpsAction, timeout_s: float | None = None, **_: Any
    ) -> ServedObservation:
        with mistakes_logged():
            if self._attempt is None:
                raise NoEpisode
            self._attempt.act(action)
            return self._observe(first=False)

    def close(self) -> None:
        with mistakes_logged():
            self._give_up()

    def _give_up(self) -> None:
        if self._attempt is not None:
            self._attempt.give_up()
            self._attempt = None

    def _observe(self, *, first: bool) -> ServedObservation:
        attempt = self._attempt
        assert attempt is not None
        env, public, over = attempt.env, attempt.env.world.public, attempt.env.over
        content = observation(
            self._id,
            env,
            attempt.seen,
            rules=attempt.rules() if first else None,
            # A client can tell it from the step count: an episode ends early if it is resolved.
            terminated=over and public.step < public.limit,
            truncated=over and public.step >= public.limit,
        )
        return ServedObservation(content, None, over)

    @property
    def state(self) -> ChaosOpsState:
        if self._run is None or self._attempt is None:
            return ChaosOpsState(reward=None)
        left = self._run.episodes_left
        return state_of(self._id, self._attempt.env, reward=None, episodes_left=left)

    def get_metadata(self) -> EnvironmentMetadata:
        text = "Hidden episodes for submissions: no rewards, no debrief, each episode once."
        return EnvironmentMetadata(name="chaosops evaluation", description=text, version=VERSION)


def _read_reset(options: Mapping[str, Any]) -> tuple[str, Packs | None, ResetOptions]:
    for name in options:
        if name not in _RESET_OPTIONS:
            raise BadInput(
                f"in evaluation mode the owner's plan chooses the episodes: reset takes "
                f"{', '.join(_RESET_OPTIONS)}, not {short(str(name))}"
            )
    token = options.get("submission")
    if not isinstance(token, str):
        raise BadInput("reset needs submission, the token that the owner gave you")
    trained_on = options.get("trained_on")
    if trained_on is not None and not is_packs(trained_on):
        raise BadInput('trained_on names packs and their versions, such as {"NAME": "1"}')
    rest = {k: v for k, v in options.items() if k not in ("submission", "trained_on")}
    return token, trained_on, read_options(rest)


class EvaluationGate:
    """Refuses every request that is not part of evaluation mode."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # A query could name somebody else's session.
            allowed = scope["path"] == "/ws" and not scope.get("query_string")
        elif scope["type"] == "http":
            allowed = scope["method"] in ("GET", "HEAD") and scope["path"] in _OPEN_TO_ALL
        else:
            allowed = True
        if allowed:
            await self._app(scope, receive, send)
        else:
            await refuse(scope, receive, send, 403, REFUSAL)
