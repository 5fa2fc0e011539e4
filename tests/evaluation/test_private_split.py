"""Secrets, hidden seeds and signatures, without a server."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.cli import main
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.secret import (
    Secret,
    create_secret,
    hidden_scenario,
    hidden_seed,
    read_secret,
)
from chaosops.evaluation.signature import SIGNATURE_NAME, sign, signature_problems
from chaosops.evaluation.submission import new_token
from chaosops.web.evaluations import spans
from chaosops.wire.episodes import from_record, to_record

SECRET = Secret(bytes(range(32)))


def test_a_secret_is_new_private_and_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "secret"
    assert main(["secret", str(path)]) == 0
    out = capsys.readouterr().out
    content = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" in out, "what sha256sum prints"
    assert content.decode().strip() not in out
    assert create_secret(tmp_path / "other").commitment != read_secret(path).commitment
    assert main(["secret", str(path)]) == 2
    assert "a secret is never replaced" in capsys.readouterr().err
    assert path.read_bytes() == content


def test_a_secret_never_shows_itself(tmp_path: Path) -> None:
    secret = create_secret(tmp_path / "secret")
    text = (tmp_path / "secret").read_text().strip()
    assert text not in f"{secret!r} {secret} {[secret]} {vars(type(secret))}"
    with pytest.raises(TypeError, match="does not leave its process"):
        pickle.dumps(secret)


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"x" * 10, 0o600, "32 to 4096 random bytes"),
        (b"\0" * 64, 0o600, "32 to 4096 random bytes"),
        (os.urandom(5000), 0o600, "32 to 4096 random bytes"),
        (bytes(range(64)), 0o644, "others can read the secret"),
        (bytes(range(64)), 0o640, "others can read the secret"),
        (None, 0o600, "cannot read the secret"),
    ],
)
def test_a_weak_or_open_secret_is_refused(
    tmp_path: Path, content: bytes | None, mode: int, said: str
) -> None:
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    with pytest.raises(BadInput, match=said):
        read_secret(path)


def test_a_retired_secret_may_be_read_by_all(tmp_path: Path) -> None:
    create_secret(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o644)
    assert read_secret(tmp_path / "secret", private=False).commitment


def test_every_part_of_the_public_name_changes_the_hidden_seed() -> None:
    other = Secret(bytes(range(1, 33)))
    seeds = [
        hidden_seed(secret, series, split, tier, seed)
        for secret in (SECRET, other)
        for series in ("main", "spring")
        for split in ("test", "ood_names")
        for tier in Tier
        for seed in range(50)
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert sum(seed >= 2**62 for seed in seeds) > len(seeds) / 3, "63 bits, not fewer"


def test_anybody_can_derive_a_hidden_seed_from_a_retired_secret() -> None:
    """With nothing but what docs/leaderboard.md says."""
    text = '["chaosops","hidden seed 1","spring","test","hard",7]'
    digest = hmac.new(bytes(range(32)), text.encode(), "sha256").digest()
    seed = int(digest.hex(), 16) >> (256 - 63)
    assert hidden_seed(SECRET, "spring", "test", Tier.HARD, 7) == seed
    page = Path(__file__).parents[2] / "docs/leaderboard.md"
    assert '["chaosops","hidden seed 1",series,split,tier,n]' in page.read_text(encoding="utf-8")


def test_the_classic_pack_has_no_hidden_seeds() -> None:
    with pytest.raises(BadInput, match="drawn like one of train, test"):
        hidden_scenario(SECRET, "main", "", Tier.HARD, 1)


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63 - 1])
def test_large_seeds_are_seeds_like_others(seed: int) -> None:
    """JavaScript rounds whole numbers above 2**53: what the page is told of seeds is text."""
    arena = make_scenario(pack="arena", split="test", tier="hard", seed=seed)
    assert Env(arena).world.digest() != Env(make_scenario(
        pack="arena", split="test", tier="hard", seed=seed - 1
    )).world.digest()  # fmt: skip
    for scenario in (arena, make_scenario("cascade", tier="hard", seed=seed)):
        episode = play(scenario, Team.of(load_policy("random")))
        record = json.loads(json.dumps(to_record(episode)))
        assert record["scenario"]["seed"] == seed
        assert from_record(record) == episode
    shown = spans([seed])
    assert isinstance(shown, str)
    assert str(seed) in shown.replace(",", "")


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    (tmp_path / "results.json").write_text('{"manifest": {}, "episodes": []}')
    sign(tmp_path, SECRET)
    return tmp_path


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_signature_is_the_owners(signed: Path) -> None:
    assert signature_problems(signed, SECRET) == []
    (other,) = signature_problems(signed, Secret(bytes(range(1, 33))))
    assert "another secret" in other


def test_a_forged_signature_is_found(signed: Path) -> None:
    path = signed / SIGNATURE_NAME
    (signed / "results.json").write_text('{"manifest": {}, "episodes": [1]}')
    assert "not the file that was signed" in signature_problems(signed, SECRET)[0]
    edit(path, results_sha256=hashlib.sha256((signed / "results.json").read_bytes()).hexdigest())
    assert "is forged" in signature_problems(signed, SECRET)[0]
    edit(path, format="?")
    assert "is not a signature" in signature_problems(signed, SECRET)[0]
    path.write_text("{")
    assert "cannot be read" in signature_problems(signed, SECRET)[0]
    path.unlink()
    assert "is missing" in signature_problems(signed, SECRET)[0]


def test_a_token_can_follow_an_option() -> None:
    """A word that begins with "-" would be read as another option."""
    assert all(new_token().isalnum() for _ in range(300))
