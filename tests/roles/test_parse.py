from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosops.core.actions import (
    VERBS,
    Action,
    Communicate,
    Escalate,
    FlagRogue,
    Restart,
    Scale,
    Unreadable,
)
from chaosops.core.dice import Dice, key_of
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.parse import parse, parse_object

GOOD: list[tuple[str, Action]] = [
    ('{"action":"restart","target":"db"}', Restart("db")),
    (' \n{"action": "scale", "target": "db", "replicas": 2}\n', Scale("db", 2)),
    ('{"action":"scale","target":"db","args":{"replicas":2}}', Scale("db", 2)),
    ('```json\n{"action":"escalate"}\n```', Escalate()),
    ('```\n{"action":"escalate"}```', Escalate()),
    ('{"action":"escalate","reason":"nobody answers"}', Escalate()),
    ('{"action":"flag_rogue","target":"x","confidence":0}', FlagRogue("x", 0.0)),
    ('{"action":"communicate","message":"hé 🙂","to":"dev"}', Communicate("hé 🙂", "dev")),
    ('{"action":"communicate","message":"","to":null}', Communicate("")),
]

BAD: list[tuple[object, str]] = [
    ("", "empty"),
    ("   \n", "empty"),
    (None, "not_text"),
    (b"{}", "not_text"),
    ("restart db", "not_json"),
    ('I think {"action":"noop"}', "not_json"),
    ('{"action":"noop"} {"action":"noop"}', "not_json"),
    ('{"action":"noop"', "not_json"),
    ("[" * 5000, "not_json"),
    ('{"a":' * 1500, "not_json"),
    ("[]", "not_an_object"),
    ('"noop"', "not_an_object"),
    ("{}", "unknown_action"),
    ('{"action":"dance"}', "unknown_action"),
    ('{"action":["noop"]}', "unknown_action"),
    ('{"action":{"action":"noop"}}', "unknown_action"),
    ('{"action":"unreadable","error":"a","detail":"b"}', "unknown_action"),
    ('{"action":"restart"}', "missing_field"),
    ('{"action":"restart","target":null}', "bad_value"),
    ('{"action":"restart","target":["db"]}', "bad_value"),
    ('{"action":"restart","target":"db","force":true}', "unknown_field"),
    ('{"action":"scale","target":"db"}', "missing_field"),
    ('{"action":"scale","target":"db","replicas":"many"}', "bad_value"),
    ('{"action":"scale","target":"db","replicas":2.5}', "bad_value"),
    ('{"action":"scale","target":"db","replicas":true}', "bad_value"),
    ('{"action":"scale","target":"db","replicas":1e999}', "bad_value"),
    ('{"action":"scale","target":"db","replicas":' + "9" * 400 + "}", "bad_value"),
    ('{"action":"scale","target":"db","replicas":NaN}', "bad_value"),
    ('{"action":"scale","target":"db","replicas":2,"args":{"replicas":3}}', "repeated_field"),
    ('{"action":"scale","args":[1]}', "bad_value"),
    ('{"action":"communicate","message":"x","to":"cto"}', "unknown_role"),
    ('{"action":"communicate","message":"x","to":7}', "unknown_role"),
    ('{"action":"communicate","message":"' + "x" * 3000 + '"}', "too_long"),
    ('{"action":"communicate","message":"\\ud800"}', "bad_value"),
    ('{"action":"flag_rogue","target":"x","confidence":1.5}', "bad_value"),
    ('{"action":"flag_rogue","target":"x","confidence":"high"}', "bad_value"),
    ("x" * 1_000_000, "too_long"),
    ('{"action":"restart","target":"' + "x" * 1_000_000 + '"}', "too_long"),
]


@pytest.mark.parametrize(("text", "action"), GOOD)
def test_readable_replies(text: str, action: Action) -> None:
    assert parse(text) == action


@pytest.mark.parametrize(("text", "error"), BAD, ids=lambda value: str(value)[:40])
def test_unreadable_replies_name_their_error(text: object, error: str) -> None:
    got = parse(text)
    assert isinstance(got, Unreadable)
    assert got.error == error
    assert got.detail
    assert len(got.detail) < 300


def is_action_or_named_error(value: object) -> bool:
    if isinstance(value, Unreadable):
        return value.error.isidentifier() and bool(value.detail)
    return type(value) in VERBS.values()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
field_names = st.sampled_from(
    ["target", "replicas", "message", "to", "failure_type", "confidence", "args", "reason"]
)
near_actions = st.builds(
    lambda verb, fields: {"action": verb, **fields},
    st.sampled_from([*VERBS, "dance"]),
    st.dictionaries(field_names, json_values, max_size=4),
)


@settings(max_examples=500, deadline=None)
@given(st.text() | json_values.map(json.dumps) | near_actions.map(json.dumps))
def test_any_text_is_an_action_or_a_named_error(text: str) -> None:
    assert is_action_or_named_error(parse(text))


@settings(max_examples=500, deadline=None)
@given(near_actions | st.dictionaries(st.text(), json_values, max_size=5))
def test_any_object_is_an_action_or_a_named_error(data: dict[str, object]) -> None:
    assert is_action_or_named_error(parse_object(data))


def wild_replies(count: int) -> list[str]:
    """Legal actions, damaged in every way that costs little to write down."""
    dice = Dice(key_of("wild replies"))
    legal = [
        '{"action":"restart","target":"db"}',
        '{"action":"scale","target":"payments","replicas":4}',
        '{"action":"flag_rogue","target":"autoscaler","confidence":0.5}',
        '{"action":"communicate","message":"hello","to":"dev"}',
        '{"action":"identify_root_cause","failure_type":"cascade"}',
        '{"action":"resolve"}',
        '{"action":"escalate"}',
        '{"action":"inspect","target":"web"}',
        '{"action":"audit","target":"config_manager"}',
        '{"action":"flag_rogue","target":"deploy_bot","evidence":3}',
        '{"action":"purge","target":"user-db"}',
        "",
    ]
    scraps = ['"', "{", "}", ":", ",", "null", "-1", "1e400", '"many"', "\\u0000", "[[", "nan", "é"]
    replies = []
    for _ in range(count):
        text = dice.pick(legal)
        for _ in range(dice.below(4)):
            at = dice.below(len(text) + 1)
            cut = dice.below(4)
            text = text[:at] + dice.pick(scraps) + text[at + cut :]
        replies.append(text)
    return replies


def test_forty_thousand_replies_and_actions_never_crash_the_world() -> None:
    scenarios = [
        make_scenario(failure, tier=tier, seed=seed)
        for failure in load_pack("classic").failures()
        for tier in ("easy", "hard")
        for seed in range(3)
    ]
    scenarios += [
        make_scenario(pack="arena", split="train", tier=tier, seed=seed)
        for tier in ("easy", "medium", "hard")
        for seed in range(5)
    ]
    steps = 0
    env = Env(scenarios[0])
    unreadable = 0
    for reply in wild_replies(40_000):
        if env.over:
            env = Env(scenarios[steps % len(scenarios)])
        role = env.role
        action = parse(reply)
        assert is_action_or_named_error(action)
        result = env.step(reply)
        steps += 1
        if isinstance(action, Unreadable):
            unreadable += 1
            assert result.info["miscommunication"] is not None
            assert result.info["components"]["resolution"]["miscommunication"] == -20.0
        assert role in Role
        assert result.reward == pytest.approx(sum(result.info["rubrics"].values()))
    assert steps == 40_000
    assert 0.2 < unreadable / steps < 0.9  # both kinds were really tried
