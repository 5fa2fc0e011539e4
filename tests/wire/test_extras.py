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
        (
            SERVER,
            "chaosops.client.episode_client, chaosops.client.seat, chaosops.client.submission",
        ),
    ],
)
def test_is_imported_without(missing: tuple[str, ...], imported: str) -> None:
    hide = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))"
    subprocess.run([sys.executable, "-c", f"{hide}; import {imported}"], check=True)


@pytest.mark.parametrize(
    ("missing", "wanted", "told"),
    [
        ("pydantic", "client.ChaosOpsClient", "needs pydantic, which is not installed"),
        ("pydantic", "server.submission_run", "[server]'"),
        ("openenv", "client.ChaosOpsEnv", "or use ChaosOpsClient of the extra client"),
    ],
)
def test_a_missing_extra_is_named(missing: str, wanted: str, told: str) -> None:
    package, _, name = wanted.partition(".")
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from chaosops.core.errors import MissingExtra\n"
        f"try:\n    from chaosops.{package} import {name}\n"
        "except MissingExtra as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told in said.stdout
    assert said.stdout.count("\n") == 1
