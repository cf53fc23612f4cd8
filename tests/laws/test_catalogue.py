"""Which laws a table has: those that can be about it, and all of those."""

from __future__ import annotations

from lawful.laws.catalogue import laws_of
from lawful.spec import parse_table, shipped_table

LEASES = {
    "lease/expiry",
    "lease/fencing",
    "lease/heartbeat",
    "lease/heartbeat-expired",
    "lease/held",
    "lease/holder",
    "lease/poison",
    "lease/reaper",
    "lease/release",
    "lease/zombie",
}
LEASED = {"absorption/no-restart", "durability/boot", "order/illegal-before-lease", "replay/reaper"}
COUNTED = {"counter/attempts", "counter/attempts-bound", "counter/attempts-exhausted"}

LAMP = """
format = "lawful-spec/1"
name = "lamp"
version = 1
initial = "off"
terminal = []
events = ["press"]
counts = { legal = 2, noop = 0, refused = 0 }

[table]
off = ["on"]
on = ["off"]
"""

ONCE = """
format = "lawful-spec/1"
name = "once"
version = 1
initial = "waiting"
terminal = ["ended"]
events = ["start", "end"]
counts = { legal = 2, noop = 0, refused = 4 }

[table]
waiting = ["running", "-"]
running = ["-", "ended"]
ended = ["-", "-"]

[lease]
seconds = 10
expiry = "lazy"
held_in = ["running"]
granted_by = ["start"]
needed_by = ["end"]
on_expiry = { event = "end" }
"""


def ids(text: str) -> set[str]:
    return {law.id for law in laws_of(parse_table(text, "drawn.toml"), quick=True)}


def task() -> set[str]:
    return {law.id for law in laws_of(shipped_table("task"), quick=True)}


def test_the_task_table_has_leases_counters_no_ops_and_an_end() -> None:
    assert task() >= LEASES | LEASED | COUNTED
    assert task() >= {"silence/refusal", "silence/noop", "silence/bisimulation"}
    assert "absorption/terminal" in task()


def test_where_nothing_is_refused_and_nothing_ends_no_law_is_about_that() -> None:
    assert task() - ids(LAMP) == LEASES | LEASED | COUNTED | {
        "absorption/terminal",
        "silence/bisimulation",
        "silence/noop",
        "silence/refusal",
        "silence/store",
    }


def test_what_can_be_started_once_has_no_older_token() -> None:
    assert task() - ids(ONCE) == COUNTED | {"silence/noop", "lease/fencing"}
