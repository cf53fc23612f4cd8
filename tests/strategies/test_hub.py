"""Workers run one at a time and as they are chosen, and whatever goes wrong in one is raised."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from lawful.strategies.hub import Deadlock, Hub, Stuck, Taken
from lawful.strategies.schedules import follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def alive() -> list[str]:
    """Name the workers' threads that there are."""
    return [each.name for each in threading.enumerate() if each.name.startswith("worker-")]


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    assert alive() == []


class Ran:
    """What jobs have done, in the order in which they did it."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.inside = 0
        self.most = 0

    def act(self, text: str) -> None:
        """Do something for long enough that another thread would be seen."""
        self.inside += 1
        for _ in range(300):
            self.most = max(self.most, self.inside)
        self.did.append(text)
        self.inside -= 1

    def job(self, hub: Hub, name: str, steps: int) -> Callable[[], None]:
        def job() -> None:
            self.act(f"{name} begins")
            for number in range(1, steps + 1):
                hub.park(name, f"{name}{number}")
                self.act(f"{name}{number}")

        return job


@pytest.fixture
def _hasty() -> Iterator[None]:
    """Let Python pass from thread to thread as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize("line", ["AAABBBCCC", "ABCABCABC", "CBAABCCBA"])
def test_one_worker_runs_at_a_time(line: str) -> None:
    ran = Ran()
    with Hub("ABC") as hub:
        hub.run({name: ran.job(hub, name, 3) for name in "ABC"}, follow(line))
    assert ran.most == 1
    assert len(ran.did) == 12


@pytest.mark.parametrize("line", ["AABB", "ABAB", "BAAB", "BBAA"])
def test_steps_are_taken_as_chosen(line: str) -> None:
    ran = Ran()
    with Hub("AB") as hub:
        taken = hub.run({name: ran.job(hub, name, 2) for name in "AB"}, follow(line))
    counts = {"A": iter("12"), "B": iter("12")}
    steps = [f"{name}{next(counts[name])}" for name in line]
    assert taken == [Taken(step[0], step) for step in steps]
    assert ran.did == ["A begins", "B begins", *steps]


def test_whoever_runs_is_named_and_between_the_steps_nobody_is() -> None:
    with Hub("AB") as hub:
        running: list[str | None] = []

        def job() -> None:
            running.append(hub.running)
            hub.park("B", "look")
            running.append(hub.running)

        def choose(able: Sequence[str], _: str | None) -> str:
            running.append(hub.running)
            return able[0]

        hub.run({"B": job}, choose)
    assert running == ["B", None, "B"]


def test_each_worker_has_one_thread_for_all_its_jobs() -> None:
    with Hub("AB") as hub:
        first = [hub.call(name, threading.get_ident) for name in "AB"]
        again = [hub.call(name, threading.get_ident) for name in "AB"]
    assert first == again
    assert len({*first, threading.get_ident()}) == 3


def test_outside_a_schedule_nobody_stops() -> None:
    with Hub("A") as hub:

        def job() -> tuple[str, bool]:
            hub.park("A", "closed", lambda: False)
            return "came through", hub.wait("A")

        assert hub.call("A", job) == ("came through", False)
        hub.run({"A": lambda: hub.park("A", "step")}, follow("A"))
        assert hub.call("A", job) == ("came through", False)


def test_only_those_that_can_go_on_are_to_choose_from_and_the_turn_is_told() -> None:
    asked: list[tuple[list[str], str | None]] = []
    opened: list[str] = []
    with Hub("AB") as hub:

        def barred() -> None:
            hub.park("A", "enter", lambda: bool(opened))

        def opening() -> None:
            hub.park("B", "knock")
            hub.park("B", "open")
            opened.append("door")
            hub.park("B", "leave")

        def choose(able: Sequence[str], turn: str | None) -> str:
            asked.append((list(able), turn))
            return able[0]

        hub.run({"A": barred, "B": opening}, choose)
    assert asked == [(["B"], None), (["B"], "B"), (["A", "B"], "B"), (["B"], None)]


