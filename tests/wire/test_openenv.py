from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from chaosops.wire.openenv import ChaosOpsAction


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "either 'action' with its fields, or 'reply'"),
        ({"action": "noop", "reply": "{}"}, "either 'action'"),
        ({"action": "dance"}, "Input should be 'noop'"),
        ({"action": "scale", "replicas": "4"}, "valid integer"),
        ({"action": "scale", "replicas": True}, "valid integer"),
        ({"action": "flag_rogue", "confidence": 1.5}, "less than or equal to 1"),
        ({"action": "noop", "speed": 1}, "Extra inputs are not permitted"),
        ({"reply": "x" * 9_000}, "at most 8000"),
        ({"action": "communicate", "to": "cto"}, "Input should be 'sre'"),
    ],
)
def test_an_action_is_checked_before_it_is_sent(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ChaosOpsAction.model_validate(fields)


def test_what_was_not_said_is_left_out() -> None:
    action = ChaosOpsAction(action="scale", target="db", replicas=2, reason=None)
    assert action.fields() == {"action": "scale", "target": "db", "replicas": 2}
