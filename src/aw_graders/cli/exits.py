"""What scripts depend on: exit statuses, and the variable that names secrets."""

from enum import IntEnum
from typing import Final, NoReturn

import click

# Names of the variables that hold secret values, separated by commas.
SECRET_NAMES: Final = "GH_AW_SECRET_NAMES"  # noqa: S105 - the name of a variable


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
