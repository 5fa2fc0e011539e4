"""Transcripts as Parquet, for data frames and training sets. A row is one turn of Oversight."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import MissingExtra
from chaosops.core.files import write_bytes
from chaosops.evaluation.transcripts import EVIDENCE, LABELS, Wire
from chaosops.roles.prompt import render
from chaosops.wire.views import read_rules, read_view

EVIDENCE_TABLE, LABELS_TABLE = (
    str(Path(name).with_suffix(".parquet")) for name in (EVIDENCE, LABELS)
)


def require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra("Parquet", "pyarrow", "parquet") from None


def write_parquet(folder: Path, lines: Sequence[tuple[Wire, Wire]]) -> list[Path]:
    import pyarrow
    from pyarrow.parquet import write_table

    rows = [row for evidence, _ in lines for row in _turns(evidence)]
    tables = {EVIDENCE_TABLE: rows, LABELS_TABLE: [_label_row(label) for _, label in lines]}
    for name, found in tables.items():
        sink = pyarrow.BufferOutputStream()
        # A rule book is the same on every turn: a dictionary holds it once.
        write_table(pyarrow.Table.from_pylist(found), sink, compression="zstd")
        write_bytes(folder / name, sink.getvalue().to_pybytes())
    return [folder / name for name in tables]


def _turns(evidence: Wire) -> Iterator[dict[str, Any]]:
    """The same evidence, with what a language model would be shown on each turn. What has no fixed
    shape is JSON."""
    rules = read_rules(evidence["rules"])
    for turn, view in enumerate(evidence["views"], 1):
        system, user = render(read_view(view, rules))
        before = [act for act in evidence["acts"] if act["step"] <= view["step"]]
        yield {
            "id": evidence["id"],
            "turn": turn,
            "step": view["step"],
            "agents": evidence["rules"]["agents"],
            "system": system["content"],
            "user": user["content"],
            "rules": json.dumps(evidence["rules"]),
            "view": json.dumps(view),
            "acts": json.dumps(before),
        }


def _label_row(label: Wire) -> dict[str, Any]:
    scenario = label["scenario"]
    plain = {name: value for name, value in label.items() if name != "scenario"}
    return {
        **plain,
        "guilty_entries": list(label["guilty_entries"]),
        "decisive_entries": list(label["decisive_entries"]),
        "tier": scenario["tier"],
        "split": scenario.get("split", ""),
        "scenario": json.dumps(scenario),
    }
