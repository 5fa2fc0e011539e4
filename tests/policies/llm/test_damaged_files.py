"""A damaged adapter or GGUF file is one line."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from chaosops.core.errors import ChaosOpsError
from chaosops.policies.llm import weights
from chaosops.policies.llm.adapter import CONFIG, WEIGHTS, read_adapter
from chaosops.policies.llm.lora_gguf import convert
from chaosops.policies.registry import load_policy
from chaosops.trained import trained_adapter

RANK = 16


def tensors(**changes: Any) -> bytes:
    a, b = np.ones((RANK, 576), np.float32), np.ones((576, RANK), np.float32)
    module = "base_model.model.model.layers.0.self_attn.q_proj"
    pair = {f"{module}.lora_A.weight": a, f"{module}.lora_B.weight": b}
    whole = {name: value for name, value in (pair | changes).items() if value is not None}
    return bytes(save(whole))


NAME = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"
ADAPTERS: dict[str, Callable[[Path], object]] = {
    "truncated": lambda f: (f / WEIGHTS).write_bytes(tensors()[:-100]),
    "empty": lambda f: (f / WEIGHTS).write_bytes(b""),
    "header too long": lambda f: (f / WEIGHTS).write_bytes(struct.pack("<Q", 1 << 60) + b"{}"),
    "pickle": lambda f: (f / WEIGHTS).write_bytes(b"\x80\x04\x95\x10" + b"a" * 100),
    "nothing in it": lambda f: (f / WEIGHTS).write_bytes(save({})),
    "no config": lambda f: (f / CONFIG).unlink(),
    "config is a list": lambda f: (f / CONFIG).write_text("[1]"),
    "config is not JSON": lambda f: (f / CONFIG).write_text("{"),
    "config is not text": lambda f: (f / CONFIG).write_bytes(b"\xff\xfe\x00"),
    "without r": lambda f: change(f, r=None),
    "r is a text": lambda f: change(f, r="16"),
    "r is zero": lambda f: change(f, r=0),
    "alpha is infinite": lambda f: change(f, lora_alpha=float("inf")),
    "another rank": lambda f: change(f, r=8),
    "targets is not a list": lambda f: change(f, target_modules="all"),
    "another target": lambda f: change(f, target_modules=["v_proj"]),
    "DoRA": lambda f: change(f, use_dora=True),
    "wrong type": lambda f: put(f, A=np.ones((16, 576), np.int32)),
    "not finite": lambda f: put(f, A=np.full((16, 576), np.nan, np.float32)),
    "one dimension": lambda f: put(f, A=np.ones(16, np.float32)),
    "half a pair": lambda f: put(f, A=None),
    "wrong width": lambda f: put(f, A=np.ones((16, 5), np.float32)),
    "no such layer": lambda f: (f / WEIGHTS).write_bytes(
        save({NAME.format(h).replace("0", "99"): np.ones((16, 16), np.float32) for h in "AB"})
    ),
    "no such module": lambda f: (f / WEIGHTS).write_bytes(
        save({NAME.format(h).replace("q_proj", "x"): np.ones((16, 16), np.float32) for h in "AB"})
    ),
}


def change(folder: Path, **values: Any) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | values))


def put(folder: Path, **halves: Any) -> None:
    (folder / WEIGHTS).write_bytes(tensors(**{NAME.format(k): v for k, v in halves.items()}))


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    shutil.copy(trained_adapter() / CONFIG, folder)
    change(folder, r=RANK)
    (folder / WEIGHTS).write_bytes(tensors())
    return folder


def test_the_adapter_that_is_damaged_below_is_whole_at_first(adapter: Path) -> None:
    assert list(read_adapter(adapter).matrices) == ["model.layers.0.self_attn.q_proj"]


@pytest.mark.parametrize("runtime", ["llama.cpp", "transformers"])
@pytest.mark.parametrize("damage", ADAPTERS)
def test_a_damaged_adapter_is_one_line(adapter: Path, damage: str, runtime: str) -> None:
    ADAPTERS[damage](adapter)
    with pytest.raises(ChaosOpsError) as caught:
        load_policy(f"local:smollm2+adapter={adapter}+runtime={runtime}")
    assert "\n" not in str(caught.value)
    assert str(adapter) in str(caught.value) or "the adapter changes" in str(caught.value)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("converted") / "adapter.gguf"
    convert(trained_adapter(), weights.embedded_gguf(), made)
    return made


@pytest.mark.parametrize("damage", ["empty", "half", "magic", "count", "pickle", "adapter"])
@pytest.mark.parametrize("where", ["base", "adapter"])
def test_a_damaged_gguf_file_is_one_line(
    converted: Path, tmp_path: Path, damage: str, where: str
) -> None:
    whole = converted.read_bytes()
    content = {
        "empty": b"",
        "half": whole[: len(whole) // 2],
        "magic": b"XXXX" + whole[4:],
        "count": whole[:8] + struct.pack("<Q", 1 << 60) + whole[16:],
        "pickle": b"\x80\x04\x95\x10" + b"a" * 100,
        "adapter": whole if where == "base" else b"GGUF",
    }[damage]
    path = tmp_path / "damaged.gguf"
    path.write_bytes(content)
    text = str(path) if where == "base" else f"local:smollm2+adapter={path}"
    with pytest.raises(ChaosOpsError, match=r"damaged\.gguf") as caught:
        load_policy(text)
    assert "\n" not in str(caught.value)
