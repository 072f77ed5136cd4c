"""The whole command, whose wrong usage is reported as JSON where `--json` is given."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.exceptions import TyperException

from vitrine.cli.output import Output, replace_unencodable

_ABORTED = 1


class Command(TyperGroup):
    """Typer's group, with errors of usage in the form of all other errors."""

    def main(
        self,
        args: Sequence[str] | None = None,
        *more: Any,
        standalone_mode: bool = True,
        **named: Any,
    ) -> Any:
        """Run the command, and exit unless `standalone_mode` is off."""
        replace_unencodable()
        words = list(sys.argv[1:] if args is None else args)
        if not standalone_mode or "--json" not in _options(words):
            return super().main(args, *more, standalone_mode=standalone_mode, **named)
        output = Output(Console(), Console(stderr=True), as_json=True)
        try:
            code = super().main(args, *more, standalone_mode=False, **named)
        except TyperException as error:
            output.error(error.format_message(), code=None, request_id=None)
            sys.exit(error.exit_code)
        except typer.Abort:
            output.error("aborted", code=None, request_id=None)
            sys.exit(_ABORTED)
        sys.exit(code if isinstance(code, int) else 0)


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments before `--`, after which nothing is an option."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
