"""Where OpenEnv's tools look for the server. All of it is in ``chaosops.server``."""

from __future__ import annotations

from chaosops.cli.commands.serve import main as run
from chaosops.server.app import build_app

app = build_app()


def main() -> None:
    raise SystemExit(run())


if __name__ == "__main__":
    main()
