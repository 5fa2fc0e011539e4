"""``chaosops table``: open a table on a server and print the four seats' tokens."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from typing import Any

from chaosops.access.tokens import read_token, token_headers
from chaosops.cli.output import print
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.loopback import is_loopback


def execute(args: argparse.Namespace) -> int:
    wanted = {
        "pack": args.pack,
        "scenario": args.scenario,
        "tier": args.tier,
        "split": args.split,
        "seed": args.seed,
        "max_steps": args.max_steps,
        "turn_timeout_s": args.turn_timeout,
    }
    headers = token_headers(read_token(None, args.server_token_file, "--server-token"))
    asked = {name: value for name, value in wanted.items() if value is not None}
    opened = _post(args.url, asked, headers)
    if args.json:
        print(json.dumps(opened))
        return 0
    print(f"table {opened['table']}; each wait ends after {opened['turn_timeout_s']:g} s")
    for role, token in opened["tokens"].items():
        print(f"{role:<10}{token}")
    words = ["chaosops", "seat", "--url", args.url, "--token", "TOKEN", "--policy", "heuristic"]
    if args.server_token_file:
        words += ["--server-token-file", str(args.server_token_file)]
    print(f"play one with: {shlex.join(words)}")
    return 0


def _post(url: str, wanted: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    try:
        import httpx
    except ImportError:
        raise MissingExtra("opening a table", "httpx", "server") from None
    try:
        answer = httpx.post(
            f"{url.rstrip('/')}/tables",
            json=wanted,
            headers=headers,
            timeout=30,
            trust_env=not is_loopback(url),
        )
        content = answer.json()
    # A ValueError is no JSON, or a proxy in the environment that is no address; an ImportError
    # is a kind of proxy that needs another package.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        raise BadInput(f"cannot reach a ChaosOps server at {url}: {error}") from None
    if answer.status_code != 200:
        detail = content.get("detail") if isinstance(content, dict) else None
        raise BadInput(f"{url} refused: {detail or content}")
    opened: dict[str, Any] = content
    return opened
