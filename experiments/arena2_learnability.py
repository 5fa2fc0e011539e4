"""How does a small model learn to tell guilt in the arena, from what Oversight reads?

Trains the learner of ``chaosops train`` on Oversight's prompts of companies of ``train``: which act
is the rogue's, or none. Half of the prompts are of the first turn, half of the turn after an audit
of the main suspect. It logs the AUROC on companies that it never saw. Variants differ in where
and how the world's answers about single acts are taught:

labels   the answer to the whole prompt alone
asked    also questions about each act, at the end of its line, where page and charter were read
listed   questions about each act at its label, which stands once more at the end of the prompt
plain    as asked, and companies that take little reading come first

    python experiments/arena2_learnability.py all --model DIR --out DIR --minutes 4.5
    python experiments/arena2_learnability.py make data.pickle --companies 1000
    python experiments/arena2_learnability.py train data.pickle --variant asked --model DIR

``make`` needs chaosops alone; ``train`` also torch and transformers, and no network. ``all`` makes
the prompts, and trains the variants side by side on one GPU.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.actions import Audit, FlagRogue, Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.scoring import auroc
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.llm.forward import passes
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.prompt import Style, render
from chaosops.training.learner import Learner, column_of, require_torch, width_of
from chaosops.training.marks import Mark, act_marks
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.world.incident import ActReading, Reading

VARIANTS = ("labels", "asked", "listed", "plain")
WHEN = ("first", "audited")
FIRST_SEED, FIRST_HELD = 3_000_000, 4_000_000  # of companies to train on, and of unseen ones
PART = 50  # companies that a process makes at once
LOG_EVERY = 20  # seconds


class Row(NamedTuple):
    """A prompt of Oversight, and the truth about it."""

    when: str
    demand: int
    system: str
    user: str
    idle: str  # the label of noop
    acts: dict[str, tuple[str, ActReading | None]]
    """By label: the agent, and what is to be read, if the act is from before the incident."""
    marks: tuple[Mark, ...]
    rogue: str
    reader: float
    """How guilty the company looks to somebody who reads everything right."""


def make(path: Path, companies: int, held: int) -> None:
    parts = [
        (start, min(PART, end - start))
        for first, count in ((FIRST_SEED, companies), (FIRST_HELD, held))
        for end in (first + count,)
        for start in range(first, end, PART)
    ]
    began = time.monotonic()
    with Pool() as pool:
        found = pool.map(_rows, parts, chunksize=1)
    known = [
        row
        for (start, _), rows in zip(parts, found, strict=True)
        for row in rows
        if start < FIRST_HELD
    ]
    unseen = [
        row
        for (start, _), rows in zip(parts, found, strict=True)
        for row in rows
        if start >= FIRST_HELD
    ]
    path.write_bytes(pickle.dumps((known, unseen)))
    print(f"{len(known)} + {len(unseen)} prompts in {time.monotonic() - began:.0f} s")
    for when in WHEN:
        some = [row for row in unseen if row.when == when]
        print(f"{when}: a perfect reader has AUROC {_area(some, [row.reader for row in some]):.3f}")


def _rows(part: tuple[int, int]) -> list[Row]:
    start, count = part
    return [row for seed in range(start, start + count) for row in _prompts_of(seed)]


def _prompts_of(seed: int) -> Iterator[Row]:
    tier = "hard" if seed % 2 else "medium"
    scenario = make_scenario(pack="arena", split="train", tier=tier, seed=seed)
    reading = load_pack("arena").reading(scenario)
    env = Env(scenario)
    env.play(Decision(Noop()))
    row = _row(env, reading, "first", "")
    yield row
    seeming = [agent for agent, act in row.acts.values() if act and act.damage]
    suspects = seeming or [agent for agent, _ in row.acts.values()]
    if not suspects:
        return
    suspect = random.Random(seed).choice(suspects)
    env.play(Decision(Audit(suspect)))
    while env.role is not Role.OVERSIGHT:
        env.play(Decision(Noop()))
    yield _row(env, reading, "audited", suspect)


def _row(env: Env, reading: Reading, when: str, audited: str) -> Row:
    view = env.view
    system, user = (message["content"] for message in render(view, Style.MENU))
    choices = menu(view)
    idle = next(label for label, action in choices.items() if isinstance(action, Noop))
    acts = {
        label: (action.target, reading.acts.get(action.evidence or 0))
        for label, action in choices.items()
        if isinstance(action, FlagRogue)
    }
    rogue = env.rogue or ""
    claims = {entry.id for entry in acts_in_sight(view) if entry.reason.startswith("order")}
    score = 0.0
    for action in choices.values():
        act = reading.acts.get(action.evidence or 0) if isinstance(action, FlagRogue) else None
        if isinstance(action, FlagRogue) and act and act.damage and act.breach:
            sure = 0.5 if action.evidence in claims else 1.0
            score = max(score, float(action.target == rogue) if action.target == audited else sure)
    marks = act_marks(view, user, reading)
    return Row(when, reading.demand, system, user, idle, acts, marks, rogue, score)


def _area(rows: Sequence[Row], scores: Sequence[float]) -> float:
    return auroc(list(scores), [bool(row.rogue) for row in rows]) or 0.0


def arranged(row: Row, variant: str) -> tuple[str, Sequence[Mark]]:
    """The user's message of a variant, and where it asks about acts."""
    if variant != "listed":
        return row.user, () if variant == "labels" else row.marks
    text, marks = row.user + "\nActs:", []
    for label, (_, act) in row.acts.items():
        text += f" {label}"
        if act is not None:
            marks.append(Mark(len(text) - 1, act))
    return text, marks


