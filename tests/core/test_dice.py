from __future__ import annotations

from chaosops.core.dice import STRIDE, Dice, key_of, mix


def test_a_stream_is_mix_over_a_counter() -> None:
    dice = Dice(7)
    assert [dice.bits() for _ in range(3)] == [mix(7 + i * STRIDE) for i in (1, 2, 3)]


def test_keys_do_not_depend_on_the_process() -> None:
    # A literal: another machine, Python or hash seed must come to the same number.
    assert key_of("classic", "db_deadlock", 42) == 0x7280FA05D950B911
    assert key_of("a", "bc") != key_of("ab", "c")


def test_draws_stay_in_range_and_vary() -> None:
    dice = Dice(key_of("range"))
    drawn = [dice.between(-2, 5) for _ in range(2000)]
    assert set(drawn) == set(range(-2, 6))
    assert all(0 <= dice.unit() < 1 for _ in range(1000))
    assert {dice.pick("abc") for _ in range(100)} == set("abc")


def test_shuffling_keeps_the_items_and_the_original() -> None:
    items = list(range(20))
    shuffled = Dice(1).shuffled(items)
    assert sorted(shuffled) == items == list(range(20))
    assert shuffled != items
    assert shuffled == Dice(1).shuffled(items)
