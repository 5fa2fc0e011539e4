"""What a fresh installation is told: pip lines that reach it, and completion of the shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import install_line
from tests.conftest import Outcome

Cli = Callable[..., Outcome]


def test_the_pip_line_is_for_this_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert install_line("web").startswith(f"{tmp_path}/bin/python -m pip install ")
    for place, words in (("elsewhere", f"{tmp_path}/bin/python -m pip "), ("bin", "pip ")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "pip").touch(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / place))
        assert install_line("web").startswith(words)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("chaosops re", "recount replay"),
        ("chaosops run --tier ", "easy medium hard"),
        ("chaosops run --scenario d", "db_deadlock disk_full dns_outage"),
        ("chaosops eval --split ood_n", "ood_names"),
    ],
)
def test_bash_completes(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, offered: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cli("--install-completion", "--shell", "bash").code == 0
    words = [*typed.split(), *([""] if typed.endswith(" ") else [])]
    script = f"""
        . ~/.bashrc
        COMP_WORDS=({" ".join(word or "''" for word in words)}) COMP_CWORD={len(words) - 1}
        $(complete -p chaosops | sed 's/.*-F \\([^ ]*\\).*/\\1/') chaosops
        echo "${{COMPREPLY[*]}}"
    """
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == offered
