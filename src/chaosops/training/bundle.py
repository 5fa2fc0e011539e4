"""Everything a run needs, in parts that fit through a narrow door.

For a GPU machine without a network: the package itself, recipes, the base model's folder,
wheels and adapters, as one archive cut into parts, with a script that puts it together there.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, cast

from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.evaluation.results import PACKED_COMMIT, source_commit
from chaosops.version import VERSION

PART = "part-{:03d}"
_PACKAGE = Path(__file__).resolve().parents[1]
# Not needed to train, and the largest part of the package.
_LEFT_OUT = {f"src/chaosops/trained/{part}" for part in ("adapter", "training", "evaluations")}
_UNPACK = """#!/bin/sh
# Puts the parts in this folder together and unpacks them into DIR.
#   sh unpack.sh DIR && cd DIR && PYTHONPATH=src:site python3 -m chaosops train recipes/NAME.toml
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cat "$here"/part-* > "$1/bundle.tar.xz"
echo "{digest}  $1/bundle.tar.xz" | sha256sum --check --quiet
tar --extract --xz --file "$1/bundle.tar.xz" --directory "$1"
rm "$1/bundle.tar.xz"
if ls "$1"/wheels/*.whl > /dev/null 2>&1; then
    python3 -m pip install --quiet --no-deps --no-index --target "$1/site" "$1"/wheels/*.whl
fi
"""


def bundle(
    out: Path,
    *,
    recipes: Iterable[Path] = (),
    base: Path | None = None,
    adapters: Iterable[Path] = (),
    wheels: Path | None = None,
    part_mb: float = 55,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Returns the files of the bundle, the parts in their order."""
    if part_mb <= 0:
        raise BadInput(f"a part must be larger than nothing, got {part_mb} MB")
    contents = [(_PACKAGE, "src/chaosops")]
    contents += [(path, f"recipes/{path.name}") for path in recipes]
    contents += [(path, f"adapters/{path.name}") for path in adapters]
    if base is not None:
        contents.append((base, f"base/{base.name}"))
    if wheels is not None:
        contents.append((wheels, "wheels"))
    for path, _ in contents:
        if not path.exists():
            raise BadInput(f"cannot bundle {path}: it does not exist")
    open_folder(out)
    if list(out.glob("part-*")):
        raise BadInput(f"{out} holds parts of another bundle; choose an empty folder")
    writer = _Parts(out, int(part_mb * 1_000_000))
    with (
        lzma.open(cast("IO[bytes]", writer), "wb", preset=2) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w|") as archive,
    ):
        for path, name in contents:
            tell(f"packing {name}")
            archive.add(path, arcname=name, filter=_worth_packing)
        _add_commit(archive)
    parts, digest = writer.close_all()
    facts = {"version": VERSION, "sha256": digest, "parts": [path.name for path in parts]}
    write_text(out / "bundle.json", json.dumps(facts, indent=1) + "\n")
    write_text(out / "unpack.sh", _UNPACK.replace("{digest}", digest))
    return [*parts, out / "bundle.json", out / "unpack.sh"]


def _add_commit(archive: tarfile.TarFile) -> None:
    """So that results made there name the source they were made with."""
    commit = (source_commit() or "").encode()
    if commit and not (_PACKAGE / PACKED_COMMIT).exists():
        member = tarfile.TarInfo(f"src/chaosops/{PACKED_COMMIT}")
        member.size = len(commit)
        archive.addfile(member, io.BytesIO(commit))


def _worth_packing(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if "__pycache__" in member.name or member.name in _LEFT_OUT:
        return None
    # The same content makes the same bundle, whoever packs it.
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


class _Parts:
    """A file to write to that goes on in the next part when one is full."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder, self._size = folder, size
        self._digest = hashlib.sha256()
        self._paths: list[Path] = []
        self._file: IO[bytes] | None = None
        self._room = 0

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        rest = memoryview(data)
        while rest:
            if not self._room:
                self._next()
            assert self._file is not None
            taken = rest[: self._room]
            self._file.write(taken)
            self._room -= len(taken)
            rest = rest[len(taken) :]
        return len(data)

    def _next(self) -> None:
        if self._file is not None:
            self._file.close()
        self._paths.append(self._folder / PART.format(len(self._paths)))
        self._file = self._paths[-1].open("wb")
        self._room = self._size

    def close_all(self) -> tuple[list[Path], str]:
        if self._file is not None:
            self._file.close()
        return self._paths, self._digest.hexdigest()
