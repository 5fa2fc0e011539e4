from __future__ import annotations

import re
from importlib.resources import files

import httpx
import pytest

from chaosops.access.protect import FRAME_VARIABLE
from chaosops.core.errors import BadInput
from chaosops.packs import load_pack
from chaosops.web.choices import code_of, read_scenario
from chaosops.web.routes import Settings, build_router
from tests.web.conftest import serving

STATIC = {item.name: item for item in (files("chaosops.web") / "static").iterdir()}
PLAIN = {"Accept-Encoding": "identity"}
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"
PAGES = ["/", "/results", "/training"]


@pytest.mark.parametrize("path", [*PAGES, "/api/catalogue", "/api/episode", "/static/index.js"])
def test_every_answer_is_guarded(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_errors_are_guarded_too(client: httpx.Client) -> None:
    response = client.get("/api/episode?tier=none")
    assert response.status_code == 400
    assert "Content-Security-Policy" in response.headers
    assert response.headers["Cache-Control"] == "no-store"


def test_a_hosting_site_may_be_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FRAME_VARIABLE, "'self' https://host.example")
    with serving(Settings(results=())) as address:
        policy = httpx.get(address).headers["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors 'self' https://host.example")


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_asked_for_again_and_their_files_kept(client: httpx.Client, path: str) -> None:
    page = client.get(path)
    assert page.headers["Cache-Control"] == "no-cache"
    again = client.get(path, headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    links = re.findall(r'(?:src|href)="(?:\./)?(static/[^"]+)"', page.text)
    assert len(links) > 4
    for link in links:
        file = client.get(f"/{link}")
        assert file.status_code == 200
        assert "immutable" in file.headers["Cache-Control"]
    stale = client.get("/static/0123456789ab/base.css")
    assert stale.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/api/catalogue"])
def test_nothing_names_a_failure_before_it_is_played(client: httpx.Client, path: str) -> None:
    """Some names tell who did it. Links with a name still work."""
    text = client.get(path).text
    classic = load_pack("classic")
    names = [*classic.failures(), *classic.wordings.values()]
    assert [name for name in names if f'"{name}"' in text or f">{name}<" in text] == []
    codes = {code_of(name): name for name in classic.failures()}
    assert len(codes) == len(classic.failures())
    for code, name in codes.items():
        assert read_scenario({"scenario": code}) == read_scenario({"scenario": name})


@pytest.mark.parametrize("path", [*PAGES, "/static/index.js"])
def test_who_asks_for_the_head_gets_it(client: httpx.Client, path: str) -> None:
    head, whole = client.head(path, headers=PLAIN), client.get(path, headers=PLAIN)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == whole.headers["ETag"]
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]


@pytest.mark.parametrize("path", ["/reslts", "/results/arena/none", "/reslts/"])
def test_a_mistyped_address_is_a_page_for_people(client: httpx.Client, path: str) -> None:
    page = client.get(path, headers={"Accept": BROWSER}, follow_redirects=True)
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Security-Policy" in page.headers
    links = re.findall(r'(?:src|href)="([^#"]+)"', page.text)
    assert len(links) > 8
    for link in links:
        assert client.get(page.url.join(link)).status_code == 200, link


@pytest.mark.parametrize(
    ("path", "accept", "status", "words"),
    [
        ("/reslts", "*/*", 404, "there is nothing at '/reslts'"),
        ("/api/none", BROWSER, 404, "there is nothing at '/api/none'"),
        ("/api", BROWSER, 404, "there is nothing at '/api'"),
        ("/api/seats", BROWSER, 405, "'/api/seats' does not answer GET"),
        ("/api/cases/ostrich", BROWSER, 404, "unknown case 'ostrich'; allowed: avocet, "),
        ("/api/cases/heron/replay", BROWSER, 400, "no recorded policy is named; allowed: "),
        ("/api/episode?tier=zz", BROWSER, 400, "unknown tier 'zz'; allowed: "),
    ],
)
def test_a_mistyped_address_is_json_for_programs(
    client: httpx.Client, path: str, accept: str, status: int, words: str
) -> None:
    """All errors have one shape."""
    answer = client.get(path, headers={"Accept": accept})
    assert answer.status_code == status
    assert set(answer.json()) == {"detail"}
    assert answer.json()["detail"].startswith(words)


def test_a_slash_too_many_is_forgiven(client: httpx.Client) -> None:
    answer = client.get("/results/", headers={"Accept": BROWSER}, follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/results")


def test_files_travel_packed(client: httpx.Client) -> None:
    packed = client.get("/static/run.css", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/static/run.css", headers=PLAIN)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.num_bytes_downloaded < len(plain.content) / 3
    assert packed.text == plain.text


@pytest.mark.parametrize(
    "path",
    ["/static/../routes.py", "/static/%2e%2e/routes.py", "/static/index.html", "/static/none.js"],
)
def test_only_the_page_s_own_files_are_served(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", [*PAGES, "/reslts"])
def test_pages_keep_to_their_own_policy(client: httpx.Client, path: str) -> None:
    text = client.get(path, headers={"Accept": BROWSER}).text
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)


@pytest.mark.parametrize("name", [name for name in STATIC if name.endswith(".js")])
def test_scripts_never_make_markup_from_text(name: str) -> None:
    text = STATIC[name].read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    hosts = set(re.findall(r"https?://[\w.]+", text))
    assert hosts <= {"http://www.w3.org"}
    for module in re.findall(r'from "\./([^"]+)"', text):
        assert module in STATIC


def test_every_page_leads_to_the_source_and_the_documents(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [*PAGES, "/case/heron", "/nowhere"]
    for path in paths:
        text = client.get(path, headers={"Accept": BROWSER}).text
        assert "<code>docs/</code> of the repository" in text
    monkeypatch.setenv("CHAOSOPS_WEB_SOURCE", "https://code.example/chaosops")
    monkeypatch.setenv("CHAOSOPS_WEB_DOCS", "https://docs.example")
    with serving(Settings(results=())) as address:
        for path in paths:
            text = httpx.get(address + path, headers={"Accept": BROWSER}).text
            assert '<a href="https://code.example/chaosops">Source</a>' in text
            assert '<a href="https://docs.example">Documentation</a>' in text


def test_an_address_of_the_source_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAOSOPS_WEB_SOURCE", "javascript:alert(1)")
    with pytest.raises(BadInput, match="CHAOSOPS_WEB_SOURCE must be an address with https://"):
        build_router(Settings(results=()))
