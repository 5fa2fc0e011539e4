"""A missing extra says its pip line, and nobody pays for an integration that is not used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from chaosops.core.errors import MissingExtra

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
