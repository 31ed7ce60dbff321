"""The words of a diagnostic."""

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["error", "warning"]


class Location(msgspec.Struct, frozen=True, order=True):
    """A run of characters on one line of a file.

    `line` and `column` count from 1, columns in characters; `length` is 1 or more.
    """

    path: str
    line: int
    column: int
    length: int = 1


class Diagnostic(msgspec.Struct, frozen=True):
    """One thing that is wrong, or that a person may not have meant.

    `code` is stable and kebab-case, with one page in `docs/errors`; `hint` is an action.
    """

    code: str
    message: str
    location: Location
    hint: str | None = None
    severity: Severity = "error"
