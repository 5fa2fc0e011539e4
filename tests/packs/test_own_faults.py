"""Faults of a user's own, from a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.splits import SPLITS
from chaosops.policies.registry import load_policy
from chaosops.roles.prompt import render
from chaosops.roles.view import project
from chaosops.rollout import Team, play
from chaosops.wire.episodes import from_record, to_record

LEASE = """
[[mechanism]]
id = "lease_lost"
setting = "lease_ttl_s"
harmful = "down"
values = [20, 60]
changed_by = ["config_manager", "deploy_bot"]
strikes = ["api", "worker"]
effect = { errors = 0.4, latency = 1.5 }
shows = "here"
remedy = "restart"
logs = ["lease expired before renewal", "two owners for one key, {n} conflicts", "late by {n}ms"]
severity = 0.8
"""
BELOW = LEASE.replace("lease", "lock").replace('"here"', '"below"')


def written(folder: Path, text: str) -> Path:
    file = folder / "own.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("text", [LEASE, BELOW, LEASE + BELOW])
@pytest.mark.parametrize("split", ["train", "test", "ood_rogue", "ood_shape"])
def test_its_companies_have_its_faults_and_the_oracle_solves_them(
    text: str, split: str, tmp_path: Path
) -> None:
    file = written(tmp_path, text)
    for seed in range(3):
        scenario = make_scenario(split=split, seed=seed, mechanisms=file)
        episode = play(scenario, Team.of(load_policy("oracle")))
        assert episode.cause in ("lease_lost", "lock_lost")
        assert episode.resolved
        assert episode.false_flags == 0


def test_a_full_file_leaves_room_for_what_others_do(tmp_path: Path) -> None:
    entries = [
        LEASE.replace("lease_lost", f"lost_{i}").replace("lease_ttl_s", f"ttl_{i}")
        for i in range(12)
    ]
    file = written(tmp_path, "".join(entries))
    for seed in range(20):
        episode = play(make_scenario(seed=seed, mechanisms=file), Team.of(load_policy("oracle")))
        assert episode.resolved


def test_an_effect_that_cannot_show_is_refused(tmp_path: Path) -> None:
    weak = LEASE.replace("{ errors = 0.4, latency = 1.5 }", "{ errors = 0.0000001 }")
    told = "own.toml: mechanism 'lease_lost': its effect is too weak to show"
    with pytest.raises(BadInput, match=told):
        Env(make_scenario(mechanisms=written(tmp_path, weak)))


@pytest.mark.parametrize(
    ("strikes", "shows", "tier", "seeds"),
    [("store", "below", "hard", [1]), ("queue", "here", "easy", range(20))],
)
def test_a_fault_without_a_place_is_refused(
    strikes: str, shows: str, tier: str, seeds: Sequence[int], tmp_path: Path
) -> None:
    """Stores call nothing, and the smallest companies have no queue."""
    text = LEASE.replace('["api", "worker"]', f'["{strikes}"]').replace('"here"', f'"{shows}"')
    scenarios = [
        make_scenario(mechanisms=written(tmp_path, text), tier=tier, seed=seed) for seed in seeds
    ]
    problem = r"own.toml: mechanism 'lease_lost': no company of \d+ services in split test has a"
    with pytest.raises(BadInput, match=problem):
        [Env(scenario) for scenario in scenarios]


def test_a_recording_carries_the_faults_along(tmp_path: Path) -> None:
    file = written(tmp_path, LEASE)
    scenario = make_scenario(mechanisms=file)
    assert (scenario.pack, scenario.split) == ("arena", "test")
    file.unlink()
    episode = play(scenario, Team.of(load_policy("oracle")))
    assert from_record(to_record(episode)) == episode


def company(split: str, seed: int, mechanisms: Path | str = "") -> list[object]:
    """Its truth, its documents and what the roles read first."""
    scenario = make_scenario(split=split, seed=seed, mechanisms=mechanisms)
    found, public = PACK.incident(scenario), Env(scenario).world.public
    prompts = [render(project(public, role)) for role in Role]
    return [found.company, found.plot, public.rules.runbook, public.rules.charter, prompts]


def test_no_other_company_changes(tmp_path: Path) -> None:
    places = [(split, seed) for split in SPLITS for seed in range(2)]
    before = [company(*place) for place in places]
    file = written(tmp_path, LEASE)
    for place, plain in zip(places, before, strict=True):
        mine = company(*place, file)
        assert mine[1:] != plain[1:]
    assert [company(*place) for place in places] == before


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('harmful = "down"', 'harmful = "left"', "harmful = 'left'; it must be down or up"),
        ("[20, 60]", "[60, 20]", "values = [60, 20]; it must be two whole numbers"),
        ("[20, 60]", "[2, 60]", "values = [2, 60]; it must be two whole numbers from 5"),
        ('"config_manager"', '"nobody"', "it must be a list of some of: autoscaler"),
        ('["api", "worker"]', '["apis"]', "it must be a list of some of: edge, api, queue"),
        ("errors = 0.4", "fun = 1", "it must be harmful: capacity from 0.05 to 1.0"),
        ("{ errors = 0.4, latency = 1.5 }", "{}", "effect = {}; it must be harmful"),
        ('shows = "here"', 'shows = "there"', "shows = 'there'; it must be one of: here, below"),
        ('remedy = "restart"', 'remedy = "pray"', "it must be one of: restart, rollback"),
        ("{n} conflicts", "{x} conflicts", "without braces but {n}"),
        ("{n} conflicts", "{n:>9999999999}", "without braces but {n}"),
        ("{n} conflicts", "<|im_end|>", "without <| and |>"),
        ('id = "lease_lost"', "id = 1979-05-27", "id = '1979-05-27'; it must be a name"),
        ("[20, 60]", "[" * 20_000, "nested too deeply"),
        ("[20, 60]", f"[20, {'9' * 6000}]", "is not TOML"),
        ("severity = 0.8", "severity = 7", "severity = 7; it must be a number from 0.05 to 1"),
        ("severity = 0.8", "colour = 1", "unknown key 'colour'; allowed: id, setting"),
        ('setting = "lease_ttl_s"\n', "", "'setting' is missing; it must be a name"),
        ('id = "lease_lost"', 'id = "Lease Lost"', "it must be a name in small letters"),
        ("[[mechanism]]", "[mechanism]", "expected [[mechanism]] entries and nothing else"),
        ("[[mechanism]]", "[[mechanism", "is not TOML"),
        ('setting = "lease_ttl_s"', 'setting = "lease_lost"', "'lease_lost' is used twice"),
        ('setting = "lease_ttl_s"', 'setting = "replicas"', "a letter first), and not replicas"),
        ("[[mechanism]]", f"# {'x' * 2**20}\n[[mechanism]]", "it is larger than 1 MiB"),
    ],
)
def test_a_bad_file_gets_one_line(old: str, new: str, problem: str, tmp_path: Path) -> None:
    assert old in LEASE
    with pytest.raises(BadInput) as error:
        make_scenario(mechanisms=written(tmp_path, LEASE.replace(old, new)))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
    assert "own.toml" in str(error.value)


def test_check_covers_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(written(tmp_path, LEASE + BELOW))
    words = ["check", "--mechanisms", file, "--seeds", "1", "--contract-seeds", "1"]
    assert main(words) == 0
    assert "all contracts hold, no exploit pays" in capsys.readouterr().out


def test_a_pack_that_takes_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pack classic takes no mechanisms"):
        make_scenario("cascade", pack="classic", mechanisms=written(tmp_path, LEASE))
