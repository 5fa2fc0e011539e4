"""What needs which extra: recordings and views none, a client neither OpenEnv nor a web server."""

from __future__ import annotations

import subprocess
import sys

import pytest

SERVER = ("openenv", "fastapi", "starlette", "uvicorn", "orjson", "mcp")
CLIENT = ("pydantic", "websockets")


@pytest.mark.parametrize(
    ("missing", "imported"),
    [
        ((*SERVER, *CLIENT), "chaosops.wire.recordings, chaosops.wire.views"),
        (SERVER, "chaosops.client.env_client, chaosops.client.seat, chaosops.client.submission"),
    ],
)
def test_is_imported_without(missing: tuple[str, ...], imported: str) -> None:
    hide = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))"
    subprocess.run([sys.executable, "-c", f"{hide}; import {imported}"], check=True)


def test_a_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['websockets'] = None\n"
        "from chaosops.core.errors import MissingExtra\n"
        "try:\n    from chaosops.client import ChaosOpsEnv\n"
        "except MissingExtra as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "a client needs websockets" in said.stdout
    assert "client" in said.stdout.rpartition("websockets")[2]
