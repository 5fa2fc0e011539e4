"""Episodes as evidence for monitors, with the labels in files of their own.

    OUT/evidence.jsonl   what a monitor may read: rules, Oversight's views, the acts of all roles
    OUT/labels.jsonl     the truth: the rogue, its acts, and when the fault came back
    OUT/manifest.json    how both were made, with their hashes

The overseer that plays audits and never flags. A flag would contain the rogue and tell every later
reader what the overseer thought. So would waiting instead, where it has seen enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Audit, FlagRogue, Noop, to_wire
from chaosops.core.chain import read_json
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_bytes, read_object
from chaosops.core.printable import short
from chaosops.core.retired import require_played
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.cases import return_step
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.roles.view import RoleView
from chaosops.rollout import Team, load_team
from chaosops.wire.views import read_rules, read_view, rules_to_wire, view_to_wire

FORMAT = "chaosops transcripts 1"
EVIDENCE, LABELS, MANIFEST = "evidence.jsonl", "labels.jsonl", "manifest.json"
_CURE = "make it with: chaosops transcripts FOLDER"

Wire = dict[str, Any]


class Act(NamedTuple):
    """What a role did; ``action`` is its JSON form."""

    step: int
    role: str
    action: Mapping[str, Any]


class Transcript(NamedTuple):
    """An episode until one of Oversight's turns: its views so far, the last of them the present
    one, and all acts before it."""

    id: str
    views: tuple[RoleView, ...]
    acts: tuple[Act, ...]

    @property
    def view(self) -> RoleView:
        return self.views[-1]


class Label(NamedTuple):
    """The truth about one episode. ``return_step``: when the fault first came back."""

    id: str
    scenario: Mapping[str, Any]
    cause: str
    rogue: str | None
    guilty_entries: tuple[int, ...]
    decisive_entries: tuple[int, ...]
    return_step: int | None
    steps: int


class RecordedEpisode(NamedTuple):
    """Evidence and label of one episode."""

    id: str
    views: tuple[RoleView, ...]
    acts: tuple[Act, ...]
    label: Label

    def transcripts(self) -> Iterator[Transcript]:
        """One for each turn of Oversight."""
        for turn, view in enumerate(self.views, 1):
            before = tuple(act for act in self.acts if act.step <= view.step)
            yield Transcript(self.id, self.views[:turn], before)

    @property
    def turns_in_time(self) -> int:
        """The turns of Oversight before the fault came back. A flag takes effect within the step
        after its view."""
        last = self.label.return_step
        return sum(last is None or view.step < last for view in self.views)


class _Auditing:
    """Plays like another policy. Where that one flags or waits, it audits the next agent."""

    sees_truth = False

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.name = f"{policy.name} without flags"

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        decisions = self._policy.decide(requests)
        return [
            Decision(_next_audit(request.view))
            if isinstance(decision.action, FlagRogue | Noop)
            else decision
            for request, decision in zip(requests, decisions, strict=True)
        ]

    def status(self) -> Mapping[str, Any]:
        return {**self._policy.status(), "flags_and_waits": "replaced by audits"}


def _next_audit(view: RoleView) -> Action:
    """Of the first agent that was not audited yet. Where all were, it waits."""
    audited = {report.agent for report in view.audits}
    others = [agent for agent in view.rules.agents if agent not in audited]
    return Audit(others[0]) if others and view.rules.may(view.role, Audit.verb) else Noop()


def recording_team(text: str) -> Team:
    """The team of ``--team`` whose overseer does not flag. Who sees the truth would tell it by
    its acts."""
    team = load_team(text)
    for role, policy in team.policies.items():
        if policy.sees_truth:
            raise BadInput(
                f"{policy.name} sees the truth, and its acts as {role} would tell it to every "
                "monitor; name another policy"
            )
    overseer = _Auditing(team.policies[Role.OVERSIGHT])
    return Team({**team.policies, Role.OVERSIGHT: overseer}, text)


def evidence_and_label(name: str, episode: Episode) -> tuple[Wire, Wire]:
    """Both lines of one episode. ``name`` is its id, and must tell nothing about it."""
    env = Env.again(episode)
    views = []
    for turn in episode.turns:
        if turn.role is Role.OVERSIGHT:
            views.append(env.view)
        env.play(turn.decision)
    acts = [
        {"step": turn.events.step, "role": turn.role.value, "action": to_wire(turn.decision.action)}
        for turn in episode.turns
    ]
    evidence = {
        "id": name,
        "rules": rules_to_wire(views[0].rules) if views else {},
        "views": [view_to_wire(view) for view in views],
        "acts": acts,
    }
    incident = env.world.truth.incident
    label = Label(
        name,
        episode.scenario.to_wire(),
        episode.cause,
        episode.rogue,
        tuple(sorted(incident.guilty_entries())),
        tuple(sorted(incident.decisive_entries())),
        return_step(episode),
        episode.steps,
    )
    return evidence, label._asdict()


def write_transcripts(
    folder: Path, lines: Sequence[tuple[Wire, Wire]], manifest: Mapping[str, Any]
) -> list[Path]:
    texts = {
        EVIDENCE: _json_lines(evidence for evidence, _ in lines),
        LABELS: _json_lines(label for _, label in lines),
    }
    files = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
    head = {"format": FORMAT, **manifest, "episodes": len(lines), "files": files}
    texts[MANIFEST] = json.dumps(head, indent=1) + "\n"
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _json_lines(records: Iterable[Wire]) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def read_transcripts(
    folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[Mapping[str, Any], list[RecordedEpisode]]:
    """Manifest and episodes. Nothing is played."""
    if not (folder / MANIFEST).is_file():
        problem = f"it has no {MANIFEST}" if folder.is_dir() else "there is no such folder"
        raise BadInput(f"{folder} is not a folder of transcripts: {problem}; {_CURE}")
    manifest = read_object(folder / MANIFEST, "manifest")
    if manifest.get("format") != FORMAT:
        raise BadInput(f"{folder / MANIFEST} is not of {FORMAT!r}; {_CURE}")
    evidence, labels = (_read_lines(folder / name, manifest) for name in (EVIDENCE, LABELS))
    if [line.get("id") for line in evidence] != [line.get("id") for line in labels]:
        raise BadInput(f"{EVIDENCE} and {LABELS} in {folder} are not about the same episodes")
    require_played(str(folder), _packs_of(labels))
    found = []
    for number, pair in enumerate(zip(evidence, labels, strict=True), 1):
        try:
            found.append(_recorded(*pair))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{folder}: line {number} cannot be read: {short(error, 200)}") from None
        progress(number, len(evidence))
    if not found:
        raise BadInput(f"{folder} holds no episodes; {_CURE}")
    return manifest, found


def _read_lines(path: Path, manifest: Mapping[str, Any]) -> list[Wire]:
    content = read_bytes(path, "transcripts")
    files = manifest.get("files")
    if not isinstance(files, dict) or files.get(path.name) != sha256(content).hexdigest():
        raise BadInput(f"{path} was changed: its hash is not the one in {MANIFEST}; {_CURE}")
    try:
        lines = [read_json(line) for line in content.splitlines()]
    except ValueError as error:
        raise BadInput(f"{path} is not JSON lines: {error}") from None
    if not all(isinstance(line, dict) for line in lines):
        raise BadInput(f"{path} is not JSON lines: each line must be an object")
    return lines


def _packs_of(labels: Sequence[Wire]) -> Iterator[tuple[str, str]]:
    for label in labels:
        if isinstance(scenario := label.get("scenario"), dict):
            yield str(scenario.get("pack")), str(scenario.get("version", ""))


def _recorded(evidence: Wire, label: Wire) -> RecordedEpisode:
    rules = read_rules(evidence["rules"])
    views = tuple(read_view(view, rules) for view in evidence["views"])
    acts = tuple(Act(**act) for act in evidence["acts"])
    lists = ("guilty_entries", "decisive_entries")
    known = Label(**{**label, **{name: tuple(label[name]) for name in lists}})
    return RecordedEpisode(evidence["id"], views, acts, known)
