"""The web page: two teams side by side on one incident, or a seat for the visitor.

A server includes ``routes.build_router()``. ``app.build_app()`` serves the page alone.
"""

from chaosops.core.errors import MissingExtra

try:
    import fastapi as _fastapi  # noqa: F401
except ImportError:
    raise MissingExtra("the web page", "fastapi", "web") from None
