"""The parts of OpenEnv that are used here, imported without its web page.

``openenv.core`` imports Gradio, which takes seconds and serves a page that is not ours. It copes
with a machine that has no Gradio; so while it is imported, there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from chaosops.core.errors import MissingExtra


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    if package in sys.modules:  # somebody paid for it already
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


try:
    with _hidden("gradio"):
        from openenv.core.env_server.exceptions import SessionCapacityError
        from openenv.core.env_server.http_server import HTTPEnvServer
        from openenv.core.env_server.interfaces import Environment
        from openenv.core.env_server.types import (
            ConcurrencyConfig,
            EnvironmentMetadata,
        )
except ImportError:
    raise MissingExtra("the OpenEnv server", "openenv", "server") from None

__all__ = [
    "ConcurrencyConfig",
    "Environment",
    "EnvironmentMetadata",
    "HTTPEnvServer",
    "SessionCapacityError",
]
