"""What becomes of one fault: who is asked, in which order, and what follows from the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.mutants.mutant import Fate, Result

from .answers import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.mutants.mutant import Mutant

    from .answers import Answer, Asked
    from .fault import Fault
    from .trials import Course

__all__ = ["Whole", "course"]


class Whole:
    """Whole runs of stores without any fault: what is red there is nobody's finding."""

    def __init__(self) -> None:
        self._red: dict[str, frozenset[str]] = {}

    def red(self, store: str) -> Course[frozenset[str]]:
        """Return the checks that are red without a fault."""
        if store not in self._red:
            answer = yield Request(store, profile="default")
            if answer.problem:
                return frozenset()
            self._red[store] = frozenset(check.id for check in answer.red)
        return self._red[store]


def course(fault: Fault, mutant: Mutant, whole: Whole, *, matrix: bool) -> Course[Result]:
    """Find out what becomes of one fault: it is killed if each check that claims it finds it.

    Args:
        fault: The fault.
        mutant: The same, for the report.
        whole: Whole runs without it.
        matrix: Whether all its killers are asked for.
    """
    profile = "deep" if fault.equivalent else "quick"  # a proof has to look everywhere
    claims = yield from _ask(Request(fault.store, fault.patches, fault.claims, profile))
    answers = [claims]
    if claims.problem:
        return _result(mutant, _lost(claims), answers, reason=claims.problem)
    if fault.equivalent:
        return _equivalent(fault, mutant, claims)
    green = [check for check in claims.checks if not check.red]
    if not green and not matrix:
        return _result(mutant, Fate.KILLED, answers, claims.red)
    every = yield from _ask(Request(fault.store, fault.patches, profile="default"))
    answers.append(every)
    if every.problem:
        return _result(mutant, _lost(every), answers, reason=every.problem)
    innocent = yield from whole.red(fault.store)
    found = [check for check in every.red if check.id not in innocent]
    killers = [*claims.red, *(c for c in found if c.id not in {one.id for one in claims.red})]
    if killers and not green:
        return _result(mutant, Fate.KILLED, answers, killers)
    reason = ", ".join(_of_green(check) for check in green) or "nobody claims it"
    others = f"; found by {killers[0].id}" if killers else "; nothing is red"
    return _result(mutant, Fate.SURVIVED, answers, killers, reason + others)


def _ask(request: Request) -> Course[Answer]:
    """Ask; what came to no end, or ended without an answer, is asked again alone."""
    answer = yield request
    if answer.late or answer.ended:
        answer = yield request._replace(alone=True)
    return answer


def _lost(answer: Answer) -> Fate:
    return Fate.TIMEOUT if answer.late else Fate.BROKEN


def _of_green(check: Asked) -> str:
    told = f" ({check.told})" if check.told else ""
    return f"{check.id} claims it, and does not find it: {check.status}{told}"


def _equivalent(fault: Fault, mutant: Mutant, answer: Answer) -> Result:
    """Believe that nobody can tell a fault if all who would have looked, and have seen nothing."""
    if bad := answer.not_green:
        reason = (
            f"written down as equivalent ({fault.equivalent}), and {bad[0].id}: {bad[0].status}"
        )
        return _result(mutant, Fate.BROKEN, [answer], answer.red, reason)
    return _result(mutant, Fate.EQUIVALENT, [answer], reason=fault.equivalent)


def _result(
    mutant: Mutant,
    fate: Fate,
    answers: Sequence[Answer],
    killers: Sequence[Asked] = (),
    reason: str = "",
) -> Result:
    first = killers[0] if killers else None
    told = [text for text in (reason, first.told if first else "") if text]
    return Result(
        mutant,
        fate,
        tuple(check.id for check in killers),
        "; ".join(told),
        first.trace if first else "",
        tested=sum(len(answer.checks) for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
    )
