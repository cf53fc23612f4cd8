"""What an adapter class says of itself is read once; what can't be is refused in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lawful.spec import SpecError
from lawful.strategies import AdapterError, describe
from lawful.strategies.adapter import EventCall, describe_class, load_target
from lawful.sut import Implementation, NotYet, Refusal, Unsupported
from miniatures import Honest, task_table, variants

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ALL = frozenset({"actor", "payload", "expected_version", "token"})


def variant(**members: Any) -> type:
    """Return the honest miniature with some members replaced."""
    return type("Mine", (Honest,), members)


def refusal(adapter: Any) -> str:
    """Return the one line that an adapter is refused with."""
    with pytest.raises(AdapterError) as caught:
        describe_class(adapter, "mine:Mine")
    text = str(caught.value)
    assert text == f"mine:Mine: {caught.value.problem}"
    assert "\n" not in text
    return caught.value.problem


# -- what is read ----------------------------------------------------------------------------------


def test_writing_an_optional_method_declares_it() -> None:
    adapter = describe_class(Honest, "mine")
    methods = {"absent", "due", "dump", "heartbeat", "history", "poison", "put", "reap"}
    assert adapter.offered == methods | {"actor", "expected_version", "token"}
    assert adapter.gaps == {}
    assert adapter.chooses_id


def test_a_method_that_is_none_is_not_offered() -> None:
    adapter = describe_class(variant(heartbeat=None), "mine")
    assert "heartbeat" not in adapter.offered


def test_the_contracts_own_methods_are_nobodys_offer() -> None:
    class Hollow(Implementation):
        system = "miniatures"

    assert refusal(Hollow) == "the method 'open' is missing"


def test_fire_is_called_for_every_event_with_what_it_takes() -> None:
    calls = describe_class(Honest, "mine").calls
    assert len(calls) == 7
    assert set(calls.values()) == {EventCall("fire", ALL)}


def test_a_method_named_after_an_event_is_called_with_what_it_takes() -> None:
    calls = describe_class(variants.OneMethodPerEvent, "mine").calls
    assert calls["enqueue"] == EventCall("enqueue", frozenset({"actor", "expected_version"}))
    assert calls["succeed"] == EventCall("succeed", ALL)  # it takes any keyword


def test_a_plain_class_with_the_same_members_will_do() -> None:
    assert describe_class(variants.Asynchronous, "mine").calls["fail"] == EventCall("fire", ALL)


def test_claim_stands_for_the_event_that_grants_the_lease() -> None:
    def claim(self: Honest, actor: str) -> str | None:
        return None

    members = {"start": None, "claim": claim}
    adapter = describe_class(type("Mine", (variants.OneMethodPerEvent,), members), "mine")
    assert adapter.calls["start"] == EventCall("claim", frozenset({"actor"}))
    assert adapter.claims == "start"
    assert describe_class(Honest, "mine").claims is None


def test_a_refusal_may_stand_for_one_reason_or_for_a_set() -> None:
    refusals = describe_class(
        variant(refusals={KeyError: "illegal", OSError: ["illegal", Refusal.STALE_LEASE]}), "mine"
    ).refusals
    assert refusals == {
        KeyError: frozenset({Refusal.ILLEGAL}),
        OSError: frozenset({Refusal.ILLEGAL, Refusal.STALE_LEASE}),
    }


def test_states_that_look_alike_are_each_mapped_to_their_set() -> None:
    alike = describe_class(variant(indistinct=[{"queued", "retry_wait"}]), "mine").indistinct
    pair = frozenset({"queued", "retry_wait"})
    assert alike == {"queued": pair, "retry_wait": pair}


def test_an_id_is_chosen_only_where_submit_takes_one() -> None:
    def submit(self: Honest, params: Mapping[str, int]) -> str:
        return ""

    assert not describe_class(variant(submit=submit), "mine").chooses_id


@pytest.mark.parametrize("server", ["", "postgresql", "redis"])
def test_the_server_that_a_system_needs_is_read(server: str) -> None:
    assert describe_class(variant(server=server), "mine").server == server


def test_a_server_of_no_known_kind_is_refused_with_what_is_near() -> None:
    assert refusal(variant(server="postgres")) == (
        "`server` must be one of postgresql, redis, or left out; got 'postgres'; "
        "did you mean 'postgresql'?"
    )
    assert refusal(variant(server=None)) == (
        "`server` must be one of postgresql, redis, or left out; got None"
    )


def test_the_table_for_the_same_parameters_is_always_the_same_one() -> None:
    adapter = describe_class(Honest, "mine")
    assert adapter.oracle({}) is adapter.oracle({"max_attempts": 3})
    assert adapter.oracle({"max_attempts": 2}).params == {"max_attempts": 2}


def test_a_table_that_is_handed_in_takes_the_place_of_the_adapters_own() -> None:
    table = task_table(2)
    assert describe_class(variant(lifecycle="no such"), "mine", table=table).table is table


# -- what is refused -------------------------------------------------------------------------------

NAMES = (
    "absent, actor, attempts, claim, clock, crash, due, dump, expected_version, heartbeat, "
    "history, lease_owner, lease_token, lease_until, poison, put, reap, restart, "
    "second_connection, token, version"
)
STATES = "submitted, queued, running, retry_wait, cancelling, succeeded, failed, cancelled"
REASON = Unsupported("not here")


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"read": None}, "the method 'read' is missing"),
        (
            {"submit": None, "submit_": Honest.submit},
            "the method 'submit' is missing (there is 'submit_')",
        ),
        (
            {"system": ""},
            "`system` must name the package, module or service tested; got ''",
        ),
        (
            {"system": None},
            "`system` must name the package, module or service tested; got None",
        ),
        ({"gaps": ["dump"]}, "`gaps` must be a dict; got ['dump']"),
        (
            {"gaps": {"heart_beat": REASON}},
            f"gaps: unknown name 'heart_beat'; allowed are {NAMES}; did you mean 'heartbeat'?",
        ),
        (
            {"gaps": {"claim": "no"}},
            "gaps['claim']: expected Unsupported(reason) or NotYet(reason)",
        ),
        (
            {"gaps": {"claim": NotYet("")}},
            "gaps['claim']: expected Unsupported(reason) or NotYet(reason)",
        ),
        (
            {"gaps": {"reap": REASON, "dump": REASON}},
            "gaps: dump, reap is declared as missing, and offered",
        ),
        (
            {"gaps": {"token": REASON}},
            "gaps: token is declared as missing, and offered",
        ),
        ({"states": [("NEW", "queued")]}, "`states` must be a dict; got [('NEW', 'queued')]"),
        (
            {"states": {"READY": "que"}},
            f"states['READY']: 'que' is no state of task ({STATES}); did you mean 'queued'?",
        ),
        ({"refusals": None}, "`refusals` must be a dict; got None"),
        ({"refusals": {"KeyError": "illegal"}}, "refusals: 'KeyError' is no exception type"),
        (
            {"refusals": {KeyError: "forbidden"}},
            (
                "refusals[KeyError]: 'forbidden' is none of illegal, already, stale_version, "
                "stale_lease, unknown_task"
            ),
        ),
        (
            {"refusals": {KeyError: None}},
            "refusals[KeyError]: expected a Refusal or a set; got None",
        ),
        ({"indistinct": ["queued"]}, "indistinct: expected sets of states; got 'queued'"),
        (
            {"indistinct": [{"queued", "waiting"}]},
            "indistinct: 'waiting' is no state of task, or stands twice",
        ),
        (
            {"indistinct": [["queued"], ["queued"]]},
            "indistinct: 'queued' is no state of task, or stands twice",
        ),
        (
            {"fire": None},
            "nothing fires the event 'enqueue': write `fire`, or a method 'enqueue'",
        ),
        (
            {"fire": None, "enqueued": Honest.reap},
            (
                "nothing fires the event 'enqueue': write `fire`, or a method 'enqueue' "
                "(there is 'enqueued')"
            ),
        ),
    ],
)
def test_a_class_that_can_not_be_an_adapter_is_refused(
    members: dict[str, Any], problem: str
) -> None:
    assert refusal(variant(**members)) == problem


def test_claim_does_not_stand_for_an_event_that_was_forgotten() -> None:
    def claim(self: Honest, actor: str) -> str | None:
        return None

    members = {"start": None, "cancel": None, "claim": claim}
    assert refusal(type("Mine", (variants.OneMethodPerEvent,), members)) == (
        "nothing fires the event 'cancel': write `fire`, or a method 'cancel'; `claim` stands for "
        "start alone"
    )


def test_without_leases_claim_stands_for_one_event_and_no_more() -> None:
    from lawful.sut.litequeue import LiteQueue

    forgetful = type("Mine", (LiteQueue,), {"retry": None})
    assert refusal(forgetful) == (
        "`claim` stands for one event; pop, retry have no method: write all but one of them"
    )


def test_an_event_that_is_named_like_a_method_needs_fire(tmp_path: Path) -> None:
    file = tmp_path / "doors.toml"
    file.write_text(
        'format = "lawful-spec/1"\nname = "doors"\nversion = 1\ninitial = "shut"\n'
        'terminal = ["open"]\nevents = ["open"]\n'
        "counts = { legal = 1, noop = 0, refused = 1 }\n"
        '[table]\nshut = ["open"]\nopen = ["-"]\n'
    )
    problem = refusal(type("Mine", (variants.OneMethodPerEvent,), {"lifecycle": file}))
    assert problem == "the event 'open' has the name of a method: write `fire`"


def test_a_lifecycle_that_can_not_be_read_is_the_specs_error() -> None:
    with pytest.raises(SpecError):
        describe_class(variant(lifecycle="tusk"), "mine")


# -- targets ---------------------------------------------------------------------------------------


def test_a_shipped_name_is_a_target() -> None:
    adapter = describe("flags")
    assert (adapter.target, adapter.table.name) == ("flags", "task")


def test_a_module_and_class_is_a_target() -> None:
    assert load_target("miniatures.honest:Honest") is Honest
    assert describe("miniatures.honest:Honest").target == "miniatures.honest:Honest"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (
            "refrence",
            (
                "no such target: expected one of flags, gate, gate-words, litequeue, naive, "
                "postgresql, procrastinate, procrastinate-memory, redis, redis-lua, reference, "
                "review, unfenced, unversioned, or module:Class; did you mean 'reference'?"
            ),
        ),
        (
            "miniatures:",
            (
                "no such target: expected one of flags, gate, gate-words, litequeue, naive, "
                "postgresql, procrastinate, procrastinate-memory, redis, redis-lua, reference, "
                "review, unfenced, unversioned, or module:Class"
            ),
        ),
        (
            "miniatures.honest:Honset",
            "miniatures.honest has no class 'Honset'; did you mean 'Honest'?",
        ),
        ("miniatures.honest:HELD", "miniatures.honest has no class 'HELD'"),
    ],
)
def test_a_target_that_is_not_there_is_refused_with_what_is_near(target: str, problem: str) -> None:
    with pytest.raises(AdapterError) as caught:
        describe(target)
    assert str(caught.value) == f"{target}: {problem}"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("import no_such_package\n", "importing mine_1 needs 'no_such_package'"),
        ("1 / 0\n", "importing mine_2 raised ZeroDivisionError: division by zero"),
        ("def broken(:\n", "importing mine_3 raised SyntaxError: "),
    ],
)
def test_a_module_that_can_not_be_imported_is_refused_with_what_it_raised(
    body: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = problem.split()[1]
    (tmp_path / f"{module}.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AdapterError) as caught:
        describe(f"{module}:Mine")
    assert caught.value.problem.startswith(problem)


def test_a_module_that_is_not_there_is_refused_with_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AdapterError) as caught:
        describe("no_such_package.deep:Mine")
    assert caught.value.problem == (
        f"there is no module 'no_such_package' on the path ({tmp_path} is)"
    )


def test_methods_of_a_base_class_are_offered_too() -> None:
    assert "history" in describe_class(variant(), "mine").offered
