"""The page as a server of its own: ``uvicorn --factory chaosops.web.app:build_app``."""

from __future__ import annotations

from fastapi import FastAPI

from chaosops.access.answers import add_plain_answers
from chaosops.access.options import Access
from chaosops.access.protect import protect
from chaosops.web.routes import Settings, build_router


def build_app(settings: Settings | None = None) -> FastAPI:
    settings = settings or Settings()
    app = FastAPI(title="ChaosOps", docs_url=None, redoc_url=None, openapi_url=None)
    add_plain_answers(app)
    app.include_router(build_router(settings))
    protect(app, Access(), settings.limits)
    return app
