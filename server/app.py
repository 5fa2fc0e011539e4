"""Where OpenEnv's tools look for the server. All of it is in ``chaosops.server``."""

from __future__ import annotations

from chaosops.server.app import build_app
from chaosops.server.app import main as run

app = build_app()


def main() -> None:
    run()


if __name__ == "__main__":
    main()
