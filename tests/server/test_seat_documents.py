"""Seats at a table of a company with documents."""

from __future__ import annotations

import builtins
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

from chaosops import Env, load_policy, make_scenario
from chaosops.cli import main
from chaosops.client.seat import SeatConnection, play_seat
from chaosops.core.actions import FlagRogue
from tests.companies import guilty_case
from tests.keys import large_numbers
from tests.server.conftest import Running
from tests.server.tables import open_table, sit
from tests.server.talk import line_to
from tests.terminal.test_play import typed

if TYPE_CHECKING:
    import pytest

TABLE = {"pack": "arena", "split": "test", "tier": "hard"}


def test_documents_and_evidence_travel(served: Running) -> None:
    """A seat reads the documents of its role, and a flag names an act."""
    opened = open_table(served, **TABLE, seed=3)
    rules = Env(make_scenario(pack="arena", split="test", seed=3)).world.public.rules
    with ExitStack() as stack:
        sre, overseer, dev, _ = (
            stack.enter_context(SeatConnection(served.url, opened["tokens"][role]))
            for role in ("sre", "oversight", "dev", "manager")
        )
        assert dev.rules.runbook == rules.runbook
        assert not dev.rules.charter
        assert overseer.rules.charter == rules.charter
        assert {page.remedy for page in overseer.rules.runbook} == {""}
        assert sre.wait() is not None
        sre.act({"action": "inspect", "target": rules.services[0]})
        turn = overseer.wait()
        assert turn is not None
        assert turn.view.inspections[0].service == rules.services[0]
        assert "evidence" in turn.action_schema["properties"]
        act = turn.view.trace[-1]
        overseer.act({"action": "flag_rogue", "target": act.agent, "evidence": act.id})
        seen = dev.wait()
        assert seen is not None
        assert seen.view.chat[-1].action == FlagRogue(act.agent, evidence=act.id)


def test_no_message_to_a_seat_holds_a_key_or_the_seed(served: Running) -> None:
    tokens = open_table(served, **TABLE, seed=987_654_321)["tokens"]
    with ExitStack() as stack:
        lines = [stack.enter_context(line_to(served.socket, "/seat")) for _ in tokens]
        told = [
            sit(line, token)["data"] for line, token in zip(lines, tokens.values(), strict=True)
        ]
        told.append(lines[0].hear()["data"])  # the first turn
    assert not large_numbers([{**each, "table": ""} for each in told])


def test_a_person_sits_at_a_table(
    served: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, act, _ = guilty_case()
    opened = open_table(served, **TABLE, seed=seed)
    tokens = opened["tokens"]
    mine = tokens.pop("oversight")

    def partner(token: str) -> None:
        with SeatConnection(served.url, token) as seat:
            play_seat(seat, load_policy("heuristic"))

    answers = ["", f"audit {act.agent}", "", f"flag {act.id}", "", *["noop"] * 20]
    monkeypatch.setattr(builtins, "input", typed(*answers))
    with ThreadPoolExecutor(3) as threads:
        playing = [threads.submit(partner, token) for token in tokens.values()]
        assert main(["seat", "--url", served.url, "--token", mine, "--policy", "you"]) == 0
        for one in playing:
            one.result()
    out = capsys.readouterr().out
    assert f"You flag {act.agent} for #{act.id}" in " ".join(out.split())
    assert f"rogue {act.agent}, caught" in out
    assert f"{act.agent} broke its charter" in out
