"""The engine ``mutmut``: mutants of function bodies, made and tested by mutmut, in a workspace.

A red test is a kill; a test that can't be collected, and a process that is killed, are not.
Timeouts are tried again alone.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from lawful.mutants.errors import MutationError
from lawful.mutants.judges import digest_of, laws_digest
from lawful.mutants.mutant import Fate, Result
from lawful.mutants.owned import end
from lawful.mutants.score import Trust
from lawful.strategies.stores import store_folder

from .canary import TAIL
from .generated import generated
from .layout import layout_of
from .reviewed import stamp
from .rules import set_aside
from .running import PATIENCE, Told, generate, pytest_alone, test_mutants
from .workspace import CONFORMANCE, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lawful.mutants.mutant import Mutant

    from .generated import Generated
    from .reviewed import Review
    from .running import Outcome, Session
    from .workspace import Suite

__all__ = ["MutmutEngine"]

NOBODY: Final = "x_nobody__mutmut_1"
"""A mutant that there is not."""
LATE: Final = frozenset({24, 36, 152, 255, -24, -36})
"""The exit codes that mutmut has for a limit that passed."""
UNREACHED: Final = frozenset({5, 33})


class MutmutEngine:
    """Mutants of a project's source.

    Args:
        sources: Files and folders of source.
        suite: Who judges.
        project: The folder that tests are below, and whose pytest settings hold.
        reviewed: What somebody has found out about survivors, by their ids.
        workers: How many mutants are tested at once.
        patience: How long one run of all tests may take, in seconds.
        store: Where the workspace is made; a memory-backed folder by default.
    """

    name = "mutmut"

    def __init__(
        self,
        sources: Sequence[Path],
        suite: Suite,
        *,
        project: Path,
        reviewed: Mapping[str, Review] = MappingProxyType({}),
        workers: int = 2,
        patience: float = PATIENCE,
        store: Path | None = None,
    ) -> None:
        self.layout = layout_of(sources)
        self.target = " ".join(_shown(source, project) for source in sources)
        self.checks: Sequence[str] = ()
        self._suite = suite
        self._project = project
        self._reviewed = reviewed
        self._workers = workers
        self._patience = patience
        self._store = store
        self._left = ExitStack()
        self._generated: dict[str, Generated] = {}

    def __enter__(self) -> Self:
        """Make a workspace, and have mutmut generate its mutants."""
        try:
            folder = self._left.enter_context(store_folder(self._store)) / "workspace"
            folder.mkdir()
            self.workspace = Workspace(folder, self.layout, self._suite, self._project)
            generate(self.workspace)
            for module in self.layout.modules:
                made = list(generated(module, self.workspace.mutants))
                self._generated |= {each.mutant.id: each for each in made}
                if made:
                    file = self.workspace.mutants / module.path
                    file.write_text(file.read_text("utf-8") + TAIL, "utf-8")
        except BaseException:
            self._left.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Remove it."""
        self._left.close()

    def mutants(self) -> Sequence[Mutant]:
        """Return every mutant, module by module."""
        if not self._generated:
            raise MutationError(f"{self.target}: mutmut has found nothing to mutate")
        return [each.mutant for each in self._generated.values()]

    def sources(self) -> Mapping[str, str]:
        """Return the text of each module."""
        return {module.path: module.file.read_text("utf-8") for module in self.layout.modules}

    # -- whether it can be believed ---------------------------------------------------------------

    def trust(self, some: Sequence[Mutant]) -> Iterator[Trust]:
        """Look whether a score could be believed."""
        modules = list(dict.fromkeys(self._module(mutant) for mutant in some))
        alone = partial(pytest_alone, self.workspace, limit=self._patience)
        baseline = alone()
        yield Trust("baseline", *_green(baseline))
        if baseline.code != 0:
            return
        yield self._imported(baseline)
        with ThreadPoolExecutor(self._workers) as threads:
            null = threads.submit(alone, mutant=f"{modules[0]}.{NOBODY}")
            canaries = [threads.submit(alone, canary=module) for module in modules]
            try:
                yield Trust("null mutant", *_green(null.result()))
                for module, canary in zip(modules, canaries, strict=True):
                    yield Trust("canary", *_red(module, canary.result()))
            finally:
                end([null, *canaries])

    def _module(self, mutant: Mutant) -> str:
        return self._generated[mutant.id].name.rpartition(".")[0]

    def _imported(self, baseline: Session) -> Trust:
        """Say whether what was tested is the workspace's source."""
        count = 0
        for module in self.layout.modules:
            file = baseline.files.get(module.name)
            if file is None:
                continue
            count += 1
            if not Path(file).resolve().is_relative_to(self.workspace.mutants.resolve()):
                return Trust(
                    "workspace", False, f"{module.name} was imported from elsewhere: {file}"
                )
        return Trust("workspace", count > 0, f"{count} modules were imported from the workspace")

    # -- testing ----------------------------------------------------------------------------------

    def test(
        self, some: Sequence[Mutant], *, matrix: bool, killers: Mapping[str, Sequence[str]]
    ) -> Iterator[Result]:
        """Test mutants; what comes to no end is tested again alone."""
        wanted: dict[str, Mutant] = {}
        first: dict[str, Sequence[str]] = {}
        for mutant in some:
            made = self._generated[mutant.id]
            if rule := set_aside(made.difference):
                yield Result(mutant, Fate.SET_ASIDE, reason=rule)
            else:
                wanted[made.name] = mutant
                first[made.name] = [self._test_of(name) for name in killers.get(mutant.id, ())]
        late: dict[str, Mutant] = {}
        for outcome in self._outcomes(wanted, first, matrix=matrix):
            mutant = wanted.pop(outcome.name)
            if outcome.code in LATE:
                late[outcome.name] = mutant
            else:
                yield self._result(mutant, outcome)
        for outcome in self._outcomes(late, first, matrix=matrix, alone=True):
            yield self._result(late.pop(outcome.name), outcome)
        for mutant in (*wanted.values(), *late.values()):
            yield Result(mutant, Fate.UNREACHED, reason="no test runs its function")

    def _outcomes(
        self,
        wanted: Mapping[str, Mutant],
        first: Mapping[str, Sequence[str]],
        *,
        matrix: bool,
        alone: bool = False,
    ) -> Iterator[Outcome]:
        if not wanted:
            return
        self._told = Told(self.workspace.folder / ("alone.jsonl" if alone else "told.jsonl"))
        jobs = 1 if alone else self._workers
        with test_mutants(
            self.workspace,
            list(wanted),
            jobs=jobs,
            matrix=matrix,
            told=self._told.file,
            first=first,
        ) as outcomes:
            yield from outcomes

    @staticmethod
    def _test_of(killer: str) -> str:
        """Return the test that a killer is: a check is one of the conformance suite's."""
        return killer if "::" in killer else f"{CONFORMANCE}::test_conformance"

    def _result(self, mutant: Mutant, outcome: Outcome) -> Result:
        rows = self._told.of(outcome.name)
        red = {row["killer"]: row["told"] for row in rows if "killer" in row}
        lost = next((row["told"] for row in rows if "uncollected" in row), "")
        fate, reason = _fate(outcome.code, next(iter(red.values()), ""), lost)
        killers = tuple(red) if fate is Fate.KILLED else ()
        function = self._generated[mutant.id].function
        if review := self._reviewed.get(mutant.id):
            reason = review.of(fate, function, reason)
        elif fate is Fate.SURVIVED:
            reason += f" (function {stamp(function)})"
        return Result(mutant, fate, killers, reason, tested=1, seconds=outcome.seconds)

    def depends(self, mutant: Mutant) -> Iterable[str]:
        """Return the text of its function, of its module outside of functions, and of the judges.

        A change of another function can change a fate too. Such a change is seen when all is tested
        anew, which is why a cache is for changes under review, and not for releases.
        """
        made = self._generated[mutant.id]
        yield made.function
        yield made.outside
        yield self._judges

    @cached_property
    def _judges(self) -> str:
        """A digest of the tests and the settings, and of the laws where they judge."""
        tops = sorted(self.workspace.folder / name for name in self.workspace.copied)
        return digest_of(tops) + (laws_digest() if self._suite.target else "")


