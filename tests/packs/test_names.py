from __future__ import annotations

import re
from pathlib import Path

import chaosops
from chaosops.packs import PACKS

SOURCE = Path(chaosops.__file__).parent
NAMES = "|".join(name for name in PACKS if name != "live")
# A name as a value, an import of a pack's own modules, or what used to tell the packs apart. The
# word live has other meanings too: only an import of the pack counts.
ASKS = re.compile(
    rf"""["']({NAMES})["']|import .*\b({NAMES})\b|\.({NAMES})[. ]|is_company"""
    r"""|\bpacks(\.| import )live\b"""
)

ALLOWED = {
    "cli/commands/__init__.py": "the command `chaosops arena`",
    "cli/commands/arena.py": "the command",
    "cli/commands/live.py": "the command",
    "core/retired.py": "the versions of packs that are no longer played",
    "evaluation/investigator.py": "the command",
    "evaluation/leak_features.py": "the command",
    "evaluation/live_comparison.py": "the command `chaosops live`",
    "evaluation/leaks.py": "the command",
    "evaluation/live_first_views.py": "the prompts of one company",
    "evaluation/live_leaks.py": "the plots of one company",
    "evaluation/reading_cases.py": "the command",
    "evaluation/reading_checks.py": "the command",
    "report/company.py": "the command",
    "policies/scripted/auditor.py": "a default: where it is evaluated",
    "policies/scripted/last_toucher.py": "a default: where it is evaluated",
    "training/behaviour.py": "an imitated team reads the runbook of its pack",
    "training/recipe_files.py": "what a recipe without a pack means",
    "wire/views.py": "what a message without a layout means",
}


def test_outside_the_packs_nothing_asks_which_pack_it_is() -> None:
    own = {"packs", "trained", *(f"policies/scripted/{name}" for name in PACKS)}
    files = [path for kind in ("py", "js", "html") for path in SOURCE.rglob(f"*.{kind}")]
    asking = {
        path.relative_to(SOURCE).as_posix()
        for path in files
        if ASKS.search(path.read_text(encoding="utf-8"))
    }
    assert {path for path in asking if not path.startswith(tuple(own))} == set(ALLOWED)
