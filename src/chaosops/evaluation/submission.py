"""One submission to a private split: a file with the plan of what a player may play.

``RESULTS/NAME/submission.json`` holds the plan and the hash of its token. The server reads it.
Nobody without access to the folder can open or see a submission.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.files import unwritable, write_text
from chaosops.core.inputs import read_object
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.secret import Secret, hidden_scenario
from chaosops.packs import read_tier
from chaosops.policies.llm.spec import is_model
from chaosops.policies.registry import registered

PLAN_NAME = "submission.json"
FORMAT = "chaosops submission 1"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_EPISODES = 100_000


@dataclass(frozen=True)
class Submission:
    """``series`` names a set of hidden seeds: two submissions of one series play the same
    episodes. Roles that are not the player's are taken by ``partners``."""

    name: str
    split: str
    tiers: tuple[Tier, ...]
    seeds: int
    first_seed: int
    series: str
    roles: tuple[Role, ...]
    partners: str
    commitment: str
    token_sha256: str
    version: str = ""
    """Of the pack, from the second on, as in a scenario."""

    def __post_init__(self) -> None:
        for kind, name in (("submission", self.name), ("series", self.series)):
            if not _NAME.fullmatch(name):
                raise BadInput(f"a {kind} is named with letters, digits, . _ and -, got {name!r}")
        if self.name in registered() or is_model(self.name):
            raise BadInput(
                f"{self.name!r} is the name of a policy; choose another for a submission"
            )
        if not self.tiers or not self.roles:
            raise BadInput("a submission needs at least one tier and one role")
        if not 1 <= self.seeds * len(self.tiers) <= MOST_EPISODES or self.first_seed < 0:
            raise BadInput(f"a submission has 1 to {MOST_EPISODES} episodes, from seed 0 on")

    @property
    def team(self) -> str:
        """Its name in tables."""
        if set(self.roles) == set(Role):
            return self.name
        named = [f"{role}={self.name}" for role in Role if role in self.roles]
        return ",".join([*named, f"others={self.partners}"])

    def scenarios(self, secret: Secret) -> list[Scenario]:
        """The scenarios with their hidden seeds, in order."""
        if secret.commitment != self.commitment:
            raise BadInput(f"submission {self.name} was opened with another secret; use that one")
        return [
            hidden_scenario(secret, self.series, self.split, tier, seed, self.version)
            for tier in self.tiers
            for seed in range(self.first_seed, self.first_seed + self.seeds)
        ]

    def to_wire(self) -> dict[str, Any]:
        fields = {name: value for name, value in asdict(self).items() if name != "version" or value}
        return {
            "format": FORMAT,
            **fields,
            "tiers": [tier.value for tier in self.tiers],
            "roles": [role.value for role in self.roles],
        }

    def published(self) -> dict[str, Any]:
        """For the manifest of its results: all but the token's hash."""
        return {name: value for name, value in self.to_wire().items() if name != "token_sha256"}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Submission:
        if wire.get("format") != FORMAT:
            raise BadInput(f"no submission ('format' is not {FORMAT!r})")
        fields = {name: value for name, value in wire.items() if name != "format"}
        try:
            fields["tiers"] = tuple(read_tier(name) for name in fields["tiers"])
            fields["roles"] = tuple(read_role(name) for name in fields["roles"])
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise BadInput(f"no submission: {error}") from None


def read_role(name: str) -> Role:
    if name not in set(Role):
        raise UnknownName("role", name, [role.value for role in Role])
    return Role(name)


def token_digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def new_token() -> str:
    # Hexadecimal: an option that begins with "-" would be read as another option.
    return secrets.token_hex(32)


def write_submission(folder: Path, submission: Submission) -> Path:
    """Write it into a folder of its own. A running server sees it whole or not at all."""
    place = folder / submission.name
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        raise BadInput(
            f"{place} exists already: a submission is measured once; choose another name"
        ) from None
    except OSError as error:
        raise unwritable(place, error) from None
    os.chmod(place, 0o700)
    write_text(place / PLAN_NAME, json.dumps(submission.to_wire(), indent=1) + "\n")
    return place


def read_submission(place: Path) -> Submission:
    path = place / PLAN_NAME
    content = read_object(path, "submission")
    try:
        return Submission.from_wire(content)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
