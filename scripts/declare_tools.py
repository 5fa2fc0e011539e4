"""Write the names of the MCP tools into openenv.yaml: ``python scripts/declare_tools.py``."""

from __future__ import annotations

import re
from pathlib import Path

from chaosops.server.tools import all_tools

MANIFEST = Path(__file__).parents[1] / "openenv.yaml"


def declared(manifest: str) -> str:
    names = "".join(f"      - {tool.name}\n" for tool in all_tools())
    return re.sub(r"(declared_tools:\n)(      - \w+\n)+", rf"\g<1>{names}", manifest)


if __name__ == "__main__":
    MANIFEST.write_text(declared(MANIFEST.read_text(encoding="utf-8")), encoding="utf-8")
