"""Command lines drawn from the real commands: plausible words mixed with nasty ones.

The commands' own options are walked, so a new command or option is drawn by itself. An option
that is not named in ``PLAUSIBLE`` gets values by its type.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chaosops.cli.app import build_app
from chaosops.cli.commands import COMMANDS
from chaosops.evaluation.transcripts import evidence_and_label, write_transcripts
from chaosops.packs import load_pack, make_scenario
from chaosops.rollout import load_team, play
from chaosops.wire.recordings import FORMAT, write_recording
from tests.report.run_folder import make_results, make_run

if TYPE_CHECKING:
    from cyclopts.argument import Argument

ODD = ["", " ", "-1", "0", "nan", "inf", "-inf", "1e999", "9" * 30, "x" * 5000, "\x1b[2J\x07"]
ODD += ["a\nb", "ünï→🙂", "\udcff", "..", "none", "null", "[]", "{}", "[/bold]", "%s%n", "a=b"]
ODD += [
    "~nobody-of-this-name/x",
    "./a-file",
    "+format=json",
    "=",
    ",",
    ":",
    "@",
    "local:",
    "hf:",
    "hf:a/b@",
    "openai:",
    "openai:m@x",
]
URLS = ["http://127.0.0.1:9", "http://[", "127.0.0.1", "http://127.0.0.1:99999", "ftp://x", ""]
# Everything that reads a path. Other path options write: they get places that are safe to write.
READING = {"file", "recipe", "recipes", "run", "results", "log", "folder", "place", "secret"}
READING |= {"adapter", "folders", "runs", "transcripts"}
PLAUSIBLE: Mapping[str, list[str]] = {
    "pack": ["classic", "arena"],
    "tier": ["easy", "medium", "hard"],
    "split": ["train", "test", ""],
    "scenario": ["cascade", "dns_outage"],
    "role": ["sre", "oversight"],
    "policy": ["random", "heuristic", "oracle", "openai:m@http://127.0.0.1:9/v1+patience=0"],
    "scorer": ["heuristic", "math:sqrt", "math:tau", "no.module:x", "a.py:x", "scores.jsonl"],
    "against": ["random", "heuristic,keyword", "oracle"],
    "budget": ["0.05", "0.5"],
    "a": ["random", "heuristic", "auditor", "x#random"],
    "b": ["random", "heuristic", "#"],
    "versus": ["random", "keyword"],
    "policies": ["random", "heuristic,oracle", "random,random"],
    "team": ["oversight=random,others=oracle", "oversight=random"],
    "tiers": ["easy", "hard,easy"],
    "matrix": ["full", "published"],
    "set": ["steps=2", "name='a \"b\"'", "learning_rate=inf", "warmup_steps=-5", "first_seed=0"],
    "rogue_bonus_multiplier": ["2.0->1.0", "nan"],
    "env": ["A=B"],
    "repo": ["ada/overseer"],
    "repo_prefix": ["ada/overseer"],
    "source": ["chaosops==1.0.0", "git+https://example.org/x.git"],
    "timeout": ["2h"],
    "url": URLS,
    "host": ["127.0.0.1"],
    "otlp": ["out0", "http://127.0.0.1:9"],
}
# Options without which a command would play for long or draw pictures; always given.
BOUNDS: Mapping[tuple[str, ...], list[list[str]]] = {
    ("eval",): [["--seeds", "1"], ["--no-figures"], ["--tiers", "easy"]],
    ("check",): [["--seeds", "1"]],
    ("bench",): [["--seconds", "0.001"]],
    ("arena", "leaks"): [["--train", "100"], ["--test", "100"]],
    ("arena", "investigate"): [["--seeds", "1"]],
    ("arena", "reading"): [["--seeds", "1"]],
    ("train",): [["--no-figures"]],
    ("transcripts",): [["--seeds", "1"], ["--tiers", "easy"]],
    ("compare",): [["--seeds", "1"], ["--tiers", "easy"]],
}
# No large number that is allowed: it would be played.
ODD_COUNTS = ["0", "-1", "x", "1.5", "9" * 30, "", "1e3", "nan", "-0", "\u0661"]
DAMAGED = 24  # copies of each kind of file
UNWRITABLE = ["", ".", "a-file/below", "ünï\n\x1b", "x" * 300, "/dev/null/x"]
FITTING = {
    "file": ["recording", "vectors", "table"],
    "place": ["evaluation", "recording"],
    "recipe": [".toml"],
    "recipes": [".toml"],
    "run": ["run"],
    "results": ["results", "evaluation"],
    "folders": ["evaluation"],
    "runs": ["run"],
    "transcripts": ["transcripts"],
}


class Command(NamedTuple):
    words: tuple[str, ...]
    options: list[Argument]


def commands() -> Iterator[Command]:
    """Every command with its options and arguments."""
    app = build_app()
    for names in COMMANDS.values():
        for name in names:
            command = app
            for word in name.split():
                command = command[word]
            found = command.assemble_argument_collection()
            values = [each for each in found if each.parse and not each.children]
            yield Command(tuple(name.split()), values)


def draw(number: int, every: list[Command], paths: list[str]) -> tuple[Command, list[str]]:
    """One command line. Every option of every command has its turn, and most lines hold few
    nasty words, so that they get far."""
    dice = random.Random(number)
    turns = [(command, place) for command in every for place in range(len(command.options) or 1)]
    command, place = turns[number % len(turns)]
    nastiness = dice.choice([0.02, 0.1, 0.5])
    given: list[list[str]] = []
    for i, option in enumerate(command.options):
        usual = option.required or not option.name.startswith("-") or dice.random() < 0.3
        if i == place or (usual and dice.random() > nastiness / 10):
            given.append(_words(dice, option, paths, nastiness))
    named = {word.partition("=")[0] for words in given for word in words}
    given += [bound for bound in BOUNDS.get(command.words, []) if bound[0] not in named]
    dice.shuffle(given)
    stray = [dice.choice(ODD)] if dice.random() < nastiness / 10 else []
    return command, [*command.words, *(word for words in given for word in words), *stray]


def _words(dice: random.Random, option: Argument, paths: list[str], nastiness: float) -> list[str]:
    count, takes_many = option.token_count()
    name = [option.name] if option.name.startswith("-") else []
    if count == 0:
        return name
    many = takes_many and not name and dice.random() < 0.3
    values = [_value(dice, option, paths, nastiness) for _ in range(2 if many else 1)]
    if name and values[0].startswith("-") and dice.random() < 0.8:
        return [f"{name[0]}={values[0]}"]  # as a user has to write it
    return name + values


def _value(dice: random.Random, option: Argument, paths: list[str], nastiness: float) -> str:
    nasty = dice.random() < nastiness
    kind, name = str(option.hint), option.name.lstrip("-").lower().replace("-", "_")
    if "Path" in kind and name in READING:
        fitting = [path for path in paths if any(s in path for s in FITTING.get(name, []))]
        if not nasty and fitting and dice.random() < 0.5:
            return min(fitting, key=len)  # the one that is whole
        return dice.choice(paths if nasty or not fitting else fitting)
    if "Path" in kind:
        return dice.choice(UNWRITABLE if nasty else [f"out{dice.randrange(9)}", "out/deep.png"])
    if name == "url":
        return dice.choice(URLS)  # nothing but loopback is asked
    if name in PLAUSIBLE:
        return dice.choice(ODD if nasty else PLAUSIBLE[name])
    if "int" in kind or "float" in kind:
        return dice.choice(ODD_COUNTS if nasty else ["1", "2"])
    return dice.choice(ODD)


def damage(dice: random.Random, whole: Path, target: Path) -> None:
    """A copy with a few values exchanged; where it is not JSON, with a few lines."""
    lines = whole.read_text(encoding="utf-8").splitlines()
    try:
        if whole.suffix == ".json":
            content = json.loads("\n".join(lines))
            for _ in range(dice.randrange(1, 4)):
                _exchange(dice, content)
            text = json.dumps(content)
        elif whole.suffix == ".jsonl":
            rows = [json.loads(line) for line in lines]
            _exchange(dice, rows)
            text = "\n".join(map(json.dumps, rows)) + "\n"
        else:
            lines[dice.randrange(len(lines))] = dice.choice(["x = 1", "seed = nan", "[a]", "=\x1b"])
            text = "\n".join(lines)
    except ValueError as error:
        raise AssertionError(f"{whole} should be whole") from error
    target.write_text(text, encoding="utf-8")


def _exchange(dice: random.Random, content: Any) -> None:
    """Replace one value somewhere in it."""
    places: list[tuple[Any, Any]] = []
    rest = [content]
    while rest:
        node = rest.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        places += [(node, key) for key in keys]
        rest += [node[key] for key in keys if isinstance(node[key], dict | list)]
    if not places:
        return
    # Few values lie near the top, and they decide most.
    node, key = dice.choice(places[: dice.choice([5, 50, len(places)])])
    if isinstance(node, dict) and dice.random() < 0.2:
        del node[key]
    else:
        node[key] = dice.choice([None, [], {}, "", "\x1b[2J", -1, 10**30, float("nan"), True, [{}]])


def make_files(folder: Path) -> list[str]:
    """Files and folders, whole and broken, of every kind that a command reads."""
    folder.mkdir()
    recording = _make_whole(folder)
    for name, text in _broken_texts(recording.read_text()).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "bytes").write_bytes(b"\xff\xfe\x00\x80PK\x03\x04")
    (folder / "header.safetensors").write_bytes((2**62).to_bytes(8, "little"))
    for number in range(DAMAGED):
        _damage_copies(folder, number)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "empty folder").mkdir()
    found = [str(path) for path in sorted(folder.iterdir())]
    return [*found, str(recording / "below"), str(folder / "missing"), "/dev/null", "/dev/zero", ""]


def _make_whole(folder: Path) -> Path:
    """One of each kind. Returns the recording."""
    episode = play(make_scenario("cascade", tier="easy"), load_team("random"))
    recording = folder / "recording.json"
    manifest = {"command": "c", "pack_hash": load_pack("classic").content_hash()}
    write_recording(recording, episode, {**manifest, "policy_status": {}})
    make_run(folder / "run")
    make_results(folder / "evaluation", folder / "run")
    lines = [evidence_and_label("e00001", play(make_scenario(split="test"), load_team("auditor")))]
    (folder / "transcripts").mkdir()
    write_transcripts(folder / "transcripts", lines, {})
    shutil.copy(Path(__file__).parents[1] / "data" / "table.jsonl", folder / "table.jsonl")
    return recording


def _broken_texts(recording: str) -> dict[str, str]:
    return {
        "empty": "",
        "cut.json": recording[:2000],
        "list.json": "[]",
        "deep.json": "[" * 100_000,
        "null.json": "null",
        "recording as a list.json": "[" + recording + "]",
        "recording of nothing.json": json.dumps({"format": FORMAT}),
        "vectors.jsonl": '{"failure": "cascade"}\n',
        "results.json": json.dumps({"manifest": {"policies": {}}, "episodes": []}),
        "good.toml": "steps = 2\n",
        "trl.toml": 'method = "trl"\nsteps = 2\n',
        "inf.toml": "learning_rate = inf\n",
        "quotes.toml": "name = 'a \"b\"'\n",
        "types.toml": "steps = [1]\nname = 3\n",
        "broken.toml": "steps = = 2",
        "huge.toml": f"seed = {'9' * 5000}\n",
        "escape\x1b[2J\n.toml": "",
    }


# The files in each folder that are damaged, one in each copy of the folder.
_INSIDE = {
    "run": ["metrics.jsonl", "adapter/adapter_config.json", "recipe.toml"],
    "evaluation": ["results.json", "monitor.json"],
    "transcripts": ["manifest.json", "labels.jsonl"],
}


def _damage_copies(folder: Path, number: int) -> None:
    dice = random.Random(number)
    damage(dice, folder / "recording.json", folder / f"recording {number}.json")
    for kind, names in _INSIDE.items():
        copied = shutil.copytree(folder / kind, folder / f"{kind} {number}")
        name = names[number % len(names)]
        damage(dice, folder / kind / name, copied / name)
