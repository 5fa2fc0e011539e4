"""The OpenEnv server: episodes for trainers, tables for teams of four, tools for agents."""

from chaosops.core.errors import MissingExtra

try:
    import pydantic as _pydantic  # noqa: F401
except ImportError:
    raise MissingExtra("the server", "pydantic", "server") from None
