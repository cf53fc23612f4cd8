"""A file's source with its mutants in place: each line that has some unfolds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.mutants.mutant import DETECTED, EXCLUDED
from lawful.reports._pieces import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lawful.mutants.mutant import Result

__all__ = ["listing"]


def listing(source: str, results: Sequence[Result], entry: Callable[[Result], str]) -> str:
    """Return the source of a file as HTML, lines with what nobody has found unfolded.

    Args:
        source: The text of the file.
        results: Its mutants.
        entry: Returns the piece that shows one mutant.
    """
    by_line: dict[int, list[Result]] = {}
    for result in results:
        by_line.setdefault(result.mutant.place.line, []).append(result)
    return "".join(_pieces(source.splitlines(), by_line, entry))


def _pieces(
    lines: Sequence[str], by_line: dict[int, list[Result]], entry: Callable[[Result], str]
) -> Iterator[str]:
    plain: list[str] = []
    for number, line in enumerate(lines, 1):
        numbered = f"{number:5}  {line}"
        if number not in by_line:
            plain.append(numbered)
            continue
        yield from _plain(plain)
        yield _line(numbered, by_line[number], entry)
    yield from _plain(plain)


def _plain(lines: list[str]) -> Iterator[str]:
    if lines:
        yield f'<pre class="source">{chr(10).join(map(text, lines))}</pre>'
        lines.clear()


def _line(numbered: str, results: Sequence[Result], entry: Callable[[Result], str]) -> str:
    found = sum(result.fate in DETECTED for result in results)
    able = sum(result.fate not in EXCLUDED for result in results)
    look, sign = ("PASS", "✓") if found == able else ("FAIL", "✗")
    if not able:
        look, sign = "UNSUPPORTED", "○"
    unfolded = " open" if look == "FAIL" else ""
    return (
        f'<details class="source"{unfolded}><summary><code>{text(numbered)}</code> '
        f'<span class="tag {look}"><span class="sign" aria-hidden="true">{sign}</span> '
        f"{found} of {able} found</span></summary>{''.join(map(entry, results))}</details>"
    )
