from __future__ import annotations

from typing import Any

import pytest

from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.packs import load_pack, make_scenario


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"failure": "db_deadlok"}, "did you mean 'db_deadlock'"),
        ({"tier": "hrad"}, "did you mean 'hard'"),
        ({"pack": "clasic"}, "did you mean 'classic'"),
        ({"seed": -1}, "0 or more"),
        ({"limit": 0}, "1 or more"),
    ],
)
def test_bad_values_are_named_with_what_is_allowed(wrong: dict[str, Any], hint: str) -> None:
    with pytest.raises(ChaosOpsError, match=hint):
        make_scenario(**{"failure": "cascade", **wrong})


def test_errors_are_of_their_kind() -> None:
    with pytest.raises(UnknownName):
        load_pack("nothing")
    with pytest.raises(BadInput):
        make_scenario("cascade", seed=-5)


@pytest.mark.parametrize("pack", [None, "arena"])
def test_the_split_of_what_was_added_is_listed(pack: str | None) -> None:
    with pytest.raises(UnknownName, match=r"train_wide, (fixed, )?extra \(where something"):
        make_scenario(pack=pack, split="extra")
