"""Tell the story of a training run by the adapters that are left of it.

    python -m scripts.training_story RUN 0=local:smollm2+format=menu 1000=trained

plays one validation company of the run with the policy at each update, and writes ``story.jsonl``.
A run tells its story itself at every validation; this is for runs without that file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.training.story import STORY, retell


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument(
        "updates", nargs="+", type=update, metavar="STEP=POLICY", help="the learner at an update"
    )
    args = parser.parse_args()
    for step, episode in retell(args.run, dict(args.updates)):
        print(f"update {step}: {episode.team}, reward {episode.reward:+.0f}")
    print(args.run / STORY)


def update(text: str) -> tuple[int, str]:
    step, _, policy = text.partition("=")
    if not step.isdecimal() or not policy:
        raise argparse.ArgumentTypeError(f"expected STEP=POLICY such as 0=heuristic, got {text}")
    return int(step), policy


if __name__ == "__main__":
    main()
