"""Whoever can write to the file of the log still cannot change what an audit says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.chain import link
from chaosops.core.errors import BadInput
from chaosops.live.control.keys import Signer
from chaosops.live.control.log import CHANGE, Entry, Head, Log, verify
from chaosops.live.platform import LoggedChange

GUILTY = 3  # the entry that an attacker wants to be rid of


def written(path: Path) -> Log:
    log = Log(path)
    for number in range(1, 6):
        by = "config_manager" if number == GUILTY else "cost_optimizer"
        change = LoggedChange(-number, by, "ledger", "pool_size", 80, 80 - number, "CHG-1234")
        log.append(CHANGE, change, number)
    return log


def audited(log: Log, nonce: str = "n1") -> list[Entry]:
    return verify(log.lines(), log.head(nonce), log.public_key, nonce)


def test_an_untouched_log_is_believed(tmp_path: Path) -> None:
    entries = audited(written(tmp_path / "log"))
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    assert entries[2].change() == LoggedChange(
        -3, "config_manager", "ledger", "pool_size", 80, 77, "CHG-1234"
    )


def test_an_empty_log_is_believed(tmp_path: Path) -> None:
    assert audited(Log(tmp_path / "log")) == []


Lines = list[dict[str, Any]]


def revise(field: str, value: object) -> Callable[[Lines], None]:
    def edit(lines: Lines) -> None:
        lines[GUILTY - 1][field] = value

    return edit


def revise_and_chain_again(lines: Lines) -> None:
    """The key of the log is what an attacker lacks."""
    lines[GUILTY - 1]["by"] = "cost_optimizer"
    own = Signer()
    last = FIRST_LINK[0]
    for line in lines:
        content = {name: line[name] for name in Entry._fields}
        last = line["link"] = link(last, content)
        line["signature"] = own.sign(f"entry {last}")


def drop_and_number_again(lines: Lines) -> None:
    del lines[GUILTY - 1]
    for number, line in enumerate(lines, 1):
        line["number"] = number


def swap(lines: Lines) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def swap_with_numbers(lines: Lines) -> None:
    swap(lines)
    lines[1]["number"], lines[2]["number"] = 2, 3


def replay_at_the_end(lines: Lines) -> None:
    lines.append({**lines[0]})


def replay_with_next_number(lines: Lines) -> None:
    lines.append({**lines[0], "number": 6})


def replay_in_place(lines: Lines) -> None:
    lines[GUILTY - 1] = {**lines[1], "number": GUILTY}


def swap_signatures(lines: Lines) -> None:
    lines[1]["signature"], lines[2]["signature"] = lines[2]["signature"], lines[1]["signature"]


def forge_at_the_end(lines: Lines) -> None:
    content = {name: lines[-1][name] for name in Entry._fields}
    content |= {"number": 6, "by": "cost_optimizer"}
    last = link(lines[-1]["link"], content)
    lines.append({**content, "link": last, "signature": Signer().sign(f"entry {last}")})


FIRST_LINK = [""]
ATTACKS: dict[str, tuple[Callable[[Lines], None], str]] = {
    "revise the author": (revise("by", "cost_optimizer"), "entry 3 was revised"),
    "revise the value": (revise("after", 79), "entry 3 was revised"),
    "revise the time": (revise("at", 0), "entry 3 was revised"),
    "revise the order": (revise("order", "CHG-9999"), "entry 3 was revised"),
    "revise the kind": (revise("kind", "quarantine"), "entry 3 was revised"),
    "revise the request": (revise("request", 9), "entry 3 was revised"),
    "revise and chain again": (revise_and_chain_again, "entry 1 is not signed"),
    "drop one": (lambda lines: lines.pop(GUILTY - 1), "dropped, moved or repeated"),  # type: ignore[dict-item]
    "drop one, number again": (drop_and_number_again, "entry 3 was revised"),
    "drop the end": (lambda lines: lines.__delitem__(slice(2, None)), "3 entries are missing"),
    "drop all": (lambda lines: lines.clear(), "5 entries are missing"),
    "swap two": (swap, "dropped, moved or repeated"),
    "swap two with their numbers": (swap_with_numbers, "entry 2 was revised"),
    "replay one": (replay_at_the_end, "dropped, moved or repeated"),
    "replay one as the next": (replay_with_next_number, "entry 6 was added"),
    "replay one over another": (replay_in_place, "entry 3 was revised"),
    "swap signatures": (swap_signatures, "entry 2 is not signed"),
    "forge one": (forge_at_the_end, "entry 6 was added"),
    "remove a signature": (lambda lines: lines[0].pop("signature"), "line 1 is not an entry"),
    "empty a signature": (lambda lines: lines[0].update(signature=""), "entry 1 is not signed"),
    "add a field": (lambda lines: lines[0].update(note="ok"), "line 1 is not an entry"),
    "turn a number into text": (revise("after", "77"), "line 3 is not an entry"),
    "turn a number into a truth value": (revise("request", True), "line 3 is not an entry"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_file_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = written(path)
    FIRST_LINK[0] = log.public_key
    attack, said = ATTACKS[name]
    lines = [json.loads(line) for line in log.lines()]
    attack(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadInput, match=said):
        audited(log)


@pytest.mark.parametrize("text", ["", "not json\n", "[]\n", '{"number": 1, "number": 1}\n'])
def test_a_log_that_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = written(path)
    path.write_text(text)
    with pytest.raises(BadInput, match="tampered with"):
        audited(log)


def test_a_removed_file(tmp_path: Path) -> None:
    log = written(tmp_path / "log")
    (tmp_path / "log").unlink()
    with pytest.raises(BadInput, match="5 entries are missing"):
        audited(log)


def test_an_entry_that_is_slipped_in_while_the_log_grows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = written(path)
    with path.open("a") as file:
        file.write(log.lines()[0] + "\n")
    log.append(CHANGE, LoggedChange(0, "cost_optimizer", "ledger", "pool_size", 80, 70), 6)
    with pytest.raises(BadInput, match="entry 1 stands at place 6"):
        audited(log)


def test_the_log_of_another_run(tmp_path: Path) -> None:
    """Of the same acts, and whole."""
    log, other = written(tmp_path / "log"), written(tmp_path / "other")
    with pytest.raises(BadInput, match="entry 1 is not signed"):
        verify(other.lines(), log.head("n1"), log.public_key, "n1")
    with pytest.raises(BadInput, match="head is not signed"):
        verify(other.lines(), other.head("n1"), log.public_key, "n1")


def test_an_old_head_does_not_hide_what_came_after(tmp_path: Path) -> None:
    """Somebody between the log and its reader answers with what was true before."""
    log = written(tmp_path / "log")
    old_lines, old_head = log.lines(), log.head("n1")
    log.append(CHANGE, LoggedChange(0, "config_manager", "ledger", "pool_size", 80, 20), 6)
    with pytest.raises(BadInput, match="an old one"):
        verify(old_lines, old_head, log.public_key, "n2")
    renamed = Head(*old_head._replace(nonce="n2"))
    with pytest.raises(BadInput, match="head is not signed"):
        verify(old_lines, renamed, log.public_key, "n2")


def test_two_runs_do_not_share_a_log(tmp_path: Path) -> None:
    written(tmp_path / "log")
    with pytest.raises(BadInput, match="File exists"):
        Log(tmp_path / "log")
