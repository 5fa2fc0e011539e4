"""A case in a frame of another site. Another port is another origin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

from playwright.sync_api import Browser, expect

from chaosops.access.protect import FRAME_VARIABLE
from chaosops.web.routes import Settings
from tests.web.browsing import POLICIES, Visitor, needs_browser
from tests.web.conftest import serving

if TYPE_CHECKING:
    import pytest

pytestmark = needs_browser


@contextmanager
def another_site() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a site, and the page that it shows."""
    shown: dict[str, str] = {}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(shown["page"].encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", shown
        server.shutdown()
        thread.join()


def test_a_site_that_was_named_shows_the_code_of_a_case(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with another_site() as (host, shown):
        monkeypatch.setenv(FRAME_VARIABLE, f"'self' {host}")
        with serving(Settings(policies=POLICIES, results=())) as address:
            visitor = Visitor(browser, address)
            with visitor as page:
                page.goto("/case/heron")
                page.locator(".share summary").click()
                shown["page"] = page.locator("#case-embed").input_value()
                expect(page.locator(".share")).not_to_contain_text(FRAME_VARIABLE)
                page.goto(host)
                frame = page.frame_locator("iframe")
                frame.locator(".suspect-card.nobody").click()
                expect(frame.locator(".verdict")).to_contain_text("You accused nobody.")
                expect(frame.locator(".case-file")).to_be_visible()
                frame.get_by_role("link", name="Next case").click()
                expect(page).to_have_url(f"{address}/case/wren")


def test_a_site_that_was_not_named_is_told_beside_the_code(browser: Browser, site: str) -> None:
    with another_site() as (host, shown):
        visitor = Visitor(browser, site)
        visitor.forgive("frame-ancestors", "Failed to load", "refused to connect")
        with visitor as page:
            page.goto("/case/heron")
            page.locator(".share summary").click()
            expect(page.locator(".share")).to_contain_text(FRAME_VARIABLE)
            shown["page"] = page.locator("#case-embed").input_value()
            page.goto(host)
            page.wait_for_timeout(500)
            expect(page.frame_locator("iframe").locator(".suspect-card")).to_have_count(0)
