"""Whether a score of planted faults can be believed.

Baselines must be green, a patch that changes nothing must be found by nobody, and for each module
one that breaks it plainly by somebody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.mutants.score import Trust

from .answers import Request
from .fault import Fault, Patch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .answers import Answer
    from .trials import Course, Trials

__all__ = ["CANARIES", "NULL", "trusted"]

NULL: Final = Patch(
    "lawful.sut.reference.store",
    "Store.read",
    "Return what is stored of one task.",
    "Say what is stored of one task.",
    text=True,
)
"""A patch after which everything does what it did."""


def _canary(store: str, claim: str, patch: Patch) -> Fault:
    name = patch.module.rpartition(".")[2]
    says = f"{name} is broken plainly"
    return Fault(
        id=f"planted/canary/{name}",
        says=says,
        source="canary",
        patches=(patch,),
        claims=(claim,),
        store=store,
    )


_REFERENCE: Final = "lawful.sut.reference"
CANARIES: Final = (
    _canary(
        "reference",
        "cell/submitted/enqueue",
        Patch(
            f"{_REFERENCE}.machine",
            "_moved",
            "version = task.version + 1",
            "version = task.version + 2",
        ),
    ),
    _canary(
        "reference",
        "cell/submitted/enqueue",
        Patch(f"{_REFERENCE}.storing", "TaskStore.fire", "after is not before", "after is before"),
    ),
    _canary(
        "reference",
        "cell/queued/start",
        Patch(f"{_REFERENCE}.store", "Store._update", "after.attempts", "before.attempts"),
    ),
    _canary(
        "reference",
        "cell/running/succeed",
        Patch(f"{_REFERENCE}.schema", "", "'succeeded', ", "", text=True),
    ),
    _canary(
        "postgresql",
        "cell/queued/start",
        Patch("lawful.sut.postgresql", "_values", "task.attempts", "0"),
    ),
    _canary(
        "redis",
        "cell/queued/start",
        Patch("lawful.sut.redis_store", "Write.fields", "task.attempts", "0"),
    ),
)
"""For each module that faults are in, a patch that nobody can overlook."""


def trusted(faults: Sequence[Fault], trials: Trials) -> Iterator[Trust]:
    """Look whether a score could be believed.

    Each store's baseline is asked whatever claims a fault of that store, twice.

    Args:
        faults: The faults that can be tried here.
        trials: Runs what is asked.
    """
    claimed: dict[str, dict[str, None]] = {}
    for fault in faults:
        claimed.setdefault(fault.store, {}).update(dict.fromkeys(fault.claims))
    modules = dict.fromkeys(patch.module for fault in faults for patch in fault.patches)
    canaries = [each for each in CANARIES if each.patches[0].module in modules]
    stores = {store: Request(store, (), tuple(checks)) for store, checks in claimed.items()}
    asked = [*stores.values(), *stores.values()]
    null = stores.get("reference")
    if null is not None:
        asked.append(null._replace(patches=(NULL,)))
    asked += [Request(each.store, each.patches, each.claims) for each in canaries]
    courses = [_numbered(number, request) for number, request in enumerate(asked)]
    answers = [answer for _, answer in sorted(trials.run(courses), key=lambda pair: pair[0])]
    for store, answer in zip((*stores, *stores), answers, strict=False):
        yield Trust("baseline", *_green(answer, f"{store}: "))
    answers = answers[2 * len(stores) :]
    if null is not None:
        yield Trust("null mutant", *_green(answers.pop(0)))
    for canary, answer in zip(canaries, answers, strict=True):
        yield Trust("canary", bool(answer.red), f"{canary.id}: {_found(answer)}")
    yield _workspace(list(modules), {canary.patches[0].module for canary in canaries})


def _numbered(number: int, request: Request) -> Course[tuple[int, Answer]]:
    answer = yield request
    return number, answer


def _green(answer: Answer, who: str = "") -> tuple[bool, str]:
    """Say whether all that was asked has passed; what was not run has not."""
    if answer.problem:
        return False, f"{who}{answer.problem}"
    if bad := answer.not_green:
        return False, f"{who}{bad[0].id}: {bad[0].status}, {bad[0].told}"
    return bool(answer.checks), f"{who}{len(answer.checks)} checks, all green"


def _found(answer: Answer) -> str:
    if answer.problem:
        return answer.problem
    return f"found by {answer.red[0].id}" if answer.red else "nobody has found it"


def _workspace(modules: Sequence[str], watched: set[str]) -> Trust:
    """Say whether each patched module has a canary: its death shows that its patch was loaded."""
    unwatched = [name for name in modules if name not in watched]
    if unwatched:
        return Trust("workspace", False, f"{unwatched[0]} is patched, and has no canary")
    return Trust("workspace", True, f"patches of {len(modules)} modules were loaded, and compared")
