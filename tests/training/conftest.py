"""The model that tests train."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.tiny import save_tiny_model


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))
