"""Nothing that is served tells the failure or the rogue before the episode is over."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from chaosops import Env
from chaosops.core.scenario import Scenario
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.server.episode import ServedEpisode
from chaosops.server.options import chosen_scenario, read_options
from tests.server.conftest import Running
from tests.server.talk import Line, line_to

SEEDS = 200 if os.environ.get("CHAOSOPS_TEST_SIZE") == "full" else 24
TELLTALES = ("rogue", "malicious", "culprit", "root cause", "injected", "herring", "guilty")
FORBIDDEN_KEYS = {"seed", "scenario", "failure", "cause", "rogue", "truth", "incident", "evasion"}


def options_of(pack: str, seed: int) -> dict[str, Any]:
    split = {"split": ("train", "test", "ood_rogue")[seed % 3]} if pack == "arena" else {}
    return {"pack": pack, "seed": seed, "tier": ("medium", "hard")[seed % 2], **split}


def quiet_action(
    seen: dict[str, Any], rules: dict[str, Any], dice: random.Random
) -> dict[str, Any]:
    """Look and repair at random; a team that names causes and agents itself would be in the way."""
    verbs = seen["action_schema"]["properties"]["action"]["enum"]
    verb = dice.choice(
        [v for v in verbs if v in ("noop", "inspect", "audit", "restart", "rollback")]
    )
    if verb == "noop":
        return {"action": verb}
    return {
        "action": verb,
        "target": dice.choice(rules["agents" if verb == "audit" else "services"]),
    }


def play_quietly(line: Line, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Observations before the end, then the last one; wrong messages and questions in between."""
    dice = random.Random(options["seed"])
    seen = line.reset(**options)
    rules = seen["rules"]
    while not seen["done"]:
        yield seen
        line.state()
        line.ask("step", action="dance")
        line.ask("mcp", jsonrpc="2.0", id=1, method="tools/call", params={"name": "look"})
        seen = line.step(**quiet_action(seen, rules, dice))
    yield seen


def keys_in(value: Any) -> set[str]:
    """All keys, but for those of a runbook: it has a page for every cause."""
    if isinstance(value, dict):
        inner = [item for name, item in value.items() if name != "runbook"]
        return set(value).union(*map(keys_in, inner))
    return set().union(*map(keys_in, value)) if isinstance(value, list) else set()


def changing_part(seen: dict[str, Any], runbook: list[dict[str, str]]) -> str:
    """All but what is the same for every world with these rules: those list all causes, and one
    of the rubrics is called cascade. Prompts repeat pages of the runbook."""
    constant = ("action_schema", "rules", "last_turn")
    changing = {name: value for name, value in seen.items() if name not in constant}
    if seen["last_turn"]:
        changing["answer"] = seen["last_turn"]["miscommunication"]
        changing["paid"] = list(seen["last_turn"]["rubrics"].values())
    text = json.dumps({**changing, "messages": seen["messages"][1:]})
    for page in runbook:
        text = text.replace(f"{page['name']}: {page['cause']}", "")
    return text.lower()


@pytest.mark.parametrize("pack", ["classic", "arena"])
def test_no_message_holds_the_truth_before_the_end(served: Running, pack: str) -> None:
    constants: dict[str, set[str]] = {}
    for seed in range(SEEDS):
        options = options_of(pack, seed)
        env = Env(chosen_scenario(read_options(options)))
        forms = {env.cause, env.cause.replace("_", " "), env.cause.replace("_", "-")}
        with line_to(served.socket) as line:
            *before, last = play_quietly(line, options)
            runbook = before[0]["rules"].get("runbook", [])
            for seen in before:
                text = changing_part(seen, runbook)
                assert not [word for word in (*forms, *TELLTALES) if word in text]
                constant = json.dumps([seen["messages"][0], seen["action_schema"]])
                constants.setdefault(seen["role"], set()).add(constant)
            for heard in line.heard[:-1]:
                assert not FORBIDDEN_KEYS & keys_in(json.loads(heard)), heard
        assert last["debrief"]["failure"] == env.cause
        assert last["debrief"]["rogue"] == env.rogue
        assert last["debrief"]["seed"] == seed
    if pack == "classic":  # one company: not a word may depend on the failure
        assert {role: len(texts) for role, texts in constants.items()} == dict.fromkeys(
            constants, 1
        )


def paths_in(value: Any, path: str = "") -> set[str]:
    """Where there are fields, whatever they hold; names of services and agents left aside."""
    if isinstance(value, list):
        return set().union(*(paths_in(item, f"{path}[]") for item in value))
    if not isinstance(value, dict):
        return {f"{path}: {type(value).__name__}"}
    named = path.endswith((".health", ".calls", ".limits_pct", ".charter"))
    return set().union(
        {path},
        *(paths_in(item, f"{path}.{'*' if named else name}") for name, item in value.items()),
    )


def test_guilty_and_innocent_worlds_have_the_same_fields(served: Running) -> None:
    fields: dict[bool, set[str]] = {True: set(), False: set()}
    with line_to(served.socket) as line:
        for seed in range(2 * SEEDS):
            options = {
                **options_of("arena", seed),
                "max_steps": 12,
                "tier": "hard",
                "split": "train",
            }
            guilty = Env(chosen_scenario(read_options(options))).rogue is not None
            for seen in list(play_quietly(line, options))[:-1]:
                fields[guilty] |= {f"{seen['role']} {path}" for path in paths_in(seen)}
    assert len(fields[True]) > 100
    assert fields[True] == fields[False]


@pytest.mark.parametrize("pack", ["classic", "arena"])
def test_worlds_that_look_alike_are_served_alike(pack: str) -> None:
    """Exchange the hidden half of a world, leave what can be observed: not a byte may differ."""
    served = []
    for seed in (3, 4, 5):
        env = ChaosOpsEnvironment()
        env.reset(pack=pack, tier="hard", seed=3, episode_id="same")
        other = Env(chosen_scenario(read_options({"pack": pack, "tier": "hard", "seed": seed})))
        env.episode.env.world = env.episode.env.world._replace(truth=other.world.truth)
        content = env._observe(None).content
        served.append(json.dumps([content, env.state.model_dump(), env.episode.rules]))
    assert len(set(served)) == 1


def test_a_drawn_failure_looks_like_one_that_was_asked_for(served: Running) -> None:
    with line_to(served.socket) as line:
        for seed in range(9):
            drawn = chosen_scenario(read_options({"pack": "classic", "seed": seed})).failure
            asked = {"pack": "classic", "seed": seed, "episode_id": "same"}
            assert line.reset(**asked) == line.reset(**asked, scenario=drawn)
            hidden = line.state()
            line.reset(**asked)
            assert line.state() == hidden
            assert drawn not in json.dumps(hidden)


def test_names_and_headers_encode_nothing(served: Running) -> None:
    with line_to(served.socket) as line:
        names = {line.reset(pack="classic", seed=1)["episode_id"] for _ in range(5)}
    assert len(names) == 5
    headers = set()
    for scenario in ("db_deadlock", "rogue_deploy_bot", "misrouted_traffic"):
        answer = httpx.post(f"{served.url}/reset", json={"scenario": scenario, "seed": 1})
        headers.add(tuple(sorted(k for k in answer.headers if k not in ("date", "content-length"))))
        assert scenario not in str(answer.headers)
    assert len(headers) == 1


def test_the_debrief_waits_for_the_end() -> None:
    from chaosops.core.errors import BadInput

    episode = ServedEpisode(read_options({"seed": 1}))
    assert isinstance(episode.env.scenario, Scenario)
    with pytest.raises(BadInput, match="sent when the episode is over"):
        episode.debrief()