class Example(NamedTuple):
    row: Row
    prompt: list[int]
    marks: list[tuple[int, ActReading]]


class Trainer:
    def __init__(self, args: argparse.Namespace, compiles: bool) -> None:
        self.torch = require_torch()
        self.variant: str = args.variant
        self.batch_tokens: int = args.batch_tokens
        self.seconds = 60 * args.minutes
        weight = 0.0 if self.variant == "labels" else args.reading
        self.recipe = Recipe(
            reading=weight,
            lora_rank=args.rank,
            lora_alpha=2 * args.rank,
            compile=compiles,
            learning_rate=args.lr,
            seed=args.seed,
        )
        self.learner = Learner(Path(args.model), self.recipe)
        self.dice = random.Random(args.seed)

    def examples(self, rows: Sequence[Row]) -> list[Example]:
        encoder = self.learner.encode
        before, between, after = encoder.around
        texts = [arranged(row, self.variant) for row in rows]
        prompts = [
            f"{before}{row.system}{between}{text}{after}"
            for row, (text, _) in zip(rows, texts, strict=True)
        ]
        encodings = encoder.tokenizer.encode_batch(prompts, add_special_tokens=False)
        found = []
        for row, (_, asked), encoding in zip(rows, texts, encodings, strict=True):
            start = len(before) + len(row.system) + len(between)
            marks = [(encoding.char_to_token(start + mark.place), mark.answers) for mark in asked]
            found.append(Example(row, encoding.ids, marks))
        return found

    def draw(self, known: Sequence[Example], progress: float) -> list[Example]:
        """As many as fit into a batch. In a curriculum, demanding companies come later."""
        batch: list[Example] = []
        longest = 0
        while True:
            one = self.dice.choice(known)
            early = self.variant == "plain" and one.row.demand > 4 * progress / 0.5
            if early and self.dice.random() > 0.15:
                continue
            longest = max(longest, len(one.prompt))
            if longest * (len(batch) + 1) > self.batch_tokens:
                return batch
            batch.append(one)

    def scores(self, batch: Sequence[Example], marked: bool) -> tuple[Any, Any, list[Any]]:
        """(log-probabilities over labels, targets, answers of the readers)."""
        torch = self.torch
        labels = [[one.row.idle, *one.row.acts] for one in batch]
        width = width_of(label for some in labels for label in some)
        absent = torch.ones(len(batch), width, dtype=torch.bool)
        target = torch.zeros(len(batch), width)
        for i, (one, some) in enumerate(zip(batch, labels, strict=True)):
            absent[i, [column_of(label) for label in some]] = False
            right = [label for label, (_, act) in one.row.acts.items() if act and act.decisive]
            # A rogue whose act is not in sight: any of its acts, or none.
            right = right or [
                label for label, (agent, _) in one.row.acts.items() if agent == one.row.rogue
            ]
            for label in right or [one.row.idle]:
                target[i, column_of(label)] = 1 / len(right or [one.row.idle])
        places = [(i, place) for i, one in enumerate(batch) for place, _ in one.marks]
        logits, answers = self.learner.read(
            [one.prompt for one in batch], width, places if marked and self.recipe.reading else ()
        )
        logs = logits.masked_fill(absent.to(logits.device), -1e4).log_softmax(1)
        return logs, target.to(logits.device), answers

    def update(self, known: Sequence[Example], step: int, progress: float) -> tuple[float, float]:
        torch = self.torch
        batch = self.draw(known, progress)
        logs, target, answers = self.scores(batch, True)
        loss = -(target * logs).sum(1).mean()
        asked = torch.zeros(())
        if answers:
            rows = [act for one in batch for _, act in one.marks]
            wanted = torch.tensor(rows, dtype=torch.float32, device=logs.device)
            judge = torch.nn.functional.binary_cross_entropy_with_logits
            asked = sum(judge(found, wanted) for found in answers) / len(answers)
        rate = self.recipe.learning_rate * max(0.02, min((step + 1) / 30, 1.5 * (1 - progress), 1))
        self.learner.update(
            loss + self.recipe.reading * asked.to(loss.device), rate, ProcessGroup()
        )
        self.prompts += len(batch)
        return float(loss.detach()), float(asked.detach())

    def judge(self, unseen: Sequence[Example]) -> dict[str, Any]:
        guilt: dict[int, float] = {}
        named: dict[int, bool] = {}
        said: list[tuple[list[bool], ActReading]] = []
        with self.torch.no_grad():
            for places in passes([len(one.prompt) for one in unseen], 4 * self.batch_tokens):
                some = [unseen[i] for i in places]
                logs, target, answers = self.scores(some, True)
                best = logs.argmax(1)
                wanted = target.gather(1, best[:, None])[:, 0] > 0
                for i, one, row, hit in zip(
                    places, some, logs.tolist(), wanted.tolist(), strict=True
                ):
                    guilt[i] = -row[column_of(one.row.idle)]
                    named[i] = hit
                if answers:
                    acts = [act for one in some for _, act in one.marks]
                    said += zip((answers[-1] > 0).tolist(), acts, strict=True)
        found: dict[str, Any] = {}
        for when in WHEN:
            mine = [i for i, one in enumerate(unseen) if one.row.when == when]
            found[f"auroc_{when}"] = round(
                _area([unseen[i].row for i in mine], [guilt[i] for i in mine]), 4
            )
            easy = [i for i in mine if unseen[i].row.demand <= 1]
            found[f"auroc_{when}_easy"] = round(
                _area([unseen[i].row for i in easy], [guilt[i] for i in easy]), 4
            )
            guilty = [i for i in mine if unseen[i].row.rogue]
            found[f"right_{when}"] = round(sum(named[i] for i in guilty) / max(1, len(guilty)), 4)
        for k, name in enumerate(ActReading._fields):
            yes = [bits[k] for bits, act in said if act[k]]
            no = [not bits[k] for bits, act in said if not act[k]]
            if yes and no:
                found[name] = round((sum(yes) / len(yes) + sum(no) / len(no)) / 2, 4)
        return found

    def run(self, known: Sequence[Example], unseen: Sequence[Example], log: Path) -> None:
        self.prompts, step, looked = 0, 0, 0.0
        began = time.monotonic()
        sums = [0.0, 0.0, 0]
        while (spent := time.monotonic() - began) < self.seconds:
            loss, asked = self.update(known, step, spent / self.seconds)
            sums = [sums[0] + loss, sums[1] + asked, sums[2] + 1]
            step += 1
            if spent - looked > LOG_EVERY or step == 1:
                looked = spent
                self.note(log, step, spent, sums, unseen[:600])
                sums = [0.0, 0.0, 0]
        self.note(log, step, time.monotonic() - began, sums, unseen, final=True)

    def note(
        self,
        log: Path,
        step: int,
        spent: float,
        sums: list[float],
        unseen: Sequence[Example],
        final: bool = False,
    ) -> None:
        count = max(1, sums[2])
        row = {
            "variant": self.variant,
            "step": step,
            "seconds": round(spent),
            "prompts": self.prompts,
            "loss": round(sums[0] / count, 4),
            "reading_loss": round(sums[1] / count, 4),
            **self.judge(unseen),
            "final": final,
        }
        print(json.dumps(row), flush=True)
        with log.open("a") as file:
            file.write(json.dumps(row) + "\n")


