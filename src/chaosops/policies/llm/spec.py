"""How a model is named: ``KIND:MODEL+option=value+option=value``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.importing import read_name
from chaosops.core.inputs import expanded
from chaosops.core.printable import one_line
from chaosops.trained import BASE, FORMAT, trained_adapter

TRAINED = "trained"
KINDS = ("local", "hf", "openai")
OPTIONS = {
    "adapter": "a LoRA adapter: a PEFT folder, or a GGUF file for llama.cpp",
    "format": "json or menu: what a reply looks like",
    "runtime": "llama.cpp or transformers: what computes a local model",
    "temperature": "0 takes the likeliest reply (the default)",
    "flag_at": "Oversight flags an agent from this belief on, 0 to 1, and never below it",
    "audit_at": "Oversight audits an agent from this belief on, 0 to 1, before it flags",
    "sure_at": "Oversight flags an agent that it has not audited only from this belief on",
    "batch": "prompts that transformers reads together (default: 16; on a GPU hundreds)",
    "dtype": "float32 or bfloat16: what transformers computes in (default: bfloat16 on a GPU)",
    "compile": "true compiles a transformers model for a GPU: worth it for thousands of episodes",
    "threads": "threads of llama.cpp (default: the cores that are free at the start)",
    "timeout": "seconds an endpoint may take to answer",
    "patience": "seconds an endpoint may fail before the run gives up",
    "concurrency": "most requests sent to an endpoint at once (default: 64)",
    "price": "US dollars per million tokens, read/written, such as 0.15/0.60",
    "max_tokens": "longest reply of an endpoint, reasoning included (default: 500; of a menu 8)",
    "extra": "a JSON object of further fields for each request to an endpoint",
    "prompt": "a text file with a system prompt of your own for an endpoint",
}
_LOCAL = ("adapter", "format", "runtime", "temperature", "flag_at", "audit_at", "sure_at")
OPTIONS_OF = {
    "llama.cpp": (*_LOCAL, "threads"),
    "transformers": (*_LOCAL, "batch", "dtype", "compile"),
    "an endpoint": (
        *("format", "temperature", "timeout", "patience", "concurrency", "price"),
        *("max_tokens", "extra", "prompt"),
    ),
}
_OPTION = re.compile(rf"\+({'|'.join(OPTIONS)})=")


@dataclass(frozen=True)
class ModelSpec:
    """``kind`` is local (the embedded model), hf (a hub name), path, or openai (an endpoint)."""

    text: str
    kind: str
    model: str
    url: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return without_password(self.text)

    def require_options_of(self, backend: str) -> None:
        """Refuse an option that this backend would ignore."""
        known = OPTIONS_OF[backend]
        if foreign := [option for option in self.options if option not in known]:
            raise BadInput(
                f"{backend} has no option {foreign[0]}, got {self.shown!r}; "
                f"its options are {', '.join(known)}"
            )

    def number(self, option: str, default: float, least: float = 0.0) -> float:
        text = self.options.get(option)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = least - 1
        if not least <= value < float("inf"):
            raise BadInput(f"{option}={text} in {self.shown!r}: expected a number from {least:g}")
        return value

    def share(self, option: str, default: float) -> float:
        value = self.number(option, default)
        if value > 1:
            raise BadInput(f"{option}={value:g} in {self.shown!r}: expected a number from 0 to 1")
        return value

    def flag(self, option: str) -> bool:
        text = self.options.get(option, "false")
        if text not in ("true", "false"):
            raise BadInput(f"{option}={text} in {self.shown!r}: expected true or false")
        return text == "true"


_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
_REVISION = re.compile(r"[\w./-]+", re.ASCII)


def split_revision(text: str) -> tuple[str, str | None]:
    """A hub name and the revision it is pinned to: a branch, a tag or a commit.

    >>> split_revision("Qwen/Qwen3-4B@1cfa9a7"), split_revision("Qwen/Qwen3-4B")
    (('Qwen/Qwen3-4B', '1cfa9a7'), ('Qwen/Qwen3-4B', None))
    """
    name, at, revision = text.partition("@")
    if not _HUB_NAME.fullmatch(name) or (at and not _REVISION.fullmatch(revision)):
        raise BadInput(
            f"{one_line(text)!r} is not a name of the hub and not a folder here: write "
            "hf:OWNER/NAME, hf:OWNER/NAME@REVISION or a folder"
        )
    return name, revision or None


def require_hub_name(text: str) -> None:
    """Refuse a hub name that is also a folder here: transformers would load the folder."""
    name, _ = split_revision(text)
    if Path(name).exists():
        raise BadInput(
            f"hf:{name} is a folder here and would be loaded instead of the hub's model; "
            f"write ./{name} if you mean the folder, or start elsewhere"
        )


def without_password(text: str) -> str:
    """An address as it may be printed.

    >>> without_password("openai:m@http://me:secret@127.0.0.1/v1")
    'openai:m@http://***@127.0.0.1/v1'
    """
    return re.sub(r"//[^/@]*@", "//***@", text)


def is_own(text: str) -> bool:
    """Does a name lead to code of a user's own?

    >>> is_own("lab.monitors:careful"), is_own("lab/monitors.py:careful"), is_own("local:smollm2")
    (True, True, False)
    """
    return text.partition(":")[0] not in KINDS and read_name(text) is not None


def is_model(text: str) -> bool:
    """
    >>> is_model("local:smollm2"), is_model("heuristic"), is_model("./adapter-of-mine")
    (True, False, True)
    >>> is_model("trained"), is_model("trained+runtime=transformers")
    (True, True)
    """
    head = _OPTION.split(text, maxsplit=1)[0]
    if head.partition("+")[0] == TRAINED:
        return True
    if is_own(text):
        return False
    return head.partition(":")[0] in KINDS or "/" in head or head.endswith(".gguf")


def read_spec(text: str) -> ModelSpec:
    """
    >>> read_spec("local:smollm2+format=menu").options
    {'format': 'menu'}
    >>> read_spec("openai:gpt-x@http://127.0.0.1:8080/v1").url
    'http://127.0.0.1:8080/v1'
    """
    shown = without_password(text)
    head, *rest = _OPTION.split(text)
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    if len(options) * 2 != len(rest):
        raise BadInput(f"an option occurs twice in {shown!r}; write it once")
    unknown = re.search(r"\+([a-z_]+)=", head + "".join(f" {v}" for v in options.values()))
    if unknown:
        raise UnknownName("option", unknown[1], OPTIONS)
    if empty := [name for name, value in options.items() if not value]:
        raise BadInput(f"option {empty[0]} in {shown!r} is empty: {OPTIONS[empty[0]]}")
    if head == TRAINED:
        if fixed := sorted({"adapter", "format"} & set(options)):
            raise BadInput(f"{fixed[0]} of {TRAINED!r} is its own; write local:{BASE}+{fixed[0]}=…")
        own = {"adapter": str(trained_adapter()), "format": FORMAT}
        return ModelSpec(text, "local", BASE, options=own | options)
    kind, _, model = head.partition(":")
    if kind not in KINDS:
        return ModelSpec(text, "path", str(expanded(head)), options=options)
    url = ""
    if kind == "openai":
        model, _, url = model.partition("@")
        if not url.startswith(("http://", "https://")):
            raise BadInput(
                f"{shown!r} names no endpoint; write openai:MODEL@URL, "
                "such as openai:my-model@http://127.0.0.1:8080/v1"
            )
    if not model:
        raise BadInput(f"{shown!r} names no model")
    if kind == "hf":
        split_revision(model)
    return ModelSpec(text, kind, model, url, options)


def read_price(text: str | None) -> tuple[float, float] | None:
    """
    >>> read_price("0.15/0.60")
    (0.15, 0.6)
    """
    if text is None:
        return None
    number = r"(\d+(?:\.\d*)?|\.\d+)"
    match = re.fullmatch(f"{number}/{number}", text, re.ASCII)
    if not match:
        raise BadInput(
            f"price={text}: expected US dollars per million tokens, read/written, such as 0.15/0.60"
        )
    return float(match[1]), float(match[2])
