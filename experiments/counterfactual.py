"""Probe: SmolLM2 learns a team's menu from counterfactual returns, streamed as it trains.

Workers on the CPU play noisy episodes of the training split, fork the world at every turn,
try every action on the menu and let the oracle finish. The model's distribution over the
menu's letters is drawn towards softmax((return - 4 for doing anything) / TEMPERATURE).

    python experiments/counterfactual.py --base DIR --out DIR --minutes 7
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing as mp
import random
import time
from pathlib import Path

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
TIERS = ("easy", "medium", "hard", "hard")


def states(worker, workers, args, queue):
    """Endless states of this worker's share of the seeds."""
    from transformers import AutoTokenizer

    from chaosops.core.actions import Audit, Inspect, Noop
    from chaosops.core.decision import Decision
    from chaosops.core.vocabulary import Role
    from chaosops.env import Env
    from chaosops.packs import load_pack, make_scenario
    from chaosops.roles.menu import menu
    from chaosops.roles.prompt import Style, render
    from chaosops.rollout import Table, advance, load_team
    from chaosops.training.credit import counterfactual_returns

    tokenizer = AutoTokenizer.from_pretrained(args.base)
    template = tokenizer.apply_chat_template
    oracle = load_team("oracle")
    dice = random.Random(1000 + worker)
    failures = load_pack("classic").failures()
    shares = {
        "classic": dict.fromkeys(Role, 0.7),
        "arena": dict(zip(Role, map(float, args.shares.split(",")), strict=True)),
    }
    seed = 5000 + worker
    out = []
    while True:
        seed += workers
        tier = dice.choice(TIERS)
        if dice.random() < args.classic:
            scenario = make_scenario(dice.choice(failures), tier=tier, seed=10_000 + seed)
        else:
            scenario = make_scenario(pack="arena", split="train", tier=tier, seed=seed)
        env = Env(scenario)
        table = Table(env, oracle)
        quiet = dice.random() < 0.3  # partners who repair late leave time for looking
        turns = 0
        while not env.over and turns < 14:
            turns += 1
            view = env.view
            choices = menu(view)
            if dice.random() < shares[scenario.pack][view.role.value]:
                returns = counterfactual_returns(env, choices, oracle)
                if max(returns.values()) > min(returns.values()):
                    text = template(
                        render(view, Style.MENU), tokenize=False, add_generation_prompt=True
                    )
                    ids = tokenizer.encode(text, add_special_tokens=False)
                    gains = [
                        (LETTERS.index(k), v - 4.0 * (choices[k].verb != "noop"))
                        for k, v in returns.items()
                    ]
                    out.append((ids, gains, view.role.value, scenario.pack))
            draw = dice.random()
            if draw < (0.25 if quiet else 0.55):
                advance([table])
                continue
            looks = [a for a in choices.values() if isinstance(a, Audit | Inspect)]
            if looks and draw < 0.85:
                action = dice.choice(looks)
            elif draw < 0.93:
                action = Noop()
            else:
                action = dice.choice(list(choices.values()))
            env.play(Decision(action))
            if len(out) >= 64:
                queue.put(out)
                out = []


