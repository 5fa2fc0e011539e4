"""llama.cpp in process: GGUF weights without torch.

The library always starts a web server. Templates and tokens are available only through it. It
listens on a unix socket in a folder of this user and asks for a random key, so no browser and no
other user can reach it.

Flash attention is off. Without it, a quantised model computes the same bits whatever its cache and
its batch hold, so an episode never depends on other episodes. An adapter is not quantised: a token
that is computed alone gets other bits than one in a batch. So a prompt that was asked before, of
which all but the last token would be in the cache, is computed anew.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import secrets
import shutil
import socket
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.digests import sha256_of, shortened
from chaosops.policies.llm.lora_gguf import convert
from chaosops.policies.llm.runtime import MESSAGE_TOKENS, Ask, require_room

_SLOTS = 8  # conversations kept in memory: prompts of a role begin alike
_SLOT_TOKENS = 4096
_FAVOUR = 100.0  # a bias that lifts the candidates above every other token
_LEAST = 1e-45
_ONE_LINE = r'root ::= [^"\\\x00-\x1f\x7f]+'


class LlamaCppRuntime:
    # One prompt after the other: on a CPU a batch is no faster, and each prompt is still in the
    # cache while its reply is chosen.
    batch = 1

    def __init__(
        self, gguf: Path, adapter: Path | None, identity: Mapping[str, Any], threads: int
    ) -> None:
        try:
            import xllamacpp
        except ModuleNotFoundError:
            raise MissingExtra("running GGUF weights", "xllamacpp", "local") from None
        except ImportError as error:  # it is installed, but a system library is missing
            raise BadInput(f"xllamacpp cannot be loaded: {error}") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(gguf)
        params.n_parallel = _SLOTS
        params.n_ctx = _SLOTS * _SLOT_TOKENS
        params.kv_unified = False
        params.cache_ram_mib = 0  # the slots are enough, and memory use stays constant
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.warmup = False
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.cors_origins = ""
        self._key = secrets.token_urlsafe(32)
        params.api_keys = [self._key]
        folder = tempfile.mkdtemp(prefix="chaosops-", dir=_short_folder())
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        params.hostnames = [f"{folder}/llama.sock"]
        params.verbosity = -1
        self._status = {**identity, "backend": f"llama.cpp (xllamacpp {version('xllamacpp')})"}
        if adapter is not None:
            if adapter.suffix != ".gguf":
                made = Path(folder) / "adapter.gguf"
                convert(adapter, gguf, made)
                adapter = made
                self._status["adapter_gguf"] = shortened(sha256_of(adapter))
            lora = xllamacpp.CommonAdapterLoraInfo()
            lora.path, lora.scale = str(adapter), 1.0
            params.lora_adapters = [lora]
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:
            beside = "" if adapter is None else f" with {identity['adapter']} ({adapter})"
            raise BadInput(f"llama.cpp cannot load {gguf}{beside}: {error}") from None
        self.end = self._control_token("eos_token")
        self._asked: set[int] | None = None if adapter is None else set()

    def status(self) -> Mapping[str, Any]:
        return self._status

    def tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self._post("/tokenize", {"content": text, "parse_special": False})["tokens"])

    def open(self, chats: Sequence[Chat]) -> _Session:
        prompts = []
        for chat in chats:
            text = self._post("/apply-template", {"messages": [dict(m) for m in chat]})["prompt"]
            prompts.append(self._post("/tokenize", {"content": text, "parse_special": True}))
        session = _Session(self._server, [prompt["tokens"] for prompt in prompts], self._asked)
        require_room(session.lengths, _SLOT_TOKENS)
        return session

    def _control_token(self, name: str) -> int:
        text = self._post("/props", None)[name]
        (token,) = self._post("/tokenize", {"content": text, "parse_special": True})["tokens"]
        return int(token)

    def _post(self, path: str, body: Mapping[str, Any] | None) -> Any:
        """Ask the server over its socket."""
        connection = _UnixConnection(self._server.listening_address.removeprefix("unix://"))
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
            connection.request(method, path, data, head)
            return _checked(json.load(connection.getresponse()))
        finally:
            connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _Session:
    def __init__(self, server: Any, prompts: list[list[int]], asked: set[int] | None) -> None:
        """``asked``: hashes of whole prompts that must not come from the cache again."""
        self._server = server
        self._asked = asked
        self._prompts = prompts
        self.lengths = [len(prompt) for prompt in prompts]

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        return [self._rate(ask) for ask in asks]

    def _rate(self, ask: Ask) -> list[float]:
        choice = self._complete(
            ask.row,
            ask.written,
            n_predict=1,
            n_probs=len(ask.candidates),
            post_sampling_probs=True,
            logit_bias=[[token, _FAVOUR] for token in ask.candidates],
            samplers=["temperature"],
            temperature=1.0,
        )
        found = {top["id"]: top["prob"] for top in choice["logprobs"]["content"][0]["top_probs"]}
        return [math.log(max(found.get(token, 0.0), _LEAST)) for token in ask.candidates]

    def write(self, row: int, written: tuple[int, ...]) -> str:
        text: str = self._complete(
            row, written, n_predict=MESSAGE_TOKENS, temperature=0.0, grammar=_ONE_LINE, stop=['"']
        )["text"]
        return text.strip()

    def _complete(self, row: int, written: tuple[int, ...], **options: Any) -> Any:
        prompt = [*self._prompts[row], *written]
        kept = bool(written) or self._is_new(prompt)
        question = {"prompt": prompt, "seed": 0, "cache_prompt": kept, **options}
        return _checked(self._server.handle_completions(question))["choices"][0]

    def _is_new(self, prompt: list[int]) -> bool:
        if self._asked is None:
            return True
        key = hash(tuple(prompt))
        if key in self._asked:
            return False
        self._asked.add(key)
        return True


def _checked(answer: Any) -> Any:
    if "error" in answer:
        raise BadInput(f"llama.cpp: {answer['error'].get('message', answer['error'])}")
    return answer


def _short_folder() -> str | None:
    """The path of a unix socket has room for about a hundred bytes."""
    usual = tempfile.gettempdir()
    return None if len(os.fsencode(usual)) < 70 else "/tmp"
