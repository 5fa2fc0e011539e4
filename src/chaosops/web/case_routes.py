"""The routes of recorded cases. Only ``reveal`` and ``replay`` tell the truth."""

from __future__ import annotations

import gzip
from hashlib import blake2b

from fastapi import APIRouter, Request  # noqa: TC002 (FastAPI reads the annotations)
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from chaosops.core.errors import BadInput, UnknownName
from chaosops.web.bodies import json_body
from chaosops.web.pages import Pages
from chaosops.web.recorded_cases import Case, RecordedCases

TODAY = "today"
_READ = ["GET", "HEAD"]
_ACCUSATION = '{"accused": "autoscaler"}, with an agent of the case or "nobody"'


def add_cases(router: APIRouter, pages: Pages, cases: RecordedCases) -> None:
    _add_answers(router, cases)

    async def page(name: str, request: Request) -> Response:
        embedded = request.url.path.rpartition("/")[0].endswith("embed")
        try:
            case = await run_in_threadpool(_named, cases, name)
        except UnknownName:
            return pages.missing(f"case/{name}")
        if name != case.name:
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(case.name + query, 307)
        content = await run_in_threadpool(_page, cases, case)
        base = str(request.base_url)
        made = pages.page("case.html", "../", base=base, embedded=embedded, **content)
        return made.response(request)

    @router.api_route("/case", methods=_READ)
    async def all_pages(request: Request) -> Response:
        listed = await run_in_threadpool(lambda: [_page(cases, case) for case in cases.all])
        return pages.page("cases.html", "./", cases=listed, today=TODAY).response(request)

    router.add_api_route("/case/{name}", page, methods=_READ)
    router.add_api_route("/embed/{name}", page, methods=_READ)

    @router.api_route("/embed", methods=_READ)
    async def no_frame() -> Response:
        return RedirectResponse("case", 307)

    @router.api_route("/case/{name}/picture.png", methods=_READ)
    async def picture(name: str) -> Response:
        path = await run_in_threadpool(cases.picture, name)
        if path is None:
            raise BadInput(f"no picture of case {name}; draw it: python -m scripts.draw_cases")
        return FileResponse(path, headers={"Cache-Control": "no-cache"})


def _named(cases: RecordedCases, name: str) -> Case:
    """``today`` is the case of the day."""
    today = cases.today() if name == TODAY else None
    return cases.find(name) if today is None else today


def _page(cases: RecordedCases, case: Case) -> dict[str, object]:
    """What a link to a case is shown with. It tells no more than the case itself."""
    told = case.summary()
    size = f"{told['services']} services, {told['agents']} agents of the fleet"
    return {
        "name": case.name,
        "title": case.title,
        "question": case.words,
        "about": f"{told['tier']} · {size}",
        "description": f"{case.words} {size}. Watch, then accuse one of them, or nobody.",
        "picture": cases.picture(case.name) is not None,
    }


def _add_answers(router: APIRouter, cases: RecordedCases) -> None:
    @router.get("/api/cases")
    async def all_cases() -> Response:
        return JSONResponse(await run_in_threadpool(_overview, cases))

    @router.get("/api/cases/{name}")
    async def case(name: str, request: Request) -> Response:
        body = await run_in_threadpool(_question, cases, name)
        return _packed(request, body, "application/json")

    # POST, because a link that is only looked at must not tell the truth.
    @router.post("/api/cases/{name}/reveal")
    async def reveal(name: str, request: Request) -> Response:
        said = await json_body(request, _ACCUSATION)
        accused = said.get("accused") if isinstance(said, dict) else None
        if not isinstance(accused, str):
            raise BadInput(f"an accusation must be a JSON object such as {_ACCUSATION}")
        return JSONResponse(await run_in_threadpool(_revealed, cases, name, accused))

    @router.get("/api/cases/{name}/replay")
    async def replay(name: str, request: Request) -> Response:
        policy = request.query_params.get("policy", "")
        body = await run_in_threadpool(_replayed, cases, name, policy)
        return _packed(request, body, "application/x-ndjson")


def _question(cases: RecordedCases, name: str) -> bytes:
    case = _named(cases, name)
    return case.question(cases.after(case.name).name)


def _revealed(cases: RecordedCases, name: str, accused: str) -> dict[str, object]:
    case = _named(cases, name)
    return case.reveal(accused, cases.after(case.name).name)


def _replayed(cases: RecordedCases, name: str, policy: str) -> bytes:
    return _named(cases, name).replay(policy)


def _overview(cases: RecordedCases) -> dict[str, object]:
    today = cases.today()
    return {
        "cases": [case.summary() for case in cases.all],
        "today": None if today is None else today.name,
    }


def _packed(request: Request, body: bytes, kind: str) -> Response:
    """What was compressed once is sent to everybody. A client that cannot read it gets the text."""
    tag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(body, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(gzip.decompress(body), headers=headers, media_type=kind)
