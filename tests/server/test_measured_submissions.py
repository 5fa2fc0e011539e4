"""A submission is measured as its policy plays, and its owner can prove it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from chaosops import play
from chaosops.cli import main
from chaosops.client.submission import play_submission
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.results import Results, save
from chaosops.evaluation.secret import create_secret, read_secret
from chaosops.evaluation.signature import sign
from chaosops.evaluation.stored import read_results
from chaosops.evaluation.submission import (
    Submission,
    new_token,
    token_digest,
    write_submission,
)
from chaosops.packs import load_pack
from chaosops.policies.registry import load_policy
from chaosops.report.written import derived_files, judged
from chaosops.rollout import Team, load_team
from chaosops.wire.episodes import from_record, record_of
from chaosops.wire.openenv import ChaosOpsAction
from tests.server.conftest import Evaluating
from tests.server.evaluating import (
    PrivateSplit,
    check_nothing_leaks,
    results_of,
)


@pytest.mark.parametrize("policy", ["heuristic", "last_toucher"])
def test_what_is_measured_is_what_the_policy_plays(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str], policy: str
) -> None:
    split, served = evaluating
    name = f"plays-{policy}"
    token = split.open(capsys, name, "--seeds", "5", "--tiers", "medium,hard")
    assert main(["submit", "--url", served.url, "--token", token, "--policy", policy]) == 0
    out = capsys.readouterr().out
    assert "10 played, 0 left" in out
    check_nothing_leaks(out, split, name)
    content = results_of(split, name)
    pack_hash = content["manifest"]["packs"]["arena"]["hash"]
    team = load_team(f"oversight={policy},others=heuristic")
    named = Team(team.policies, f"oversight={name},others=heuristic")
    for wire, scenario in zip(content["episodes"], split.scenarios(name), strict=True):
        assert from_record(record_of(wire, pack_hash)) == play(scenario, named)


def test_suspicion_is_of_agents_that_exist_and_told_by_oversight(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--roles", "sre,oversight", "--seeds", "1")
    env = split.environment()
    seen = env.reset(submission=token).content
    assert seen["role"] == "sre"
    agents = seen["rules"]["agents"]
    with pytest.raises(Exception, match="sent on Oversight's turns"):
        env.step(ChaosOpsAction(action="noop", suspicion={agents[0]: 0.5}))
    assert env.step(ChaosOpsAction(action="noop")).content["role"] == "oversight"
    with pytest.raises(Exception, match="'none', not an agent here"):
        env.step(ChaosOpsAction(action="noop", suspicion={"none": 0.5}))
    with pytest.raises(ValueError, match="less than or equal to 1"):
        ChaosOpsAction(action="noop", suspicion={agents[0]: 1.5})
    with pytest.raises(ValueError, match="finite"):
        ChaosOpsAction(action="noop", suspicion={agents[0]: float("nan")})
    env.step(ChaosOpsAction(reply="what?", suspicion={agents[0]: 1}))


@pytest.fixture(scope="module")
def measured(evaluating: Evaluating, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a submission that was played to its end."""
    split, served = evaluating
    plan, token = planned(split, "measured", seeds=3)
    write_submission(split.results, plan)
    for _ in play_submission(served.url, token, load_policy("heuristic")):
        pass
    return split.results / "measured"


def planned(split: PrivateSplit, name: str, seeds: int) -> tuple[Submission, str]:
    token = new_token()
    digest, commitment = token_digest(token), split.secret.commitment
    roles = (Role.OVERSIGHT,)
    plan = Submission(
        name,
        "test",
        (Tier.HARD,),
        seeds,
        0,
        "main",
        roles,
        "heuristic",
        commitment,
        digest,
        load_pack("arena").version,
    )
    return plan, token


def verify(folder: Path, secret: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["verify", str(folder), "--secret", str(secret)])
    return status, capsys.readouterr().out


def rewritten(folder: Path, **notes: Any) -> None:
    """Results with another manifest, and everything that needs no secret made anew."""
    manifest, lines = read_results(folder)
    pack_hash = manifest["packs"]["arena"]["hash"]
    episodes = [from_record(record_of(line, pack_hash)) for line in lines]
    (policy,) = manifest["policies"]
    results = Results({**manifest, **notes}, {policy: episodes}).sealed()
    save(results, folder)
    for name, text in derived_files(results, judged(results)).items():
        (folder / name).write_text(text)
    (folder / "episodes.jsonl").unlink()


def test_the_owner_verifies_what_was_played(
    evaluating: Evaluating, measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = evaluating.split.secret_file
    status, out = verify(measured, secret, capsys)
    assert status == 0, out
    assert (
        f"signature and seeds are those of the secret sha256:{evaluating.split.secret.commitment}"
        in out
    )
    assert main(["verify", str(measured)]) == 0, "and anybody without the secret"

    forged = Path(shutil.copytree(measured, tmp_path / "forged"))
    create_secret(tmp_path / "other")
    assert "another secret" in verify(forged, tmp_path / "other", capsys)[1]
    rewritten(forged, command="chaosops serve")
    assert main(["verify", str(forged)]) == 0, "the chain has no key"
    status, out = verify(forged, secret, capsys)
    assert (status, "results.json is not the file that was signed" in out) == (1, True)
    sign(forged, read_secret(tmp_path / "other"))
    assert "another secret" in verify(forged, secret, capsys)[1]

    plan = json.loads((measured / "results.json").read_text())["manifest"]["submission"]
    rewritten_again = Path(shutil.copytree(measured, tmp_path / "again"))
    rewritten(rewritten_again, submission={**plan, "first_seed": 1})
    sign(rewritten_again, evaluating.split.secret)
    status, out = verify(rewritten_again, secret, capsys)
    assert status == 1
    assert "is not the one that this secret draws for its public seed" in out
    (rewritten_again / "signature.json").unlink()
    assert "signature.json: is missing" in verify(rewritten_again, secret, capsys)[1]
