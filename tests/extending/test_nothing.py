from __future__ import annotations

from pathlib import Path

from tests.extending.checkout import Checkout, fingerprint, fingerprint_here


def test_a_copy_behaves_like_the_project(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    assert checkout.touched() == set()
    assert fingerprint(checkout) == fingerprint_here()
    checkout.write("version.py", 'VERSION = "0.0.0"\n')
    assert checkout.touched() == {"version.py"}
    assert "0.0.0" in checkout.chaosops("--version")
