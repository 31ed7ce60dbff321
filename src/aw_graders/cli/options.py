"""Options that several verbs take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def secret_options(command: _Command) -> _Command:
    """Add the option that names a file of secret values."""
    return click.option(
        "--secret-values",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Mask these values, too: one on each line.",
    )(command)
