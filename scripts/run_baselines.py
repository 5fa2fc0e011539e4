"""Play the validation episodes of training runs with the scripts, for the page's curves.

    python -m scripts.run_baselines src/chaosops/trained/training/*

writes ``baselines.json`` beside the metrics of each run. New runs write it themselves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.training.recipe import validated_rubric
from chaosops.training.recipe_files import load_recipe
from chaosops.training.story import BASELINES, play_scripts, write_baselines
from chaosops.training.validation import validation_scenarios


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs")
    for folder in parser.parse_args().runs:
        recipe = load_recipe(folder / "recipe.toml")
        write_baselines(
            folder, play_scripts(validation_scenarios(recipe), validated_rubric(recipe))
        )
        print(folder / BASELINES)


if __name__ == "__main__":
    main()
