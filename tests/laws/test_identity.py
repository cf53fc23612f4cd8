"""The ids of the tasks that must not touch each other."""

from __future__ import annotations

from lawful.laws.identity import TASKS, own_ids


def test_there_are_25_ids_and_no_two_are_the_same() -> None:
    assert TASKS == 25
    assert len(own_ids()) == 25
    assert len(set(own_ids())) == 25


def test_prefixes_come_before_and_after_what_begins_with_them() -> None:
    # A lookup by prefix that takes the first that fits must be wrong in both directions.
    ids = own_ids()
    pairs = [(ids.index(a), ids.index(b)) for a in ids for b in ids if a != b and b.startswith(a)]
    assert any(prefix < longer for prefix, longer in pairs)
    assert any(longer < prefix for prefix, longer in pairs)
