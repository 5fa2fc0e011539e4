"""A LoRA adapter as PEFT saves it: a folder with a configuration and weights.

An adapter's identity covers both files, because the configuration scales the weights. Where a
configuration was corrected after an evaluation, for example because it named the base by a folder,
``former_configs.json`` keeps the hash of the former one: so the evaluation is still known to be of
these weights. What else differed between the two is not checked: it is a claim of whoever ships
the adapter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.inputs import read_bytes, read_object
from chaosops.core.printable import short
from chaosops.policies.llm.digests import joint_digest, joint_hash, sha256_of, shortened

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
FORMER = "former_configs.json"
_DTYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
# PEFT settings that change the meaning of the weights. llama.cpp supports none of them.
_PLAIN: dict[str, tuple[object, ...]] = {
    "use_dora": (None, False),
    "rank_pattern": (None, {}),
    "alpha_pattern": (None, {}),
    "modules_to_save": (None, []),
    "bias": (None, "none"),
    "fan_in_fan_out": (None, False),
    "layers_to_transform": (None,),
    "layers_pattern": (None, []),
    "exclude_modules": (None, []),
    "target_parameters": (None, []),
    "trainable_token_indices": (None,),
}

Matrix = npt.NDArray[np.float32]


def adapter_files(adapter: Path) -> list[Path]:
    """Both files of a folder, or a GGUF file."""
    return [adapter] if adapter.suffix == ".gguf" else [adapter / WEIGHTS, adapter / CONFIG]


def require_adapter(adapter: Path) -> None:
    for wanted in adapter_files(adapter):
        if not wanted.is_file():
            raise BadInput(
                f"no adapter: {wanted} does not exist; name a folder with {WEIGHTS} and {CONFIG} "
                "as PEFT saves it, or a GGUF file"
            )


def adapter_identity(adapter: Path) -> str:
    files = adapter_files(adapter)
    return shortened(joint_hash(files) if len(files) > 1 else sha256_of(adapter))


def adapter_identities(adapter: Path) -> list[str]:
    """The identity, and those of the same weights with former configurations."""
    former = adapter / FORMER
    if not former.is_file():
        return [adapter_identity(adapter)]
    weights = sha256_of(adapter / WEIGHTS)
    configs = read_object(former, "former configs")
    earlier = [shortened(joint_digest({CONFIG: sha, WEIGHTS: weights})) for sha in configs]
    return [adapter_identity(adapter), *earlier]


@dataclass(frozen=True)
class Adapter:
    """``matrices``: by module (``model.layers.3.mlp.up_proj``), the pair (A, B)."""

    rank: int
    scale: float
    matrices: Mapping[str, tuple[Matrix, Matrix]]

    def require_fit(self, folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """``shapes``: (out, in) of the model's modules."""
        for module, (a, b) in self.matrices.items():
            wanted, found = shapes.get(module), (b.shape[0], a.shape[1])
            if wanted != found:
                raise BadInput(
                    f"adapter {folder} does not fit the model: {short(module, 80)} is {found}, "
                    + ("which the model does not have" if wanted is None else f"not {wanted}")
                )


def read_adapter(folder: Path) -> Adapter:
    rank, scale, targets = _read_config(folder / CONFIG)
    matrices = _pairs(folder / WEIGHTS, rank)
    # PEFT ignores weights of other modules; llama.cpp would use them.
    for module in matrices:
        if not any(f".{module}".endswith(f".{name}") for name in targets):
            raise BadInput(f"{folder / CONFIG}: target_modules does not name {short(module, 80)}")
    return Adapter(rank, scale, matrices)


def _read_config(path: Path) -> tuple[int, float, list[str]]:
    """(rank, factor of the product of the matrices, changed modules)."""
    config = read_object(path, "adapter config")
    if config.get("peft_type") != "LORA":
        raise BadInput(f"{path} is not an adapter config of PEFT with peft_type LORA")
    rank: Any = config.get("r")
    alpha: Any = config.get("lora_alpha")
    if type(rank) is not int or not 1 <= rank <= 4096:
        raise BadInput(f"{path}: r must be a whole number from 1 to 4096, got {short(rank, 40)}")
    if type(alpha) not in (int, float):
        raise BadInput(f"{path}: lora_alpha must be a number, got {short(alpha, 40)}")
    for name, plain in _PLAIN.items():
        if config.get(name) not in plain:
            raise BadInput(f"{path}: {name} = {short(config[name], 40)} is not supported")
    root = config.get("use_rslora", False)
    if type(root) is not bool:
        raise BadInput(f"{path}: use_rslora must be true or false, got {short(root, 40)}")
    targets: Any = config.get("target_modules")
    if not isinstance(targets, list) or not all(isinstance(name, str) for name in targets):
        raise BadInput(f"{path}: target_modules must be a list of names, got {short(targets, 40)}")
    return rank, alpha / (math.sqrt(rank) if root else rank), targets


def _pairs(path: Path, rank: int) -> dict[str, tuple[Matrix, Matrix]]:
    halves: dict[str, dict[str, Matrix]] = {}
    for name, matrix in _matrices(path):
        module, _, half = name.removesuffix(".weight").rpartition(".")
        if half not in ("lora_A", "lora_B"):
            raise BadInput(f"{path}: {short(name, 80)} is not a half of a LoRA pair")
        halves.setdefault(module.removeprefix("base_model.model."), {})[half] = matrix
    if not halves:
        raise BadInput(f"{path} holds no weights")
    pairs = {}
    for module, found in sorted(halves.items()):
        if len(found) < 2:
            raise BadInput(f"{path}: {module} has only one half of its LoRA pair")
        a, b = found["lora_A"], found["lora_B"]
        if a.shape[0] != rank or b.shape[1] != rank:
            raise BadInput(
                f"{path}: {module} has shapes {a.shape} and {b.shape}, which are not of rank "
                f"{rank} as {CONFIG} says"
            )
        pairs[module] = (a, b)
    return pairs


def _matrices(path: Path) -> Iterator[tuple[str, Matrix]]:
    try:
        import safetensors
    except ImportError:
        raise MissingExtra("reading an adapter", "safetensors", "local") from None
    read: Any = safetensors.deserialize
    try:
        found = read(read_bytes(path, "adapter"))
    except safetensors.SafetensorError as error:
        raise BadInput(f"{path} is not a safetensors file: {str(error)[:80]}") from None
    for name, tensor in found:
        yield name, _floats(path, name, tensor)


def _floats(path: Path, name: str, tensor: Mapping[str, Any]) -> Matrix:
    kind, shape = tensor["dtype"], tensor["shape"]
    if kind not in _DTYPES or len(shape) != 2 or 0 in shape:
        raise BadInput(
            f"{path}: {short(name, 80)} is of type {kind} and shape {shape}; expected a matrix of "
            f"{', '.join(_DTYPES)}"
        )
    numbers = np.frombuffer(tensor["data"], dtype=_DTYPES[kind])
    if kind == "BF16":  # the upper half of a float32
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    matrix = numbers.astype(np.float32).reshape(shape)
    if not np.isfinite(matrix).all():
        raise BadInput(f"{path}: {short(name, 80)} holds numbers that are not finite")
    return matrix
