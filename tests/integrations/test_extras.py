"""A missing extra says its pip line, and nobody pays for an integration that is not used."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from chaosops.core.errors import MissingExtra

ROOT = Path(__file__).parents[2]
NEEDS = {"pettingzoo": "pettingzoo", "inspect": "inspect_ai"}


@pytest.mark.parametrize(("extra", "package"), NEEDS.items())
def test_a_missing_extra_says_its_pip_line(
    extra: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"chaosops.integrations.{extra}"
    for loaded in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingExtra, match=rf"needs {package}, .* install .*\[{extra}\]"):
        import_module(name)


def test_the_example_for_trl_says_its_pip_line() -> None:
    code = "import runpy, sys; sys.modules['trl'] = None; runpy.run_path(sys.argv[1])"
    words = [sys.executable, "-c", code, str(ROOT / "examples" / "trl_oversight.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert re.fullmatch(r"this example needs trl, .* install .*\[train\]'\n", done.stderr)


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_the_command_line_imports_no_framework(words: str) -> None:
    code = (
        "import sys, chaosops.cli\n"
        f"chaosops.cli.main([{words!r}])\n"
        f"heavy = {{'chaosops.integrations', 'gymnasium', 'trl', *{list(NEEDS.values())}}}\n"
        "sys.exit(f'imported: {heavy & sys.modules.keys()}' if heavy & sys.modules.keys() else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
