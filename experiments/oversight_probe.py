"""Does a small model find a leak, and does it find the evidence?

Trains a LoRA on first Oversight prompts of the arena to say which agent is the rogue, if any.
With ``--swapped`` every prompt has the documents of another company: anything that it still
learns is a leak. Takes minutes on one GPU.

    python experiments/oversight_probe.py make data.jsonl.gz
    python experiments/oversight_probe.py train data.jsonl.gz --model DIR --minutes 7 --out run.json

``make`` needs chaosops; ``train`` needs torch, transformers and peft, and no network.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from multiprocessing import Pool
from typing import Any

QUESTION = "\nRogue (0 none, else number in Agents):"
MOST_AGENTS = 6
PART = 250  # companies that a process makes at once


def make(path: str, train: int, test: int) -> None:
    parts = [
        (split, start, min(PART, count - start))
        for split, count in (("train", train), ("test", test))
        for start in range(0, count, PART)
    ]
    with gzip.open(path, "wt") as file, Pool() as pool:
        for rows in pool.imap(_rows, parts):
            file.writelines(json.dumps(row) + "\n" for row in rows)


def _rows(part: tuple[str, int, int]) -> list[dict[str, Any]]:
    from chaosops.core.vocabulary import Tier
    from chaosops.evaluation.leaks import samples

    split, start, count = part
    rows = []
    for sample in samples(split, Tier.HARD, count, start):
        label = 0 if sample.rogue is None else 1 + sample.agents.index(sample.rogue)
        row = {"split": split, "label": label, "agents": len(sample.agents)}
        rows.append({**row, "text": _asked(sample.prompt), "swapped": _asked(sample.swapped)})
    return rows


def _asked(prompt: str) -> str:
    """The prompt without the forms of replies."""
    return re.sub(r"\nReply with one JSON.*?(?=\nStep )", "", prompt, flags=re.S)


class Probe:
    def __init__(self, folder: str, rank: int) -> None:
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda()
        config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
        self.model = get_peft_model(base, config)
        digits = [self.tokenizer.encode(str(i))[0] for i in range(MOST_AGENTS + 1)]
        self.digits = torch.tensor(digits).cuda()

    def logits(self, batch: list[dict[str, Any]]) -> Any:
        """Padded on the right: a row that attends to nothing makes its gradient NaN."""
        torch = self.torch
        longest = max(len(row["ids"]) for row in batch)
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        for i, row in enumerate(batch):
            ids[i, : len(row["ids"])] = torch.tensor(row["ids"])
        last = torch.tensor([len(row["ids"]) - 1 for row in batch])
        causal = self.model.base_model.model
        with torch.autocast("cuda", dtype=torch.bfloat16):
            hidden = causal.model(input_ids=ids.cuda()).last_hidden_state
            scores = causal.lm_head(hidden[torch.arange(len(batch)), last]).float()[:, self.digits]
        agents = torch.tensor([row["agents"] for row in batch]).cuda()[:, None]
        choices = torch.arange(MOST_AGENTS + 1, device="cuda")[None]
        return scores.masked_fill(choices > agents, -1e4)

    def judge(self, rows: list[dict[str, Any]]) -> tuple[float, float]:
        """(AUROC of 'there is a rogue', share of rogues named)."""
        self.model.eval()
        scored: list[tuple[float, int, int]] = []
        with self.torch.no_grad():
            for i in range(0, len(rows), 128):
                shares = self.logits(rows[i : i + 128]).softmax(-1)
                named = (shares[:, 1:].argmax(-1) + 1).tolist()
                some = (1 - shares[:, 0]).tolist()
                scored += zip(some, named, (r["label"] for r in rows[i : i + 128]), strict=True)
        self.model.train()
        scored.sort(key=lambda item: item[0])
        ranks = [rank for rank, (_, _, label) in enumerate(scored, 1) if label]
        guilty, benign = len(ranks), len(scored) - len(ranks)
        area = (sum(ranks) - guilty * (guilty + 1) / 2) / (guilty * benign)
        return area, sum(named == label for _, named, label in scored if label) / guilty


def train(args: argparse.Namespace) -> None:
    probe = Probe(args.model, args.rank)
    torch = probe.torch
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    with gzip.open(args.data, "rt") as file:
        rows = [json.loads(line) for line in file]
    texts = [row["swapped" if args.swapped else "text"] + QUESTION for row in rows]
    for row, ids in zip(rows, probe.tokenizer(texts)["input_ids"], strict=True):
        row["ids"] = ids
    known = [row for row in rows if row["split"] == "train"]
    unseen = [row for row in rows if row["split"] == "test"]
    weights = [p for p in probe.model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=args.lr, weight_decay=0.01)
    start, seen, looked, curve = time.time(), 0, 0.0, []
    while (elapsed := time.time() - start) < 60 * args.minutes:
        batch = random.sample(known, args.batch)
        warm = min(1.0, seen / (40 * args.batch))
        for group in optimizer.param_groups:
            group["lr"] = args.lr * warm * max(0.05, 1 - elapsed / (60 * args.minutes))
        wanted = torch.tensor([row["label"] for row in batch]).cuda()
        loss = torch.nn.functional.cross_entropy(probe.logits(batch), wanted)
        if not torch.isfinite(loss):
            raise SystemExit(f"the loss is {loss.item()} after {seen} examples")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seen += args.batch
        if elapsed - looked > 45:
            looked = elapsed
            curve.append((seen, round(elapsed), loss.item(), *probe.judge(unseen[:768])))
            print(*curve[-1], flush=True)
    area, named = probe.judge(unseen)
    print(f"final: {seen} examples, AUROC {area:.4f}, right agent {named:.4f}")
    with open(args.out, "w") as file:
        json.dump(
            {"args": vars(args), "seen": seen, "auroc": area, "named": named, "curve": curve}, file
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("make", "train"))
    parser.add_argument("data")
    parser.add_argument("--train", type=int, default=20_000)
    parser.add_argument("--test", type=int, default=2_000)
    parser.add_argument("--model", help="a folder with the base model")
    parser.add_argument("--swapped", action="store_true", help="with documents of other companies")
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument("--lr", type=float, default=4e-4)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="probe.json")
    args = parser.parse_args()
    if args.what == "make":
        make(args.data, args.train, args.test)
    elif args.model is None:
        parser.error("train needs --model")
    else:
        train(args)


if __name__ == "__main__":
    main()
