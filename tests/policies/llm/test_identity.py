"""What is loaded is what the status names: hashes are taken, and nobody reaches in."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm import weights
from chaosops.policies.llm.adapter import (
    CONFIG,
    FORMER,
    WEIGHTS,
    adapter_identities,
    adapter_identity,
)
from chaosops.policies.llm.digests import sha256_of, unchanged
from chaosops.policies.llm.lora_gguf import convert
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.trained import trained_adapter


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own that holds the embedded model's real file."""
    folder = tmp_path / "home"
    folder.mkdir()
    gguf = weights.embedded_gguf()
    (folder / gguf.name).symlink_to(gguf)
    monkeypatch.setenv("CHAOSOPS_HOME", str(folder))
    return folder


# An adapter whose configuration was corrected


def test_an_evaluation_before_a_correction_is_of_the_same_weights(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    for name in (WEIGHTS, CONFIG):
        shutil.copyfile(trained_adapter() / name, adapter / name)
    config = json.loads((adapter / CONFIG).read_text())
    (adapter / CONFIG).write_text(json.dumps({**config, "base_model_name_or_path": "/a/folder"}))
    before, former = adapter_identity(adapter), sha256_of(adapter / CONFIG)
    assert adapter_identities(adapter) == [before]
    (adapter / CONFIG).write_text(json.dumps(config))
    assert adapter_identities(adapter) == [now := adapter_identity(adapter)] != [before]
    (adapter / FORMER).write_text(json.dumps({former: "named a folder"}))
    assert adapter_identities(adapter) == [now, before]
    # Other weights were never evaluated under that name.
    with (adapter / WEIGHTS).open("ab") as file:
        file.write(b" ")
    assert before not in adapter_identities(adapter)


# Nobody reaches into a running model


def listening_ports() -> set[str]:
    """Inodes of TCP sockets that this process listens on."""
    mine = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            mine.add(os.readlink(f"/proc/self/fd/{entry}"))
        except OSError:
            continue
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in mine:
                found.add(words[1])
    return found


class Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def ask(path: str, method: str, route: str, body: Any, **headers: str) -> int:
    connection = Unix(path)
    connection.request(method, route, json.dumps(body), headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_model_listens_on_no_port_and_its_adapter_cannot_be_exchanged() -> None:
    before = listening_ports()
    policy = load_policy("trained")
    assert listening_ports() == before
    place = policy.runtime._server.listening_address.removeprefix("unix://")  # type: ignore[attr-defined]
    assert Path(place).parent.stat().st_mode & 0o077 == 0

    env = Env(make_scenario("autoscaler_cost_cut", tier="hard", seed=4_242))
    seats = [DecisionRequest(env.view, 0)]
    expected = policy.decide(seats)
    off = [{"id": 0, "scale": -1}]
    for key in ({}, {"Authorization": "Bearer no"}, {"Origin": "http://evil.example"}):
        assert ask(place, "POST", "/lora-adapters", off, **key) == 401
        assert ask(place, "POST", "/completion", {"prompt": "x"}, **key) == 401
    assert policy.decide(seats) == expected


# Hashes are of what is there


def test_a_damaged_base_is_refused_by_its_hash(home: Path) -> None:
    path = home / weights.embedded_gguf().name
    raw = bytearray(path.read_bytes())
    raw[50_000_000:52_000_000] = raw[50_000_000:52_000_000][::-1]
    stamp = path.stat()
    path.unlink()
    path.write_bytes(raw)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with pytest.raises(BadInput, match=r"is damaged: its hash is .* fetch it again with"):
        load_policy("trained")


def test_a_hash_is_taken_again_when_the_content_changes_but_its_time_does_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first, stamp = sha256_of(path), path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert sha256_of(path) != first


def test_a_file_exchanged_while_it_is_loaded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    with pytest.raises(BadInput, match="was changed while it was loaded"), unchanged(path):
        path.write_bytes(b"two")


def copy_of_trained(folder: Path, **changes: Any) -> Path:
    shutil.copytree(trained_adapter(), folder)
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | changes))
    return folder


def test_an_adapter_with_another_scale_is_another_adapter(tmp_path: Path) -> None:
    same = copy_of_trained(tmp_path / "same")
    other = copy_of_trained(tmp_path / "other", lora_alpha=-7)
    assert adapter_identity(same) != adapter_identity(other)
    files = [tmp_path / name for name in ("one.gguf", "again.gguf", "other.gguf")]
    for adapter, file in zip((same, same, other), files, strict=True):
        convert(adapter, weights.embedded_gguf(), file)
    one, again, third = map(sha256_of, files)
    assert one == again  # nothing is kept between runs: a conversion is always the same
    assert one != third


def test_a_base_exchanged_while_its_adapter_is_converted_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchange(adapter: Path, base: Path, out: Path) -> None:
        convert(adapter, base, out)
        raw = base.read_bytes()
        base.unlink()
        base.write_bytes(raw)

    monkeypatch.setattr("chaosops.policies.llm.llama_cpp.convert", exchange)
    with pytest.raises(BadInput, match="was changed while it was loaded"):
        load_policy("trained+threads=1")  # with threads of its own it is not served from memory


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"adapter_config.json": "{}"}, "holds an adapter"),
        ({"model.safetensors.index.json": '{"weight_map": {"a": "sub/w.safetensors"}}'}, "outside"),
        ({"model.safetensors.index.json": '{"weight_map": {"a": "../w.safetensors"}}'}, "outside"),
        ({"model.safetensors.index.json": "[]"}, "not an index of weights"),
    ],
)
def test_a_folder_that_loads_weights_from_elsewhere_is_refused(
    tmp_path: Path, content: dict[str, str], words: str
) -> None:
    for name, text in {"config.json": "{}", **content}.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=words):
        load_policy(str(tmp_path))


def test_a_part_of_a_gguf_file_is_refused(tmp_path: Path) -> None:
    part = tmp_path / "m-00001-of-00002.gguf"
    part.write_bytes(b"GGUF")
    with pytest.raises(BadInput, match="one part of several"):
        load_policy(str(part))


def test_a_folder_with_the_name_of_a_hub_model_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "owner/name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"write \./owner/name if you mean the folder"):
        load_policy("hf:owner/name")


def test_an_unpacked_copy_is_called_by_the_published_hash_only_if_it_is_the_known_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another(gguf: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"other weights")

    monkeypatch.setattr(weights, "densify", another)
    assert "sha256" not in weights.embedded_revision(weights.embedded_dense())
    assert "sha256:b179c9523d0e" in weights.embedded_revision(weights.embedded_gguf())


def test_a_damaged_dense_copy_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def small(gguf: Path, folder: Path) -> None:
        made.append(folder)
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(weights, "densify", small)
    folder = weights.embedded_dense()
    assert weights.embedded_dense() == folder
    assert len(made) == 1
    (folder / "model.safetensors").write_bytes(b"WEIGHTS")
    weights.embedded_dense()
    assert len(made) == 2
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    (folder / "model.safetensors.index.json").write_text("{}")  # would be loaded instead
    weights.embedded_dense()
    assert len(made) == 3


def test_the_status_names_the_hash_of_each_file_that_was_loaded(tmp_path: Path) -> None:
    status = load_policy("trained").status()
    assert status["weights"] == "sha256:" + sha256_of(weights.embedded_gguf())[:12]
    made = tmp_path / "adapter.gguf"
    convert(trained_adapter(), weights.embedded_gguf(), made)
    assert status["adapter_gguf"] == "sha256:" + sha256_of(made)[:12]
    assert status["adapter"] == f"adapter {adapter_identity(trained_adapter())}"


# Damaged files are one line
