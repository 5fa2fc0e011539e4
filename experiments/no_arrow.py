"""Method ``trl`` on a machine without pyarrow, pandas and datasets, which have 70 MB.

    python experiments/no_arrow.py train trl_remedied --set base=FOLDER   # any command of chaosops

TRL imports the three, but for our runs it needs only a data set with rows. Bring the wheels of
trl and peft (2 MB). The runs are the same, because TRL's sampler draws row numbers.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Dataset:
    """The one data set that a run makes, in memory."""

    cache_files = ()

    def __init__(self, table: dict[str, list[Any]], fingerprint: str = "") -> None:
        self._table = table
        self.column_names = list(table)

    def __len__(self) -> int:
        return len(next(iter(self._table.values())))

    def __getitem__(self, place: int) -> dict[str, Any]:
        return {name: values[place] for name, values in self._table.items()}


class InMemoryTable:
    @staticmethod
    def from_pydict(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return columns


class Unused:
    """Imported by TRL, and not used here."""


MODULES: dict[str, dict[str, Any]] = {
    "pyarrow": {"Array": Unused, "Table": Unused},
    "pyarrow.compute": {},
    "pyarrow.types": {},
    "pandas": {"DataFrame": Unused, "Series": Unused},
    "datasets": {
        "__version__": "5.2.0",
        "Dataset": Dataset,
        "IterableDataset": type("IterableDataset", (), {}),
        "DatasetDict": type("DatasetDict", (dict,), {}),
        "IterableDatasetDict": type("IterableDatasetDict", (dict,), {}),
    },
    "datasets.table": {"InMemoryTable": InMemoryTable},
}


def install() -> None:
    """Before TRL is imported. What the machine has is left alone."""
    missing = {name for name in MODULES if "." not in name and find_spec(name) is None}
    for name, values in MODULES.items():
        if name.partition(".")[0] not in missing:
            continue
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None, is_package="." not in name)
        module.__path__ = []
        vars(module).update(values)
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)


if __name__ == "__main__":
    from chaosops.cli import main

    install()
    sys.exit(main())
