"""The one place that says how an extra is added to this installation."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parents[3]  # of a clone


def install_line(extra: str) -> str:
    """The pip command for a clone, a wheel or a repository: no package index has ChaosOps.

    >>> "pip install" in install_line("web") and "[web]" in install_line("web")
    True
    """
    if (_ROOT / "pyproject.toml").is_file():
        return f"pip install -e '{'.' if Path.cwd() == _ROOT else _ROOT}[{extra}]'"
    return f"pip install 'chaosops[{extra}] @ {_source()}'"


def _source() -> str:
    """Where pip installed this copy from, as pip itself noted it."""
    import json
    from importlib import metadata

    try:
        noted = metadata.distribution("chaosops").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        noted = None
    origin = json.loads(noted or '{"url": "WHEEL-OR-URL"}')
    return f"{'git+' if 'vcs_info' in origin else ''}{origin['url']}"