def test_a_step_that_passes_by_is_told_and_is_no_choice() -> None:
    with Hub("A") as hub:

        def job() -> None:
            hub.park("A", "one")
            hub.pass_by("A", "two")

        assert hub.run({"A": job}, follow("A")) == [Taken("A", "one"), Taken("A", "two", False)]


class Slip(Exception):
    """An error of a job's."""


def slip() -> None:
    raise Slip("slipped")


def test_an_error_in_a_job_is_raised_when_the_others_are_done() -> None:
    ran = Ran()
    with Hub("AB") as hub:

        def falling() -> None:
            hub.park("A", "fall")
            slip()

        with pytest.raises(Slip, match="slipped"):
            hub.run({"A": falling, "B": ran.job(hub, "B", 1)}, follow("AB"))
        assert ran.did == ["B begins", "B1"]
        with pytest.raises(Slip, match="slipped"):
            hub.call("B", slip)
        assert hub.call("A", lambda: "goes on") == "goes on"


def test_a_choice_that_fails_is_raised_and_the_jobs_go_on_to_their_end() -> None:
    ran = Ran()
    with Hub("AB") as hub:

        def choose(_: Sequence[str], turn: str | None) -> str:
            if turn:
                raise Slip("undecided")
            return "B"

        with pytest.raises(Slip, match="undecided"):
            hub.run({name: ran.job(hub, name, 2) for name in "AB"}, choose)
        assert sorted(ran.did) == ["A begins", "A1", "A2", "B begins", "B1", "B2"]
        assert not hub.scheduled


def test_a_deadlock_names_who_waits_for_what() -> None:
    again: list[bool] = []
    with Hub("ABC") as hub:

        def waiting(name: str, what: str) -> Callable[[], None]:
            def job() -> None:
                hub.park(name, what)
                again.append(hub.wait(name))

            return job

        jobs = {"A": waiting("A", "LOCK x"), "B": waiting("B", "LOCK y"), "C": lambda: None}
        with pytest.raises(Deadlock) as raised:
            hub.run(jobs, follow("BA"))
    assert raised.value.waiting == (Taken("A", "LOCK x"), Taken("B", "LOCK y"))
    assert str(raised.value) == "deadlock: A waits at LOCK x; B waits at LOCK y"
    assert again == [False, False]  # nobody is to try for ever


def test_whoever_waits_goes_on_when_it_is_woken() -> None:
    asked: list[list[str]] = []
    again: list[bool] = []
    with Hub("AB") as hub:

        def waiting() -> None:
            hub.park("A", "lock")
            again.append(hub.wait("A"))

        def holding() -> None:
            hub.park("B", "work")
            hub.park("B", "unlock")
            hub.wake()
            hub.park("B", "rest")

        plan = follow("ABBAB")

        def choose(able: Sequence[str], turn: str | None) -> str:
            asked.append(list(able))
            return plan(able, turn)

        taken = hub.run({"A": waiting, "B": holding}, choose)
    assert asked == [["A", "B"], ["B"], ["B"], ["A", "B"], ["B"]]
    assert [step.text for step in taken] == ["lock", "work", "unlock", "lock", "rest"]
    assert again == [True]


def test_a_worker_that_comes_to_no_step_is_named_with_its_last_one() -> None:
    end = threading.Event()
    hub = Hub("A", limit=0.25)

    def hanging() -> None:
        hub.park("A", "last step")
        end.wait()

    told = r"worker A came to no next step within 0\.25 s after last step"
    with hub, pytest.raises(Stuck, match=told):
        hub.run({"A": hanging}, follow("A"))
    _ended(end)


def test_a_job_that_hangs_before_its_first_step_is_named() -> None:
    end = threading.Event()
    told = r"worker A came to no next step within 0\.25 s$"
    with Hub("AB", limit=0.25) as hub, pytest.raises(Stuck, match=told):
        hub.call("A", end.wait)
    _ended(end)


def _ended(end: threading.Event) -> None:
    """Let a worker go that hangs, and wait until its thread has ended."""
    hanging = [each for each in threading.enumerate() if each.name == "worker-A"]
    assert len(hanging) == 1
    end.set()
    hanging[0].join(10)


