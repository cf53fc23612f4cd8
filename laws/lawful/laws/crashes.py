"""The family ``crash``: a process that is gone, or a statement that fails, leaves no half write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.strategies.accidents import Mishap, Sort
from lawful.strategies.trace import Reopen

from .accidents import crashes, each_call, gone_wrong, told
from .law import ScenarioLaw

if TYPE_CHECKING:
    from lawful.strategies.crashes import CrashSite

    from .accidents import Call
    from .law import Tally
    from .stage import Stage

__all__ = ["LAWS"]


def _statement(stage: Stage, tally: Tally) -> None:
    """Crash before each statement of every call, and behind the last."""

    def judge(site: CrashSite, each: Call) -> None:
        film = site.film(each.before, each.hit)
        last = len(film.statements)
        for mishap, at, number in crashes(film):
            found = site.after(film, number)
            if number == last and stage.faulty and not found.lawful:
                return  # it is wrong without a crash
            tally.trigger()
            tally.control(number == last and found.lawful)
            if not found.lawful:
                tally.find(each.finding([mishap], found.expected, f"a crash {at}: {found.got}"))
                return

    each_call(stage, tally, judge)


def _recovery(stage: Stage, tally: Tally) -> None:
    """Crash, and crash again at each statement of the opening and the reaper behind it."""

    def judge(site: CrashSite, each: Call) -> None:
        film = site.film(each.before, each.hit)
        for first, _, number in crashes(film):
            found = site.after(film, number)
            if found.lawful:
                recovery = site.film_recovery(film, number, found.tasks)
                for second, at, again in crashes(recovery):
                    tally.trigger()
                    then = site.after(recovery, again)
                    tally.control(then.lawful)
                    if not then.lawful:
                        got = f"recovering from a crash, a crash {at}: {then.got}"
                        tally.find(each.finding([first, second], then.expected, got))
                        return

    each_call(stage, tally, judge)


def _interrupted(stage: Stage, tally: Tally) -> None:
    """Have each statement of every call fail, then make the call again."""

    def judge(site: CrashSite, each: Call) -> None:
        film = site.film(each.before, each.hit)
        for number, statement in enumerate(film.statements, 1):
            if statement.undoes:
                continue  # an error within an error is more than can be asked for
            mishap = Mishap(Sort.INTERRUPT, number)
            at, again = f"{told(statement)} failed", (each.hit, Reopen())
            if not gone_wrong(stage, tally, site, each, mishap, at, again):
                return

    each_call(stage, tally, judge)


LAWS = (
    ScenarioLaw(
        id="crash/statement",
        says="a process that is gone before any statement of a call, or behind the last, leaves "
        "each task as it was or as the call has it, whole; what was acknowledged is there",
        why="State and log in two transactions: after a kill -9 they disagree for ever.",
        needs=("restart", "crash"),
        run=_statement,
    ),
    ScenarioLaw(
        id="crash/recovery",
        says="a second crash, at any statement of the recovery from the first, leaves each task "
        "as it was or as the recovery has it, whole",
        why="What is replayed at boot is replayed twice if the boot is cut short.",
        needs=("restart", "crash"),
        run=_recovery,
    ),
    ScenarioLaw(
        id="crash/interrupted",
        says="a statement that fails leaves each task as it was or as the call has it, and the "
        "call can be made again",
        why="A transaction that an error leaves open swallows whatever comes next, or blocks it.",
        needs=("restart", "crash"),
        run=_interrupted,
    ),
)