def _shown(source: Path, project: Path) -> str:
    source = source.resolve()
    return str(source.relative_to(project) if source.is_relative_to(project) else source)


def _green(session: Session) -> tuple[bool, str]:
    if session.code == 0 and session.tests:
        return True, f"{session.tests} tests, all green"
    if session.red:
        return False, f"{session.red[0]}: {session.red[1]}"
    if session.code == 5 or not session.tests:
        return False, f"no tests were collected: {session.said}"
    return False, session.said


def _red(module: str, session: Session) -> tuple[bool, str]:
    if session.red:
        return True, f"{module} is broken plainly: found by {session.red[0]}"
    if session.code in (None, 0):
        return False, f"{module} is broken plainly, and nobody has found it"
    return True, f"{module} is broken plainly: nothing can be collected ({session.said})"


def _fate(code: int, red: str, lost: str) -> tuple[Fate, str]:
    """Tell what an exit code of mutmut's means."""
    if code == 0:
        return Fate.SURVIVED, "every test that runs its function stays green"
    if code in UNREACHED:
        return Fate.UNREACHED, "no test runs its function"
    if code in LATE:
        return Fate.TIMEOUT, "no end within the limit, and again when it was tried alone"
    if code == 1 and red:
        return Fate.KILLED, red
    if lost:
        return Fate.BROKEN, f"its tests can't be collected: {lost}"
    if code < 0:
        return Fate.BROKEN, f"its process was ended by signal {-code}"
    return Fate.BROKEN, f"its tests ended with code {code}, and none was red"
