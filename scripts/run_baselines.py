"""Play the validation episodes of training runs with the scripts, for the page's curves.

    python -m scripts.run_baselines src/chaosops/trained/training/*

writes ``baselines.json`` and ``companies.json`` beside the metrics of each run. New runs write them
themselves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.report.training_figures import read_metrics
from chaosops.training.recipe import validated_rubric
from chaosops.training.recipe_files import load_recipe
from chaosops.training.run_folder import METRICS
from chaosops.training.story import (
    BASELINES,
    COMPANIES,
    count_companies,
    play_scripts,
    require_shares,
    write_baselines,
    write_companies,
)
from chaosops.training.validation import validation_scenarios


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs")
    for folder in parser.parse_args().runs:
        recipe = load_recipe(folder / "recipe.toml")
        played = play_scripts(validation_scenarios(recipe), validated_rubric(recipe))
        counts = count_companies(next(iter(played.values())))
        # The world may have changed since the run: then nothing is written.
        _, validations = read_metrics(folder / METRICS)
        require_shares(counts, validations, folder / COMPANIES)
        write_baselines(folder, played)
        write_companies(folder, counts)
        print(folder / BASELINES, folder / COMPANIES)


if __name__ == "__main__":
    main()