def lora_layers(model, rank, alpha):
    """Linear layers that compute with W + BA at once: one matmul instead of three."""
    import torch
    from torch import nn

    class Lora(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.weight = inner.weight.requires_grad_(False)
            self.a = nn.Parameter(torch.empty(rank, inner.in_features, device=inner.weight.device))
            self.b = nn.Parameter(torch.zeros(inner.out_features, rank, device=inner.weight.device))
            nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

        def forward(self, x):
            delta = (self.b @ self.a) * (alpha / rank)
            return nn.functional.linear(x, self.weight + delta.to(self.weight.dtype))

    model.requires_grad_(False)
    for layer in model.model.layers:
        for part, names in ((layer.self_attn, "qkvo"), (layer.mlp, ("gate", "up", "down"))):
            for name in names:
                setattr(part, f"{name}_proj", Lora(getattr(part, f"{name}_proj")))
    return [p for p in model.parameters() if p.requires_grad]


def save_peft(model, folder, rank, alpha, base_name):
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            stem, which = name.rsplit(".", 1)
            tensors[f"base_model.model.{stem}.lora_{which.upper()}.weight"] = (
                p.detach().to(torch.bfloat16).cpu().contiguous()
            )
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_name,
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": [
            "q_proj",
            "k_proj",
            "v_proj",
            "o_proj",
            "gate_proj",
            "up_proj",
            "down_proj",
        ],
    }
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--tokens", type=int, default=32_000, help="a step")
    parser.add_argument("--temperature", type=float, default=4.0)
    parser.add_argument("--classic", type=float, default=0.2)
    parser.add_argument("--shares", default="0.7,0.7,0.7,0.3", help="of the roles' turns, arena")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--start", help="an adapter to go on from")
    args = parser.parse_args()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    ctx = mp.get_context("spawn")
    queue = ctx.Queue(maxsize=200)
    team = [
        ctx.Process(target=states, args=(w, args.workers, args, queue), daemon=True)
        for w in range(args.workers)
    ]
    [p.start() for p in team]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(args.base)
    model = AutoModelForCausalLM.from_pretrained(args.base, dtype=torch.bfloat16).to(device)
    letters = torch.tensor(
        [tokenizer.encode(c, add_special_tokens=False)[0] for c in LETTERS], device=device
    )
    alpha = 2 * args.rank
    params = lora_layers(model, args.rank, alpha)
    if args.start:
        from safetensors.torch import load_file

        kept = load_file(Path(args.start) / "adapter_model.safetensors")
        short = {
            n.removeprefix("base_model.model.")
            .replace(".lora_A.weight", ".a")
            .replace(".lora_B.weight", ".b"): t
            for n, t in kept.items()
        }
        _missing, unexpected = model.load_state_dict(
            {n: t.float() for n, t in short.items()}, strict=False
        )
        assert not unexpected, unexpected
        print("started from", args.start, len(short), "tensors", flush=True)
    model.train()
    body = model.model
    if args.compile:
        begun = time.time()
        try:
            body = torch.compile(model.model, dynamic=True)
            for shape in ((64, 384), (40, 600), (90, 300)):
                trial = torch.randint(5, 4000, shape, device=device)
                body(input_ids=trial, use_cache=False).last_hidden_state.float().mean().backward()
        except Exception as error:
            print("not compiled:", repr(error)[:300], flush=True)
            body = model.model
        print(f"compiling took {time.time() - begun:.1f} s", flush=True)
    optimizer = torch.optim.AdamW(params, lr=args.lr, weight_decay=0.0)
    log = (args.out / "log.jsonl").open("w")
    started = time.time()
    seconds = args.minutes * 60
    pool, seen, step, tokens, waited = [], 0, 0, 0, 0.0
    recent = {}
    while (elapsed := time.time() - started) < seconds:
        asked = time.time()
        while len(pool) < 2000 or not queue.empty():
            pool += queue.get()
            if len(pool) > 6000:
                break
        waited += time.time() - asked
        # Prompts of like length together, from a shuffled pool: little padding, no order.
        random.shuffle(pool)
        window = sorted(pool[:512], key=lambda s: len(s[0]))
        start = random.randrange(len(window))
        batch, width = [], 0
        while start < len(window):
            width = max(width, len(window[start][0]))
            if batch and width * (len(batch) + 1) > args.tokens:
                break
            batch.append(window[start])
            start += 1
        used = set(map(id, batch))
        pool = [s for s in pool if id(s) not in used]
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        gains = torch.full((len(batch), 52), float("-inf"))
        for row, (prompt, given, _, _) in enumerate(batch):
            ids[row, : len(prompt)] = torch.tensor(prompt)
            for place, value in given:
                gains[row, place] = value
        last = torch.tensor([len(s[0]) - 1 for s in batch])
        ids, gains, last = ids.to(device), gains.to(device), last.to(device)
        target = torch.softmax(gains / args.temperature, dim=1)
        # Padded on the right and causal: the last real token never sees the padding.
        hidden = body(input_ids=ids, use_cache=False).last_hidden_state
        picked = hidden[torch.arange(len(batch), device=device), last]
        logits = (picked @ model.lm_head.weight[letters].T).float()
        logs = torch.log_softmax(logits.masked_fill(gains.isinf(), float("-inf")), dim=1)
        loss_rows = -(target * logs.masked_fill(gains.isinf(), 0.0)).sum(1)
        loss = loss_rows.mean()
        if not torch.isfinite(loss):
            raise SystemExit("loss is not finite")
        lr = args.lr * min(1, step / 30, max(0.02, (1 - elapsed / seconds) * 1.5))
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        step += 1
        seen += len(batch)
        tokens += ids.numel()
        with torch.no_grad():
            floor = -(target * target.clamp_min(1e-9).log()).sum(1)
            kl = (loss_rows - floor).tolist()
            regret = (
                gains.max(1).values - gains.gather(1, logs.argmax(1, keepdim=True))[:, 0]
            ).tolist()
        for (_, _, role, pack), one, lost in zip(batch, kl, regret, strict=False):
            recent.setdefault(f"{pack} {role}", []).append((one, lost))
        if step % 25 == 0:
            row = {
                "step": step,
                "s": round(elapsed, 1),
                "states": seen,
                "tok/s": round(tokens / elapsed),
                "waited": round(waited, 1),
                "lr": lr,
                "pool": len(pool),
            }
            for name, found in sorted(recent.items()):
                row[name] = [round(sum(x) / len(found), 3) for x in zip(*found, strict=False)]
            recent = {}
            print(json.dumps(row), flush=True)
            log.write(json.dumps(row) + "\n")
            log.flush()
    save_peft(model, args.out / "adapter", args.rank, alpha, "HuggingFaceTB/SmolLM2-135M-Instruct")
    torch.save(
        {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}, args.out / "raw.pt"
    )
    [p.terminate() for p in team]
    print("saved", flush=True)


if __name__ == "__main__":
    main()
