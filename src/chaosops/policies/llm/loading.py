"""From what a user wrote to a policy that plays, or to an error that says what is missing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.policies.llm.formats import load_format
from chaosops.policies.llm.lora_gguf import WEIGHTS, adapter_gguf
from chaosops.policies.llm.policy import LocalModelPolicy
from chaosops.policies.llm.runtime import Runtime
from chaosops.policies.llm.spec import ModelSpec, read_spec
from chaosops.policies.llm.weights import (
    embedded_dense,
    embedded_gguf,
    embedded_revision,
    require_local,
    short_hash,
)
from chaosops.policies.protocol import Policy

RUNTIMES = ("llama.cpp", "transformers")


def load_model_policy(text: str) -> Policy:
    spec = read_spec(text)
    if spec.kind == "openai":
        from chaosops.policies.llm.endpoint import EndpointPolicy

        return EndpointPolicy(spec)
    reply_format = load_format(spec.options.get("format", "json"))
    runtime = _runtime(spec)
    return LocalModelPolicy(spec.text, runtime, reply_format, spec.number("temperature", 0.0))


def _runtime(spec: ModelSpec) -> Runtime:
    kind = spec.options.get("runtime") or _usual_runtime(spec)
    if kind not in RUNTIMES:
        raise UnknownName("runtime", kind, RUNTIMES)
    adapter = _adapter(spec)
    batch = int(spec.number("batch", 16, least=1))
    return _load(spec.kind, spec.model, adapter, kind, batch)


def _usual_runtime(spec: ModelSpec) -> str:
    """The embedded model and GGUF files run on llama.cpp, folders and hub names on torch."""
    small = spec.kind == "local" or spec.model.endswith(".gguf")
    return "llama.cpp" if small else "transformers"


def _adapter(spec: ModelSpec) -> Path | None:
    text = spec.options.get("adapter")
    if text is None:
        return None
    path = Path(text).expanduser()
    wanted = path if path.suffix == ".gguf" else path / WEIGHTS
    if not wanted.is_file():
        raise BadInput(
            f"no adapter: {wanted} does not exist; adapter= takes a folder with {WEIGHTS} and "
            "adapter_config.json as PEFT saves it, or a GGUF file"
        )
    return path


# A model that several teams of one evaluation name is loaded once.
@lru_cache(maxsize=4)
def _load(kind: str, model: str, adapter: Path | None, runtime: str, batch: int) -> Runtime:
    identity: dict[str, Any] = {"model": model, "revision": None, "adapter": None}
    if adapter is not None:
        file = adapter if adapter.suffix == ".gguf" else adapter / WEIGHTS
        identity["adapter"] = f"{adapter.name} {short_hash(file)}"
    if kind == "local":
        require_local(model)
        identity["revision"] = embedded_revision()
    elif kind == "path" and not Path(model).exists():
        raise BadInput(
            f"no model: {model} does not exist; name a folder of a transformers model, a .gguf "
            "file, hf:OWNER/NAME or local:smollm2"
        )
    if runtime == "llama.cpp":
        from chaosops.policies.llm.llama_cpp import LlamaCppRuntime

        gguf = embedded_gguf() if kind == "local" else Path(model)
        if kind == "path":
            if gguf.suffix != ".gguf":
                raise BadInput(f"llama.cpp reads .gguf files, not {model}; runtime=transformers")
            identity["revision"] = short_hash(gguf)
        return LlamaCppRuntime(gguf, adapter and adapter_gguf(adapter, gguf), identity)
    from chaosops.policies.llm.torch_runtime import TorchRuntime

    if adapter is not None and adapter.suffix == ".gguf":
        raise BadInput(f"transformers reads PEFT folders, not {adapter}; runtime=llama.cpp")
    where = str(embedded_dense()) if kind == "local" else model
    return TorchRuntime(where, adapter, identity, batch)
