"""Foreign text made harmless: what an implementation says is shown, and never acts."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["no_markup", "printable"]

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>#!|~$&:@.]")

_ACTING: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
"""Categories of characters that move a cursor, turn the direction of the text, break a line or
are none at all; XML can't hold some of them either."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return the text with every character that acts written out, as ``\x1b``.

    Args:
        text: Anything.
        lines: Whether line feeds stay, and tabs become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.expandtabs(4)
    return "".join(
        _escaped(each)
        if unicodedata.category(each) in _ACTING and not (lines and each == "\n")
        else each
        for each in text
    )


def no_markup(text: str) -> str:
    """Return the text as Markdown that shows it: every character of markup is a reference."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", printable(text))


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
