from __future__ import annotations

import pytest

from chaosops.core.events import Events
from chaosops.core.vocabulary import ROLE_NAMES, Role
from chaosops.report.acts import for_people
from chaosops.report.introduction import introduction
from chaosops.rubrics import standard


@pytest.mark.parametrize("role", Role)
def test_an_introduction_names_role_partners_and_prices(role: Role) -> None:
    text = "\n".join(introduction(role, "heuristic"))
    assert ROLE_NAMES[role] in text.splitlines()[0]
    assert "played by heuristic" in text
    for event in ("rogue_flagged", "false_flag"):
        paid = standard().score(Events(1, **{event: True})).rubrics["oversight"]  # type: ignore[arg-type]
        assert for_people(f"{paid:+g} for a") in text
