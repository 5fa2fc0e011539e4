"""Two policies on the same episodes: paired differences, and the episodes that differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.cases import Case, case_of
from chaosops.evaluation.pairing import AUROC_DIFFERENCES, Difference, Mean, tpr_difference
from chaosops.evaluation.results import COMPRESSED_NAME, JOURNAL_NAME, RESULTS_NAME, Results
from chaosops.evaluation.stored import read_results, results_file
from chaosops.evaluation.transcripts import EVIDENCE
from chaosops.policies.llm.spec import is_model, is_own, read_spec
from chaosops.policies.registry import installed_policies, policy_forms, registered
from chaosops.rollout import policy_names
from chaosops.rubrics.prices import rewards_line, write_rewards

SEPARATOR = "#"  # FOLDER#POLICY


def _caught(case: Case) -> float | None:
    return None if case.rogue is None else float(case.rogue in case.flagged)


def _innocents(case: Case) -> float:
    return float(len(set(case.flagged) - {case.rogue}))


COMPARED = (
    Difference("reward", "reward", Mean(lambda case: case.reward), ".1f"),
    Difference("solved", "solved", Mean(lambda case: float(case.resolved), 1.0), ".0%"),
    Difference("rogue_caught", "rogue caught", Mean(_caught, 1.0), ".0%"),
    Difference("innocent_agents_flagged", "innocent agents flagged", Mean(_innocents), ".2f"),
    Difference("blast_radius", "requests lost", Mean(lambda case: case.blast_radius), ",.0f"),
    *AUROC_DIFFERENCES,
    tpr_difference(1),
    tpr_difference(None),
)


class Side(NamedTuple):
    """One of the two that are compared: a policy of an evaluation."""

    name: str
    policy: str
    results: Results

    @property
    def rewards(self) -> dict[str, float]:
        """Those other than the standard."""
        return dict(self.results.manifest.get("rewards", {}))

    @property
    def episodes(self) -> dict[Scenario, Episode]:
        return {episode.scenario: episode for episode in self.results.episodes[self.policy]}


class Pair(NamedTuple):
    """The same scenario, played by both."""

    ours: Episode
    theirs: Episode

    @property
    def difference(self) -> float:
        return self.ours.reward - self.theirs.reward

    @property
    def alike(self) -> bool:
        """Whether both did the same on every turn."""
        acts = ([turn.decision.action for turn in each.turns] for each in self)
        return next(acts) == next(acts)


@dataclass(frozen=True)
class Comparison:
    """``alone``: episodes that only one side has."""

    names: tuple[str, str]
    pairs: Sequence[Pair]
    alone: int
    rows: Sequence[dict[str, Any]]
    rewards: tuple[dict[str, float], dict[str, float]]

    def rewards_line(self) -> str:
        """What a reader must know of the rewards; empty if both sides have the standard."""
        if self.rewards[0] == self.rewards[1]:
            return rewards_line(self.rewards[0])
        told = [
            f"{name} has {write_rewards(of) or 'the standard'}"
            for name, of in zip(self.names, self.rewards, strict=True)
        ]
        return f"Rewards differ, so do not compare them: {'; '.join(told)}."

    def differing(self, most: int) -> list[Pair]:
        """The pairs with the largest differences in reward, without those played alike."""
        found = [pair for pair in self.pairs if not pair.alike]
        return sorted(found, key=lambda pair: -abs(pair.difference))[:most]


def names_folder(text: str) -> bool:
    """Whether it is an evaluation and not a policy, which may be a folder too. What is neither is
    refused."""
    folder = _folder(text)
    if results_file(folder) is not None:
        return True
    if SEPARATOR not in text and _may_be_policy(text):
        return False
    if (folder / JOURNAL_NAME).is_file():
        raise BadInput(
            f"the evaluation in {folder} is not finished; repeat its command with --resume"
        )
    if (folder / EVIDENCE).is_file():
        raise BadInput(
            f"{folder} holds transcripts and no evaluation; score them with: "
            f"chaosops monitor SCORER {folder}"
        )
    if folder.is_dir():
        raise BadInput(
            f"{folder} holds no evaluation: it has no {RESULTS_NAME}; name a folder of chaosops "
            "eval, or a policy"
        )
    if SEPARATOR in text:
        raise BadInput(f"there is no folder {folder}; name a folder of chaosops eval")
    raise UnknownName("folder or policy", text, ["a folder of chaosops eval", *policy_forms()])


def _may_be_policy(text: str) -> bool:
    """Whether it can be loaded as one, as far as its name tells."""
    if policy_names(text)[Role.SRE] != text:  # a team
        return True
    if is_model(text):
        model = read_spec(text)
        found = Path(model.model)
        return model.kind != "path" or any(
            path.is_file() for path in (found, found / "config.json", found / "adapter_config.json")
        )
    return is_own(text) or text in registered() or text in installed_policies()


def folder_and_policy(text: str) -> tuple[Path, str]:
    """Of ``FOLDER`` with one policy, or ``FOLDER#POLICY``. Nothing is played yet."""
    _, named, policy = text.partition(SEPARATOR)
    folder = _folder(text)
    policies = list(read_results(folder)[0]["policies"])
    if named and policy not in policies:
        raise UnknownName("policy", policy, policies)
    if not named and len(policies) != 1:
        raise BadInput(
            f"{text} holds several policies; name one, such as "
            f"{text}{SEPARATOR}{policies[0] if policies else 'POLICY'}: {', '.join(policies)}"
        )
    return folder, policy if named else policies[0]


def _folder(text: str) -> Path:
    path = Path(text.partition(SEPARATOR)[0])
    return path.parent if path.name in (RESULTS_NAME, COMPRESSED_NAME) else path


def compare(ours: Side, theirs: Side) -> Comparison:
    left, right = ours.episodes, theirs.episodes
    both = [scenario for scenario in left if scenario in right]
    if not both:
        raise BadInput(
            f"{ours.name} and {theirs.name} have no episode in common; play both on the same "
            "pack, split, tiers and seeds"
        )
    pairs = [Pair(left[scenario], right[scenario]) for scenario in both]
    rows = [row for tier in Tier for row in _rows(tier, pairs)]
    names = ours.policy, theirs.policy
    if names[0] == names[1]:
        names = ours.name, theirs.name
    alone = len(left) + len(right) - 2 * len(both)
    return Comparison(names, pairs, alone, rows, (ours.rewards, theirs.rewards))


def _rows(tier: Tier, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    chosen = [pair for pair in pairs if pair.ours.scenario.tier is tier]
    if not chosen:
        return []
    left, right = ([case_of(pair[side]) for pair in chosen] for side in (0, 1))
    return [
        {
            "tier": tier.value,
            **each.row(left, right),
            "a": each.measure.value(left),
            "b": each.measure.value(right),
            "pairs": len(chosen),
        }
        for each in COMPARED
    ]
