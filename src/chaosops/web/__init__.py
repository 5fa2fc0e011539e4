"""The web page: two teams side by side on one incident, or a seat for the visitor.

``routes.build_router()`` is all that a server needs; ``app.build_app()`` is a server of its own.
"""

from chaosops.core.errors import MissingExtra

try:
    import fastapi as _fastapi  # noqa: F401
except ImportError:
    raise MissingExtra("the web page", "fastapi", "web") from None
