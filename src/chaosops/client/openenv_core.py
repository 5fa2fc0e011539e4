"""The parts of OpenEnv that are used here, imported without its web page.

``openenv.core`` imports Gradio if it is installed. That takes seconds, and its page is not used
here. So Gradio is hidden while ``openenv.core`` is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    if package in sys.modules:  # it was imported before
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


with _hidden("gradio"):
    from openenv.core.client_types import StepResult as StepResult
    from openenv.core.env_client import EnvClient as EnvClient
    from openenv.core.env_server.exceptions import SessionCapacityError as SessionCapacityError
    from openenv.core.env_server.http_server import HTTPEnvServer as HTTPEnvServer
    from openenv.core.env_server.interfaces import Environment as Environment
    from openenv.core.env_server.types import ConcurrencyConfig as ConcurrencyConfig
    from openenv.core.env_server.types import EnvironmentMetadata as EnvironmentMetadata
