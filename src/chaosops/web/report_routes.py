"""The routes of evaluations and training runs."""

from __future__ import annotations

from fastapi import APIRouter, Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, Response

from chaosops.access.asgi import client_of
from chaosops.core.errors import BadInput
from chaosops.training.story import STORY
from chaosops.web.comparisons import episodes_of, heat_map
from chaosops.web.episode_pool import EpisodePool, EpisodeStream
from chaosops.web.recorded_episodes import find_evaluated, prepare, stream_recorded
from chaosops.web.report_cache import ReportCache
from chaosops.web.training_story import find_told

_CHOICES = "choose with /api/results/differences?of=POLICY&against=POLICY&pack=PACK&tiers=TIER,TIER"


def add_reports(router: APIRouter, reports: ReportCache) -> None:
    _add_comparisons(router, reports)

    @router.get("/api/results")
    async def results(request: Request) -> Response:
        if request.query_params:
            names = ", ".join(request.query_params)
            raise BadInput(f"all results have no choices, got {names}; {_CHOICES}")
        return (await reports.evaluations.document()).response(request)

    @router.get("/api/training")
    async def training(request: Request) -> Response:
        return (await reports.runs.document()).response(request)

    @router.get("/api/figures/{key}/{name}")
    async def figure(key: str, name: str) -> Response:
        path = await reports.figure(key, name)
        return FileResponse(path, headers={"Cache-Control": "no-cache"})


async def recorded_episode(request: Request, reports: ReportCache, pool: EpisodePool) -> Response:
    """What was recorded is streamed like an episode that is played now."""
    query = request.query_params
    folder = await reports.folder(query["recorded"])
    find = find_told if (folder.path / STORY).is_file() else find_evaluated
    one = await run_in_threadpool(find, folder.path, query)
    slot = pool.take(client_of(request.scope), is_model=False)
    return EpisodeStream(stream_recorded(one, query["policy"], slot), slot)


def _add_comparisons(router: APIRouter, reports: ReportCache) -> None:
    @router.get("/api/results/differences")
    async def compared(request: Request) -> Response:
        await reports.evaluations.document()
        reads = reports.evaluations.in_order()
        return JSONResponse(await run_in_threadpool(heat_map, reads, request.query_params))

    @router.get("/api/results/{key}/episodes")
    async def episodes(key: str, request: Request) -> Response:
        await reports.evaluations.document()
        found = episodes_of(reports.evaluations.in_order(), key, request.query_params)
        # The visitor may watch one of them next.
        soon = BackgroundTask(prepare, (await reports.folder(key)).path)
        return JSONResponse(found, background=soon)
