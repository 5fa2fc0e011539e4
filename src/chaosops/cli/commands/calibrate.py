"""``chaosops calibrate``: fit an adapter's calibration to a recorded evaluation. The model is not
needed, so it may have played on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.commands.eval import RESULTS
from chaosops.cli.options import CommandLine, File, Folder, Json
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.files import open_file
from chaosops.evaluation import calibration
from chaosops.evaluation.cases import case_of
from chaosops.evaluation.metrics import shown
from chaosops.evaluation.stored import read_results
from chaosops.evaluation.verify import stored_results
from chaosops.policies.llm.adapter import require_adapter
from chaosops.policies.llm.calibration import Calibration, write_calibration
from chaosops.report import figures
from chaosops.report.tables import aligned
from chaosops.training.seeds import VALIDATION_SEEDS

_TITLES = {"brier_turn_3": "Brier", "ece_turn_3": "ECE"}


def execute(
    folder: Folder,
    adapter: Folder,
    /,
    *,
    picture: Annotated[File | None, Parameter(metavar="PNG")] = None,
    json: Json = False,
    command_line: CommandLine,
) -> None:
    """
    Args:
        folder: an evaluation of the adapter on split reserve, or on train with validation seeds
        adapter: folder of the adapter; calibration.json is written into it
        picture: draw the reliability before and after too
    """
    if folder.name in RESULTS:
        folder = folder.parent
    if adapter.suffix == ".gguf":
        raise BadInput(f"{adapter} is a file; name the PEFT folder that it was made from")
    require_adapter(adapter)
    if picture:
        figures.require_matplotlib("leave --picture out")
        open_file(picture, "--picture")
    policy = calibration.overseer(read_results(folder)[0], adapter)
    with Progress() as progress:
        results = stored_results(folder, partial(progress.update, str(folder)))
    calibration.require_validation(results.episodes[policy], VALIDATION_SEEDS)
    cases = [case_of(episode) for episode in results.episodes[policy]]
    line = calibration.fit(cases)
    unseen = calibration.cross_calibrated(cases)
    found: dict[str, Any] = {
        "fitted_on": calibration.origin(results, policy),
        "command": command_line,
        "before": calibration.reliability(cases),
        "after": calibration.reliability(unseen),
    }
    written = [write_calibration(adapter, line, found)]
    if picture:
        curves = {"before": cases, "after": unseen}
        pairs = {name: calibration.judgements(of) for name, of in curves.items()}
        written.append(figures.calibration_figure(pairs, picture))
    names = list(map(str, written))
    lines = [*_lines(line, found), "", f"written: {', '.join(names)}"]
    print_result({**line._asdict(), **found, "written": names}, lines, as_json=json)


def _lines(line: Calibration, found: Mapping[str, Any]) -> list[str]:
    origin = found["fitted_on"]
    rows = [
        [title, *(shown(found[when][key], "{:.4f}".format) for when in ("before", "after"))]
        for key, title in _TITLES.items()
    ]
    return [
        f"{origin['policy']}: {origin['episodes']} episodes of {', '.join(origin['splits'])}, "
        f"{origin['rogue_episodes']} with a rogue",
        f"log-odds x {line.slope} {line.intercept:+}",
        "",
        aligned(["", "before", "after, on unseen companies"], rows, words=1),
    ]
