from __future__ import annotations

import pytest

from chaosops.access.options import Access
from chaosops.access.origins import SPACE_VARIABLE, Origins
from chaosops.cli import main

ORIGINS = Origins(["Chaos.example.org"], ["https://lab.example.net", "http://lab.example.net:81"])


@pytest.mark.parametrize(
    ("host", "known"),
    [
        (None, True),
        ("localhost:8000", True),
        ("app.localhost", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("192.168.0.7", True),  # nobody rebinds a plain address
        ("chaos.example.org", True),
        ("CHAOS.example.org.:443", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("chaos.example.org.evil.example", False),
        ("", False),
        ("a:b:c", False),
    ],
)
def test_only_names_that_cannot_be_rebound_are_known(host: str | None, known: bool) -> None:
    problem = ORIGINS.problem_of_host(host)
    assert (problem is None) == known
    assert known or "--public-host" in str(problem)


@pytest.mark.parametrize(
    ("origin", "host", "may"),
    [
        ("http://localhost:8000", "localhost:8000", True),
        ("http://127.0.0.1:3000", "localhost:8000", True),
        ("https://chaos.example.org", "chaos.example.org", True),
        ("https://chaos.example.org", "127.0.0.1:8000", True),  # behind a proxy that says so
        ("http://192.168.0.7:8000", "192.168.0.7:8000", True),
        ("http://192.168.0.7", "192.168.0.7:80", True),
        ("https://lab.example.net", "chaos.example.org", True),
        ("http://lab.example.net:81", "chaos.example.org", True),
        ("http://lab.example.net", "chaos.example.org", False),
        ("https://evil.example", "localhost:8000", False),
        ("http://192.168.0.8:8000", "192.168.0.7:8000", False),
        ("http://192.168.0.7:9000", "192.168.0.7:8000", False),
        ("http://localhost:3000", "chaos.example.org", False),
        ("https://localhost.evil.example", "localhost:8000", False),
        ("https://chaos.example.org@evil.example", "chaos.example.org", False),
        ("null", "localhost:8000", False),
        ("file://", "localhost:8000", False),
    ],
)
def test_pages_of_other_sites_stay_out(origin: str, host: str, may: bool) -> None:
    assert (ORIGINS.problem_of_origin([origin], host) is None) == may


def test_one_bad_origin_of_two_is_enough() -> None:
    both = ["http://localhost:8000", "https://evil.example"]
    assert "evil.example" in str(ORIGINS.problem_of_origin(both, "localhost:8000"))


def test_a_space_knows_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SPACE_VARIABLE, "team-chaosops.hf.space")
    origins = Origins()
    assert origins.problem_of_host("team-chaosops.hf.space") is None
    page = ["https://team-chaosops.hf.space"]
    assert origins.problem_of_origin(page, "team-chaosops.hf.space") is None
    assert origins.problem_of_host("other.hf.space") is not None
    assert "10.0.0.0/8" in Access().trusted_networks


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--public-host", "https://example.org"),
        ("--public-host", ""),
        ("--allow-origin", "example.org"),
        ("--allow-origin", "https://example.org/page"),
        ("--allow-origin", "*"),
        ("--trusted-proxy", "*"),
        ("--trusted-proxy", "proxy.example.org"),
    ],
)
def test_what_is_no_address_is_refused_at_the_start(
    option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", option, text]) == 2
    assert "write one such as" in capsys.readouterr().err
