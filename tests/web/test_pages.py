from __future__ import annotations

import re
from importlib.resources import files

import httpx
import pytest

from chaosops.access.protect import FRAME_VARIABLE
from chaosops.web.routes import Settings
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
    ("path", "accept", "status"),
    [
        ("/reslts", "*/*", 404),
        ("/api/none", BROWSER, 404),
        ("/api/seats", BROWSER, 405),
    ],
)
def test_a_mistyped_address_is_json_for_programs(
    client: httpx.Client, path: str, accept: str, status: int
) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert answer.status_code == status
    assert set(answer.json()) == {"detail"}


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
