"""The routes: pages at ``/``, JSON under ``/api/``, files under ``/static/``."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from chaosops.access.asgi import client_of
from chaosops.access.limits import Limits, OverQuota, Quota
from chaosops.core.errors import ChaosOpsError
from chaosops.packs import load_pack
from chaosops.version import VERSION
from chaosops.web.bodies import json_body
from chaosops.web.case_routes import add_cases
from chaosops.web.choices import (
    DEFAULTS,
    catalogue,
    live_choice,
    read_role,
    read_scenario,
    read_seat_moves,
)
from chaosops.web.episode_pool import EpisodePool, EpisodeStream
from chaosops.web.episodes import Cast, stream_episode
from chaosops.web.pages import Pages
from chaosops.web.policy_cache import OFFERED, OfferedPolicy, PolicyCache
from chaosops.web.real_time import require_start
from chaosops.web.recorded_cases import FOLDER, RecordedCases, UnknownCase
from chaosops.web.report_cache import ReportCache
from chaosops.web.report_routes import add_reports, recorded_episode
from chaosops.web.seats import CLAIM_S, SeatGone, Seats, accept_move, play_on, stream_new_seat

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_READ = ["GET", "HEAD"]
# A compressed stream would reach the page in blocks instead of lines.
_NOT_COMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/x-ndjson")


@dataclass(frozen=True)
class Settings:
    """A seat that is not used is freed, sooner if its key was never used.
    ``results`` are searched for evaluations and training runs (default: ``results_folders()``).
    ``cases`` holds the recorded cases."""

    policies: Sequence[OfferedPolicy] = OFFERED
    limits: Limits = field(default_factory=Limits)
    seat_idle_s: float = 900.0
    seat_claim_s: float = CLAIM_S
    results: Sequence[Path] | None = None
    cases: Path = FOLDER


class _Route(APIRoute):
    """Answers errors that a visitor can cure in JSON, and compresses all but streams."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        compress = GZipMiddleware(super().handle, exclude_content_types=_NOT_COMPRESSED)
        await compress(scope, receive, send)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                response = await handle(request)
            except ChaosOpsError as error:
                response = _refusal(error)
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return guarded


class _Mistyped(_Route):
    """Answers browsers that ask for an unknown page. Programs get the usual JSON, and an address
    with a slash at its end is redirected as usual."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, inner = super().matches(scope)
        if match is not Match.FULL:
            return Match.NONE, {}
        wanted = Headers(scope=scope).get("accept", "")
        path: str = inner["path_params"]["path"]
        is_page = "text/html" in wanted and path.partition("/")[0] != "api"
        return (match, inner) if is_page and not path.endswith("/") else (Match.NONE, {})


def build_router(settings: Settings | None = None) -> APIRouter:
    """The router holds the policy cache and the seats: build it once per process. Include it last,
    as it answers browsers at every address."""
    settings = settings or Settings()
    router = APIRouter(route_class=_Route, include_in_schema=False)
    pages = Pages()
    reports = ReportCache(settings.results)
    _add_pages(router, pages, reports)
    cache, pool = PolicyCache(settings.policies), EpisodePool(settings.limits)
    quota = Quota("seats", settings.limits)
    _add_choices(router, cache)
    _add_episodes(router, cache, pool, reports)
    _add_seats(router, cache, pool, Seats(quota, settings.seat_idle_s, settings.seat_claim_s))
    add_reports(router, reports)
    add_cases(router, pages, RecordedCases(settings.cases))
    _add_mistyped(router, pages)
    return router


def _add_pages(router: APIRouter, pages: Pages, reports: ReportCache) -> None:
    async def page(request: Request) -> Response:
        reports.warm_soon()
        return pages.by_path[request.url.path.rpartition("/")[2]].response(request)

    for path in pages.by_path:
        router.add_api_route(f"/{path}", page, methods=_READ)

    @router.api_route("/static/{path:path}", methods=_READ)
    async def static_file(path: str, request: Request) -> Response:
        return await pages.static(path, request)


def _add_choices(router: APIRouter, cache: PolicyCache) -> None:
    @router.get("/api/catalogue")
    async def choices() -> Response:
        policies = cache.states()
        told = {"version": VERSION, **catalogue(), "live": live_choice(policies)}
        return JSONResponse({**told, "policies": policies})


def _add_episodes(
    router: APIRouter, cache: PolicyCache, pool: EpisodePool, reports: ReportCache
) -> None:
    # POST is for what starts processes.
    @router.api_route("/api/episode", methods=["GET", "POST"])
    async def episode(request: Request) -> Response:
        query = request.query_params
        if query.get("recorded"):
            return await recorded_episode(request, reports, pool)
        scenario, seat_moves = read_scenario(query), read_seat_moves(query)
        if load_pack(scenario.pack).real_time:
            require_start(scenario.pack, request.method)
        entry = cache.check(query.get("policy") or DEFAULTS["left"])
        cast, is_model = Cast(entry.name), entry.is_model
        if seat_moves is None and (named := query.get("partners")):
            partners = cache.check(named)
            cast = Cast(entry.name, read_role(query), partners.name)
            is_model = is_model or partners.is_model
        slot = pool.take(client_of(request.scope), is_model=is_model)
        lines = stream_episode(cache, scenario, cast, seat_moves, slot)
        return EpisodeStream(lines, slot)


def _add_seats(router: APIRouter, cache: PolicyCache, pool: EpisodePool, seats: Seats) -> None:
    @router.post("/api/seats")
    async def sit(request: Request) -> Response:
        query = request.query_params
        scenario, role = read_scenario(query, mystery=True), read_role(query)
        resumed = read_seat_moves(query)
        entry = cache.check(query.get("partners") or DEFAULTS["partners"])
        client = client_of(request.scope)
        seats.require_room(client)
        slot = pool.take(client, is_model=entry.is_model)
        moves = resumed.moves if resumed else ()
        lines = stream_new_seat(seats, cache, scenario, role, entry.name, slot, client, moves)
        return EpisodeStream(lines, slot)

    @router.post("/api/seats/{key}/moves")
    async def move(key: str, request: Request) -> Response:
        seat = seats.find(key)
        chosen = await json_body(request, '{"action": "noop"}')
        slot = pool.take(client_of(request.scope), is_model=seat.is_with_model)
        try:
            accept_move(seat, chosen)
        except ChaosOpsError:
            slot.leave()
            raise
        return EpisodeStream(play_on(seats, seat, slot), slot)

    @router.post("/api/seats/{key}/claim")
    async def claim(key: str) -> Response:
        """The visitor has read the key. From now on the longer time limit holds."""
        seats.find(key)
        return Response(status_code=204)

    # POST, because a page that is being closed can send nothing else.
    @router.post("/api/seats/{key}/leave")
    async def leave(key: str) -> Response:
        seats.leave(key)
        return Response(status_code=204)


def _add_mistyped(router: APIRouter, pages: Pages) -> None:
    async def mistyped(path: str) -> Response:
        return pages.missing(path)

    router.add_api_route("/{path:path}", mistyped, methods=_READ, route_class_override=_Mistyped)


def _refusal(error: ChaosOpsError) -> Response:
    status, headers = 400, {}
    if isinstance(error, OverQuota):
        status, headers = 429, {"Retry-After": "5"}
    elif isinstance(error, SeatGone):
        status = 410
    elif isinstance(error, UnknownCase):
        status = 404
    return JSONResponse({"detail": str(error)}, status, headers)
