"""A crew: has errands done by an executor, and those whose worker is lost done again."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from .slices import Errand

__all__ = ["Crew", "Ended"]

T = TypeVar("T")

LOSSES: Final = 3
"""An errand that has cost so many workers is not given to another one."""
GIVEN_UP: Final = 5
"""After so many errands of that kind, something is wrong with more than an errand."""


class Ended(StrEnum):
    """Why a campaign took no more steps."""

    WHOLE = "whole"
    """Every slice was done, or given up."""
    BUDGET = "budget"
    """Its time was over."""
    INTERRUPTED = "interrupted"
    """Somebody interrupted it."""
    BROKEN = "broken"
    """The executor took no more slices, or too many were given up."""


class Crew:
    """Has errands done, and those whose worker is lost done again.

    Args:
        executor: Who does them; None for this process.
        ahead: How many it is given at a time.
        clock: What time it is.
        ends: When nothing more is begun.
        grace: How long what is under way is waited for after that, in seconds.

    Attributes:
        lost: The errands that were given up, each with the reason.
        ended: Why nothing more was begun.
        cause: What broke the executor.
    """

    def __init__(
        self,
        executor: Executor | None,
        ahead: int,
        clock: Callable[[], float],
        ends: float | None,
        grace: float,
    ) -> None:
        self.lost: dict[int, str] = {}
        self.ended = Ended.WHOLE
        self.cause = ""
        self._executor = executor
        self._ahead = max(ahead, 1)
        self._clock = clock
        self._ends = ends
        self._grace = grace

    def each(
        self, work: Callable[[Errand], T], errands: Sequence[Errand]
    ) -> Iterator[tuple[int, T]]:
        """Have errands done; yield each one's number and result as it comes.

        Args:
            work: What does one; it must be found by its name if there is an executor.
            errands: The errands.
        """
        if self._executor is not None:
            yield from self._given(self._executor, work, errands)
            return
        for number, errand in enumerate(errands):
            if self._over():
                return
            yield number, work(replace(errand, seconds=self._left()))

    def anyway(
        self, work: Callable[[Errand], T], errands: Sequence[Errand]
    ) -> Iterator[tuple[int, T]]:
        """Have errands done after the end too; what can't be done is left out."""
        if self.ended is not Ended.BROKEN:
            rested = Crew(self._executor, self._ahead, self._clock, None, self._grace)
            yield from rested.each(work, errands)

    def _given(
        self, executor: Executor, work: Callable[[Errand], T], errands: Sequence[Errand]
    ) -> Iterator[tuple[int, T]]:
        waiting = deque(range(len(errands)))
        strikes: Counter[int] = Counter()
        under_way: dict[Future[T], int] = {}
        try:
            while True:
                while waiting and len(under_way) < self._ahead and not self._over():
                    number = waiting.popleft()
                    left = self._left()
                    errand = replace(errands[number], again=strikes[number], seconds=left)
                    try:
                        future = executor.submit(work, errand)
                    except Exception as error:
                        # Whatever an executor raises that takes nothing any more.
                        self.ended, self.cause = Ended.BROKEN, _in_words(error)
                        break
                    under_way[future] = number
                if not under_way:
                    return
                done, _ = wait(under_way, self._patience(), FIRST_COMPLETED)
                if not done:
                    self._over()
                    return
                for future in sorted(done, key=under_way.__getitem__):
                    number = under_way.pop(future)
                    try:
                        result = future.result()
                    except Exception as error:
                        strikes[number] += _cost(error)
                        if strikes[number] < LOSSES:
                            waiting.appendleft(number)
                        else:
                            self._give_up(number, error)
                    else:
                        yield number, result
        finally:
            for future in under_way:
                future.cancel()

    def _give_up(self, number: int, error: Exception) -> None:
        self.lost[number] = f"its worker was lost {LOSSES} times, at last with {_in_words(error)}"
        if len(self.lost) >= GIVEN_UP:
            self.ended = Ended.BROKEN
            self.cause = f"{GIVEN_UP} slices were given up"

    def _over(self) -> bool:
        if self.ended is Ended.WHOLE and self._ends is not None and self._clock() >= self._ends:
            self.ended = Ended.BUDGET
        return self.ended is not Ended.WHOLE

    def _left(self) -> float | None:
        return None if self._ends is None else max(self._ends - self._clock(), 0.0)

    def _patience(self) -> float | None:
        if self._ends is None:
            return None
        return max(self._ends + self._grace - self._clock(), 0.0)


def _cost(error: Exception) -> int:
    """Return how many workers a failure has cost; Dask tries some itself before it says so."""
    tried: int = getattr(error, "allowed_failures", 0)
    return tried + 1


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
