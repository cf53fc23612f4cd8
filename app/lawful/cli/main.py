"""The entry point: what commands there are, and what becomes of their errors.

Nothing heavy is imported here: ``lawful --help`` loads no law, no Hypothesis and no pytest.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

COMMANDS: Final = {
    "check": "judge an implementation, cell by cell and law by law",
    "smoke": "see whether an adapter is fit to be judged",
    "explain": "say what a check is about",
    "replay": "do the steps of a trace again and judge each",
    "mutate": "plant faults, and see whether the checks notice",
    "race": "play the three classic interleavings on four writings",
    "compare": "set implementations side by side",
    "spec": "show, check or draw a table",
    "init": "write an adapter, a test and a CI workflow to begin with",
}

EPILOG: Final = """\
A TARGET is a shipped name (reference, flags, naive, unfenced, unversioned, gate, gate-words,
review, litequeue) or module:Class. Results go to stdout, progress and messages to stderr.
Exit codes: 0 lawful, 1 unlawful, 2 wrong usage or a wrong adapter, 3 incomplete.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors end in exit code 2 and say what to do next."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lawful: {message}\nSee {self.prog} --help\n")


def _parser(command: str | None) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lawful",
        description="Judge an implementation of a task lifecycle by a table written apart from it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, help_ in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=help_,
            description=help_[0].upper() + help_[1:] + ".",
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == command:
            import_module(f".{name}", __package__).arguments(own)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Args:
        argv: The arguments; the process's own by default.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in given if not word.startswith("-")), None)
    arguments = _parser(command).parse_args(given)
    if arguments.version:
        from importlib.metadata import version

        sys.stdout.write(f"lawful {version('lawful')}\n")
        return 0
    if arguments.command is None:
        _parser(None).print_help(sys.stderr)
        return 2
    # An adapter is found where its user stands, as `python -m` finds it.
    if "" not in sys.path and str(os.getcwd()) not in sys.path:  # noqa: PTH109 - a path entry
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - the same
    try:
        code: int = import_module(f".{arguments.command}", __package__).run(arguments)
        sys.stdout.flush()
    except LawfulError as error:
        sys.stderr.write(f"lawful: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nlawful: interrupted; the stores are removed, no report is written\n")
        return 130
    except BrokenPipeError:
        # The reader has gone (`| head`); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code


if __name__ == "__main__":
    sys.exit(main())
