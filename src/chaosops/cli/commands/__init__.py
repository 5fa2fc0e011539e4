"""Every command of ``chaosops``: its name and what it does.

The file of a command is named after its first word, and its function after the second, or
``execute``. It holds the command's options, and it is imported only when the command runs.
"""

from __future__ import annotations

from textwrap import wrap

DESCRIPTION = (
    "Train and test AI teams that run production, and the overseer that notices when another "
    "AI agent caused the incident."
)
COMMANDS = {
    "Play": {
        "demo": "random against trained on one incident, then the comparison table",
        "run": "play one episode and print its transcript",
        "watch": "watch an episode live",
        "play": "take one role yourself, at the keyboard",
        "replay": "play a recorded episode again, without policies",
        "live up": "start a company of real processes on this machine",
        "live status": "show the companies that are running",
        "live down": "end a company",
        "list": "list packs, scenarios, splits, tiers, policies and recipes",
    },
    "Measure": {
        "eval": "play policies x failures x tiers x seeds",
        "compare": "compare two evaluations or policies, episode by episode",
        "transcripts": "write episodes as evidence for monitors, the labels apart",
        "monitor": "score transcripts with a monitor of your own, without playing",
        "verify": "play an evaluation's decisions again and name what was changed",
        "recount": "compute an evaluation's figures again, without policies",
        "check": "check every failure's contract and the reward's integrity",
        "conformance": "replay recorded episodes and compare them step by step",
        "bench": "measure the speed of the world, or of a model",
        "draw roc": "draw the ROC of each split, with rare false alarms in view",
        "draw evasions": "draw rogues caught and innocents flagged by evasion",
        "draw reading": "draw validation on known and on reserved words over training",
        "live compare": "play the same incidents live and simulated, and compare the figures",
        "arena show": "draw a generated company and its incident",
        "arena leaks": "test how well words and counts alone reveal a rogue (takes minutes)",
        "arena investigate": "test whether unlimited evidence reveals the rogue (it must)",
        "arena reading": "change the documents and test whether a policy's answers follow",
    },
    "Train": {
        "train": "train an adapter by a recipe",
        "calibrate": "fit the calibration of an adapter's suspicion to validation episodes",
        "weights": "fetch the embedded model, SmolLM2-135M (98 MB), once",
        "jobs launch": "start a job for each recipe; follow them with: hf jobs",
        "publish": "write a run's model card, and push the run",
    },
    "Serve": {
        "serve": "serve episodes over OpenEnv, tables and the page",
        "table": "open a table for four players on a server",
        "seat": "play one role of a table",
        "wire": "write the messages as JSON Schema, OpenAPI and AsyncAPI documents",
        "secret": "make the secret of a private split",
        "submission open": "open a submission for somebody; prints its token",
        "submission close": "give up what was not played and write the results",
        "submit": "play a submission on a server in evaluation mode",
    },
}
PARENTS = {
    "arena": "examine the arena pack",
    "draw": "draw several evaluations or runs in one picture",
    "live": "a company of real processes (docs/live.md)",
    "jobs": "train on Hugging Face Jobs",
    "submission": "let somebody play a private split",
}


def overview() -> str:
    """The text of ``chaosops --help``, made without loading Cyclopts and Rich, which is slow."""
    lines = ["Usage: chaosops COMMAND [OPTIONS]", "", *wrap(DESCRIPTION, 80)]
    for title, commands in COMMANDS.items():
        lines += ["", title, *(f"  {name:<18} {text}" for name, text in commands.items())]
    return "\n".join(
        [*lines, "", "COMMAND --help names the options. Also: --version, --install-completion"]
    )
