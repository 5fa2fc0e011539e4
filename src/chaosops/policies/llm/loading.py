"""Makes a policy from a model's specification, or an error that says what is missing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.inputs import expanded
from chaosops.policies.belief import Thresholds
from chaosops.policies.llm.adapter import adapter_files, adapter_identity, require_adapter
from chaosops.policies.llm.calibration import read_calibration
from chaosops.policies.llm.digests import files_of, model_hash, shortened, unchanged
from chaosops.policies.llm.formats import load_format
from chaosops.policies.llm.policy import LocalModelPolicy
from chaosops.policies.llm.runtime import Runtime
from chaosops.policies.llm.spec import ModelSpec, read_spec, require_hub_name
from chaosops.policies.llm.threads import thread_count
from chaosops.policies.llm.thresholds import read_thresholds
from chaosops.policies.llm.trained_on import read_trained_on
from chaosops.policies.llm.weights import (
    embedded_dense,
    embedded_gguf,
    embedded_revision,
    require_local,
    require_self_contained,
)
from chaosops.policies.protocol import Policy

RUNTIMES = ("llama.cpp", "transformers")
DTYPES = ("float32", "bfloat16")


def load_model_policy(text: str) -> Policy:
    spec = read_spec(text)
    if spec.kind == "openai":
        from chaosops.policies.llm.endpoint import EndpointPolicy

        return EndpointPolicy(spec)
    reply_format = load_format(spec.options.get("format", "json"))
    adapter = _adapter(spec)
    return LocalModelPolicy(
        spec.text,
        _runtime(spec),
        reply_format,
        spec.number("temperature", 0.0),
        read_trained_on(adapter),
        read_calibration(adapter),
        _thresholds(spec, adapter),
    )


def _thresholds(spec: ModelSpec, adapter: Path | None) -> Thresholds | None:
    """Those of the adapter's folder, unless the specification names others."""
    own = read_thresholds(adapter)
    given = {name for name in Thresholds._fields if name in spec.options}
    if not given:
        return own
    # Without an audit's threshold no audit is forced.
    known = own or Thresholds(flag_at=1.0, audit_at=1.0)
    found = Thresholds(*(spec.share(name, getattr(known, name)) for name in Thresholds._fields))
    if found.sure_at and found.sure_at <= found.flag_at and "sure_at" in given:
        raise BadInput(
            f"+sure_at={found.sure_at:g} has no effect, because an agent is flagged from "
            f"{found.flag_at:g} on at the earliest; name a smaller +flag_at too"
        )
    return found


def _runtime(spec: ModelSpec) -> Runtime:
    """Hash the files and load them. No file may change in between."""
    small = spec.kind == "local" or spec.model.endswith(".gguf")
    runtime = spec.options.get("runtime", "llama.cpp" if small else "transformers")
    if runtime not in RUNTIMES:
        raise UnknownName("runtime", runtime, RUNTIMES)
    spec.require_options_of(runtime)
    adapter = _adapter(spec)
    batch = int(spec.number("batch", 16, least=1))
    dtype = spec.options.get("dtype")
    if dtype is not None and dtype not in DTYPES:
        raise UnknownName("dtype", dtype, DTYPES)
    compiles = spec.flag("compile")
    threads = int(spec.number("threads", 0, least=1))
    base = _base(spec.kind, spec.model, runtime)
    files = [*(files_of(base) if base else []), *(adapter_files(adapter) if adapter else [])]
    with unchanged(*files):
        identity = {
            "model": spec.model,
            "revision": embedded_revision(base) if spec.kind == "local" and base else None,
            "weights": base and shortened(model_hash(base)),
            "adapter": adapter and f"{adapter.name} {adapter_identity(adapter)}",
        }
        where = spec.model if base is None else str(base)
        of = tuple(identity.items())
        return _loaded(where, adapter, runtime, batch, dtype, compiles, threads, of)


def _adapter(spec: ModelSpec) -> Path | None:
    text = spec.options.get("adapter")
    if text is None:
        return None
    path = expanded(text)
    require_adapter(path)
    return path


def _base(kind: str, model: str, runtime: str) -> Path | None:
    """The file or folder on this machine that is loaded; None for a name on a hub."""
    if kind == "local":
        require_local(model)
        return embedded_gguf() if runtime == "llama.cpp" else embedded_dense()
    if runtime == "llama.cpp" and not (kind == "path" and model.endswith(".gguf")):
        raise BadInput(f"llama.cpp reads .gguf files, not {model}; runtime=transformers")
    # transformers would ask the hub for a name that is no folder.
    wanted = Path(model) if model.endswith(".gguf") else Path(model, "config.json")
    if kind == "path" and not wanted.is_file():
        raise BadInput(
            f"no model: {wanted} does not exist; name a folder of a transformers model, a .gguf "
            "file, hf:OWNER/NAME or local:smollm2"
        )
    if kind == "hf":
        require_hub_name(model)
        return None
    require_self_contained(Path(model))
    return Path(model)


# A model that several teams of one evaluation name is loaded once. The identity is part of the
# key: a file with other content is another model.
@lru_cache(maxsize=4)
def _loaded(
    where: str,
    adapter: Path | None,
    runtime: str,
    batch: int,
    dtype: str | None,
    compiles: bool,
    threads: int,
    identity: tuple[tuple[str, str | None], ...],
) -> Runtime:
    if runtime == "llama.cpp":
        from chaosops.policies.llm.llama_cpp import LlamaCppRuntime

        return LlamaCppRuntime(Path(where), adapter, dict(identity), threads or thread_count())
    from chaosops.policies.llm.torch_runtime import TorchRuntime

    if adapter is not None and adapter.suffix == ".gguf":
        raise BadInput(f"transformers reads PEFT folders, not {adapter}; runtime=llama.cpp")
    return TorchRuntime(where, adapter, dict(identity), batch, dtype, compiles)
