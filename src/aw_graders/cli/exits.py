"""What each exit status means. Scripts depend on these numbers."""

from enum import IntEnum
from typing import NoReturn

import click


class Exit(IntEnum):
    """The exit statuses of every verb."""

    CLEAN = 0
    FOUND = 1
    USAGE = 2
    FAILED = 3


def stop(status: Exit, message: str) -> NoReturn:
    """End with one line on standard error; the line is masked and holds no control characters."""
    # Imported here because a run that succeeds never needs it.
    from aw_graders.diagnostics import printable  # noqa: PLC0415
    from aw_graders.redaction import mask_text  # noqa: PLC0415

    click.echo(f"aw: {printable(mask_text(message))}", err=True)
    raise SystemExit(int(status))