def test_a_failure_of_whoever_watches_is_raised_once_and_the_first_one() -> None:
    ran = Ran()
    with Hub("AB") as hub:

        def watched() -> None:
            hub.park("A", "step")
            hub.fail(Slip("first"))
            hub.fail(Slip("second"))
            hub.park("A", "another")

        with pytest.raises(Slip, match="first"):
            hub.run({"A": watched, "B": ran.job(hub, "B", 1)}, follow("AABB"))
        assert ran.did == ["B begins", "B1"]  # it is not left parked
        assert hub.call("A", lambda: "goes on") == "goes on"


def test_a_hub_that_is_left_in_the_midst_of_an_error_leaves_no_thread() -> None:
    hub = Hub("ABC")
    assert sorted(alive()) == ["worker-A", "worker-B", "worker-C"]
    with pytest.raises(Slip), hub:
        slip()
    assert alive() == []


# -- a store that lets workers wait, and go on, by itself ------------------------------------------


class Server:
    """A server with one lock: whoever asks for it waits until it is free, in order."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.holder = ""
        self.queue: list[str] = []
        self.asked: list[bool] = []
        self.abandoned = 0
        hub.arbiter = self

    def lock(self, name: str) -> None:
        self.hub.park(name, "lock")
        if self.holder:
            self.queue.append(name)
            self.hub.wait(name)
        else:
            self.holder = name

    def unlock(self, name: str) -> None:
        self.hub.park(name, "unlock")
        self.holder = ""

    def settle(self, *, stalled: bool) -> str | None:
        self.asked.append(stalled)
        if self.queue and not self.holder:
            self.holder = self.queue.pop(0)
            return self.holder
        return None

    def abandon(self) -> None:
        self.abandoned += 1

    def job(self, ran: Ran, name: str) -> Callable[[], None]:
        def job() -> None:
            self.lock(name)
            ran.act(f"{name} holds")
            self.hub.park(name, "work")
            ran.act(f"{name} works")
            self.unlock(name)

        return job


def test_whoever_the_store_lets_go_on_runs_as_far_as_its_next_step_before_anybody_is_chosen() -> (
    None
):
    ran, asked = Ran(), []
    with Hub("AB") as hub:
        server = Server(hub)
        plan = follow("ABAABB")

        def choose(able: Sequence[str], turn: str | None) -> str:
            asked.append(("".join(able), tuple(ran.did)))
            return plan(able, turn)

        taken = hub.run({name: server.job(ran, name) for name in "AB"}, choose)
        assert hub.ordered
    assert [step.text for step in taken] == ["lock", "lock", "work", "unlock", "work", "unlock"]
    assert "".join(step.worker for step in taken) == "ABAABB"
    assert asked[3:5] == [
        ("A", ("A holds", "A works")),  # B waits
        ("B", ("A holds", "A works", "B holds")),  # B has gone on by itself, and A is done
    ]
    assert server.abandoned == 0


def test_from_where_two_wait_at_once_the_store_decides_and_nobody_is_asked() -> None:
    asked: list[str] = []
    ran = Ran()
    with Hub("ABC") as hub:
        server = Server(hub)
        plan = follow("ABC")

        def choose(able: Sequence[str], turn: str | None) -> str:
            asked.append("".join(able))
            return plan(able, turn)

        taken = hub.run({name: server.job(ran, name) for name in "ABC"}, choose)
        assert not hub.ordered
        assert asked == ["ABC", "ABC", "AC"]
        assert "".join(step.worker for step in taken) == "ABCAABBCC"
        hub.run({"A": server.job(ran, "A")}, follow("AAA"))
        assert hub.ordered


def test_all_that_are_let_go_on_at_once_go_on_before_anybody_is_chosen() -> None:
    class Gate(Server):
        def settle(self, *, stalled: bool) -> str | None:
            return self.queue.pop(0) if self.queue and not self.holder else None

    asked: list[str] = []
    with Hub("ABC") as hub:
        server = Gate(hub)
        plan = follow("ABC")

        def choose(able: Sequence[str], turn: str | None) -> str:
            asked.append("".join(able))
            return plan(able, turn)

        ran = Ran()
        taken = hub.run({name: server.job(ran, name) for name in "ABC"}, choose)
    assert "".join(step.worker for step in taken) == "ABCAABBCC"
    assert ran.did == [*("A holds", "A works", "B holds", "C holds"), "B works", "C works"]


def test_a_job_that_ends_while_a_step_of_it_is_held_is_an_error_and_nobody_is_left_parked() -> None:
    with Hub("AB") as hub:
        parked = threading.Event()

        def sends() -> None:
            sending = threading.Thread(target=lambda: hub.park("A", "sent"), name="worker-A-sends")
            sending.start()
            while not parked.is_set():
                pass

        def choose(able: Sequence[str], _: str | None) -> str:
            if able == ["B"]:
                return "B"
            parked.set()
            for thread in threading.enumerate():
                if thread.name == "worker-A-sends":
                    thread.join(10)  # it is let go of when the job has ended
            return "B"

        with pytest.raises(RuntimeError, match=r"^worker A has ended in the midst of a step$"):
            hub.run({"A": sends, "B": lambda: hub.park("B", "step")}, choose)
        assert hub.call("A", lambda: "goes on") == "goes on"


def test_a_store_is_told_when_nobody_else_can_go_on() -> None:
    with Hub("AB") as hub:
        server = Server(hub)
        server.holder = "somebody else"
        with pytest.raises(Deadlock, match=r"^deadlock: A waits at lock; B waits at lock$"):
            hub.run({name: server.job(Ran(), name) for name in "AB"}, follow("AB"))
        assert server.asked == [False, False, True]


def test_what_is_under_way_is_abandoned_when_a_schedule_ends_before_its_end() -> None:
    ran = Ran()
    with Hub("AB") as hub:
        server = Server(hub)
        with pytest.raises(Slip, match="slipped"):
            hub.run({name: server.job(ran, name) for name in "AB"}, lambda _, __: slip())  # type: ignore[arg-type, return-value]
        assert server.abandoned == 1


def test_a_worker_that_hangs_in_a_store_comes_back_when_it_is_abandoned() -> None:
    end = threading.Event()

    class Hanging(Server):
        def abandon(self) -> None:
            end.set()

    with Hub("A", limit=0.25) as hub:
        Hanging(hub)

        def hanging() -> None:
            hub.park("A", "last step")
            end.wait()

        with pytest.raises(Stuck, match="after last step"):
            hub.run({"A": hanging}, follow("A"))
        assert hub.call("A", lambda: "goes on") == "goes on"


def test_outside_a_schedule_the_store_is_not_asked() -> None:
    with Hub("A") as hub:
        server = Server(hub)
        hub.call("A", lambda: None)
        assert server.asked == []


def test_who_waits_for_whom_is_told_with_the_worker_that_is_stuck() -> None:
    stuck = Stuck("A", "UPDATE task", 20.0, "A waits for B; B waits for A")
    told = "worker A came to no next step within 20 s after UPDATE task"
    assert str(stuck) == f"{told} (A waits for B; B waits for A)"


# -- Ctrl-C ----------------------------------------------------------------------------------------


def ctrl_c() -> None:
    ident = threading.main_thread().ident
    assert ident is not None
    signal.pthread_kill(ident, signal.SIGINT)


def test_a_job_that_an_interruption_left_running_ends_before_the_next_one_begins() -> None:
    interrupted, told = threading.Event(), []

    def job() -> None:
        ctrl_c()
        interrupted.wait()
        told.append("first")

    with Hub("AB") as hub:
        with pytest.raises(KeyboardInterrupt):
            hub.call("A", job)
        interrupted.set()
        assert hub.call("B", lambda: [*told, "second"]) == ["first", "second"]
        assert hub.call("A", lambda: 8) == 8


def test_a_schedule_that_is_interrupted_ends_when_its_workers_have() -> None:
    told = []

    with Hub("AB") as hub:

        def job() -> None:
            ctrl_c()
            while hub.scheduled:  # until the hub has heard of it
                pass
            told.append("first")

        with pytest.raises(KeyboardInterrupt):
            hub.run({"A": job}, follow(()))
        assert told == ["first"]
        assert hub.call("B", lambda: 7) == 7