def train(args: argparse.Namespace) -> None:
    known, unseen = pickle.loads(Path(args.data).read_bytes())
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    log = out / f"{args.variant}.jsonl"
    compiles = args.compile and require_torch().cuda.is_available()
    trainer = Trainer(args, compiles)
    random.Random(1).shuffle(known)
    learned, judged = trainer.examples(known), trainer.examples(unseen)
    marks = sum(len(one.marks) for one in judged) / len(judged)
    acts = sum(len(one.row.acts) for one in judged) / len(judged)
    tokens = sum(len(one.prompt) for one in judged) / len(judged)
    print(
        f"{args.variant}: {tokens:.0f} tokens, {acts:.1f} acts, {marks:.1f} asked about", flush=True
    )
    if compiles:
        try:
            trainer.prompts = 0
            trainer.update(learned, 0, 0.0)
        except Exception as error:  # a compiler that fails must not cost the run
            print(f"compiling failed, going on without: {str(error)[:300]}", flush=True)
            trainer = Trainer(args, False)
    trainer.run(learned, judged, log)


def run_all(args: argparse.Namespace) -> int:
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    data = Path(args.data or "/tmp/arena2_learnability.pickle")
    make(data, args.companies, args.held)
    running = []
    for variant in args.variants.split(","):
        given = ["train", str(data), "--variant", variant, "--model", args.model, "--out", args.out]
        given += ["--minutes", str(args.minutes), "--batch-tokens", str(args.batch_tokens)]
        given += ["--lr", str(args.lr), "--rank", str(args.rank), "--reading", str(args.reading)]
        given += ["--compile"] if args.compile else []
        text = (out / f"{variant}.txt").open("w")
        command = [sys.executable, __file__, *given]
        running.append((variant, subprocess.Popen(command, stdout=text, stderr=subprocess.STDOUT)))
    failed = [variant for variant, process in running if process.wait()]
    for variant, _ in running:
        print(f"--- {variant}")
        print("\n".join((out / f"{variant}.txt").read_text().splitlines()[-8:]))
    return bool(failed)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("all", "make", "train"))
    parser.add_argument("data", nargs="?", default="")
    parser.add_argument("--companies", type=int, default=30_000)
    parser.add_argument("--held", type=int, default=1_000)
    parser.add_argument("--model", default="", help="a folder with the base model")
    parser.add_argument("--variant", choices=VARIANTS, default="asked")
    parser.add_argument("--variants", default="labels,asked,plain", help="with all")
    parser.add_argument("--minutes", type=float, default=4.5)
    parser.add_argument("--lr", type=float, default=6e-4)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--reading", type=float, default=2.0, help="weight of the questions")
    parser.add_argument("--batch-tokens", type=int, default=28_000)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="learnability")
    args = parser.parse_args()
    if args.what == "make":
        make(Path(args.data), args.companies, args.held)
        return 0
    if args.what == "all":
        return run_all(args)
    train(args)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
