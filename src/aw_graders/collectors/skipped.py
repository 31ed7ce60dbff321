"""What of a recording could not be read: lines that were skipped, and why."""

from collections.abc import Iterable
from typing import Final

import msgspec

from aw_graders._json import JsonError

# Single lines are named one by one, long runs of them as one.
_RUN: Final = 3
NOT_JSON: Final = "not-json"


class Skipped(msgspec.Struct, frozen=True):
    """A line, from 1, that could not be used."""

    line: int
    code: str
    message: str


def reason_of(failure: JsonError) -> str:
    """Spell why, without anything that stands in the file."""
    return "a number is too large" if failure.reason.startswith("number ") else failure.reason


def joined(items: Iterable[Skipped]) -> list[Skipped]:
    """Make one item of each long run of neighbouring lines that are not JSON."""
    found: list[Skipped] = []
    for run in _runs(items):
        first, last = run[0], run[-1]
        if len(run) < _RUN or first.code != NOT_JSON:
            found.extend(run)
        else:
            message = f"lines {first.line} to {last.line} are not JSON and were skipped"
            found.append(Skipped(first.line, first.code, message))
    return found


def _runs(items: Iterable[Skipped]) -> list[list[Skipped]]:
    """Group items of one kind on neighbouring lines."""
    runs: list[list[Skipped]] = []
    for item in items:
        before = runs[-1][-1] if runs else None
        if before is not None and before.code == item.code and before.line + 1 == item.line:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs
