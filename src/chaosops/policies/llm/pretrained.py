"""Loads transformers models and adapters, from a folder or from the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.adapter import read_adapter
from chaosops.policies.llm.digests import model_hash, shortened
from chaosops.policies.llm.spec import split_revision


def _commit(name: str, revision: str | None) -> str | None:
    """The commit of a branch, a tag or a short hash, from the hub or its cache."""
    from transformers.utils import cached_file, extract_commit_hash

    file = cached_file(name, "config.json", revision=revision or "main")
    found: str | None = extract_commit_hash(file, None)
    return found


def load_tokenizer(model: str) -> Any:
    """The tokenizer of a folder or a hub name, without the weights."""
    return _load(model)[0]


def load_pretrained(model: str, dtype: Any) -> tuple[Any, Any]:
    """(tokenizer, model) of a folder or a hub name, which may be pinned: ``NAME@REVISION``."""
    return _load(model, dtype)


def _load(model: str, dtype: Any = None) -> tuple[Any, Any]:
    """Without ``dtype`` no model is loaded."""
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("reading a model's tokenizer", str(error.name), "torch") from None

    logging.disable_progress_bar()
    is_here = Path(model).exists()
    name, revision = (model, None) if is_here else split_revision(model)
    try:
        # A branch may move while its files are read, so all are read at one commit.
        commit = None if is_here else _commit(name, revision)
        at = {"revision": commit or revision or "main"}
        tokenizer = AutoTokenizer.from_pretrained(name, **at)
        if dtype is None:
            return tokenizer, None
        loaded = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **at)
        loaded.config._commit_hash = commit
    # A folder may hold anything, and each library has exceptions of its own.
    except Exception as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if is_here:
            raise BadInput(f"{model} is not a model that transformers can load: {cause}") from None
        hub = os.environ.get("HF_HOME", "~/.cache/huggingface")
        raise BadInput(
            f"model {model} is neither in the hub's cache ({hub}) nor can it be fetched: {cause}; "
            f"with network: hf download {name}{f' --revision {revision}' if revision else ''}; "
            "without: copy its folder here and name the folder"
        ) from None
    return tokenizer, loaded


def snapshot_hash(model: str, commit: str) -> str | None:
    """The hash of the files of this commit in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(split_revision(model)[0], "config.json", revision=commit)
    return shortened(model_hash(Path(found).parent)) if isinstance(found, str) else None


def with_adapter(model: Any, adapter: Path) -> Any:
    try:
        from peft import PeftModel
    except ImportError:
        raise MissingExtra("loading a LoRA adapter", "peft", "torch") from None
    # PEFT ignores weights that do not fit the model.
    read_adapter(adapter).require_fit(
        adapter,
        {
            name: tuple(module.weight.shape)
            for name, module in model.named_modules()
            if hasattr(module, "weight") and module.weight.dim() == 2
        },
    )
    try:
        return PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except (OSError, ValueError, RuntimeError) as error:
        cause = str(error).strip().splitlines()[0]
        raise BadInput(f"adapter {adapter} does not fit the model: {cause}") from None
