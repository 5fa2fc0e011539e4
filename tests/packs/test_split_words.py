from __future__ import annotations

import pytest

from chaosops.packs import PACKS, load_pack


@pytest.mark.parametrize("name", PACKS)
def test_every_split_has_words_for_people(name: str) -> None:
    pack = load_pack(name)
    told = pack.split_words()
    assert set(pack.splits) <= set(told)
    assert set(told) <= {*pack.splits, pack.added_split, "extra"}
    for title, words in told.values():
        assert 0 < len(title) <= 24, "a row of the heat map has room for this many letters"
        assert words.endswith(".")
