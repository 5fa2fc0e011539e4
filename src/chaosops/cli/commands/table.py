"""``chaosops table``: open a table on a server and print the four seats' tokens."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.access.tokens import read_token, token_headers
from chaosops.cli.options import Count, Json, Pack, Seed, ServerToken, SomeSeconds, Split, Tier, Url
from chaosops.cli.output import print_result
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.loopback import is_loopback
from chaosops.packs import DEFAULT_TIER, training_splits


def execute(
    *,
    url: Url,
    pack: Pack = None,
    scenario: str | None = None,
    tier: Annotated[Tier | None, Parameter(show_default=DEFAULT_TIER)] = None,
    split: Annotated[Split, Parameter(show_default=training_splits()[0])] = None,
    seed: Seed | None = None,
    max_steps: Count | None = None,
    turn_timeout: Annotated[SomeSeconds | None, Parameter(metavar="SECONDS")] = None,
    json: Json = False,
    server_token_file: ServerToken = None,
) -> None:
    """
    Args:
        scenario: name of a failure [default: the seed draws one]
        seed: seed of the incident [default: drawn]
        max_steps: step limit [default: the tier's]
        turn_timeout: time for a turn [default and most: the server's idle timeout]
    """
    wanted = {
        "pack": pack,
        "scenario": scenario,
        "tier": tier,
        "split": split,
        "seed": seed,
        "max_steps": max_steps,
        "turn_timeout_s": turn_timeout,
    }
    headers = token_headers(read_token(None, server_token_file, "--server-token"))
    asked = {name: value for name, value in wanted.items() if value is not None}
    opened = _post(url, asked, headers)
    words = ["chaosops", "seat", "--url", url, "--token", "TOKEN", "--policy", "heuristic"]
    if server_token_file:
        words += ["--server-token-file", str(server_token_file)]
    lines = [
        f"table {opened['table']}; each wait ends after {opened['turn_timeout_s']:g} s",
        *(f"{role:<10}{token}" for role, token in opened["tokens"].items()),
        f"play one with: {shlex.join(words)}",
    ]
    print_result(opened, lines, as_json=json)


def _post(url: str, wanted: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    try:
        import httpx
    except ImportError:
        raise MissingExtra("opening a table", "httpx", "client") from None
    try:
        answer = httpx.post(
            f"{url.rstrip('/')}/tables",
            json=wanted,
            headers=headers,
            timeout=30,
            trust_env=not is_loopback(url),
        )
        content = answer.json()
    # A ValueError is an answer that is not JSON, or an invalid proxy in the environment. An
    # ImportError is a kind of proxy that needs another package.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        raise BadInput(f"cannot reach a ChaosOps server at {url}: {error}") from None
    if answer.status_code != 200:
        detail = content.get("detail") if isinstance(content, dict) else None
        raise BadInput(f"{url} refused: {detail or content}")
    opened: dict[str, Any] = content
    return opened
