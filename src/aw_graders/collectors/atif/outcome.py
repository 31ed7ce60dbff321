"""What a result says about its call's outcome, in the places where producers put it.

The format itself has no field for it: results carry it in `extra`, or beside their content.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from aw_graders.collectors.normalise import mapping_of

_FLAGS: Final = ("is_error", "isError", "tool_result_is_error")
_EXIT_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code")
_FAILED: Final = frozenset({"failed", "error"})


class Outcome(msgspec.Struct, frozen=True):
    """What is known: success, or None; the exit code and the error, when recorded.

    `flagged` says that the result has an error flag, whatever its value.
    """

    success: bool | None = None
    exit_code: int | None = None
    error: object = None
    flagged: bool = False


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """Read a result's flags, exit code, status and error; the words of its content say nothing."""
    places = [result, mapping_of(result.get("extra")) or {}]
    flags = [value for value in _values(places, _FLAGS) if isinstance(value, bool)]
    codes = [value for value in _values(places, _EXIT_CODES) if _is_code(value)]
    errors = [value for value in _values(places, ("error",)) if value is not None]
    statuses = [value for value in _values(places, ("status",)) if isinstance(value, str)]
    code = next((value for value in codes if value != 0), codes[0] if codes else None)
    failed = any(flags) or bool(code) or any(errors) or any(map(_FAILED.__contains__, statuses))
    known = bool(flags) or code is not None
    return Outcome(
        success=False if failed else True if known else None,
        exit_code=code,
        error=next((value for value in errors if value), None),
        flagged=bool(flags),
    )


def _values(places: Iterable[Mapping[str, Any]], keys: Iterable[str]) -> list[Any]:
    names = tuple(keys)
    return [place[key] for place in places for key in names if key in place]


def _is_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
