"""Whether a completed call succeeded. Only explicit evidence counts; words are never read."""

import math
from typing import Any, Final, cast

from aw_graders.session.limits import MAX_SAFE_INTEGER

_FAILED_STATUS: Final = frozenset({"failed", "error"})
_FAILED_GATEWAY_STATUS: Final = frozenset({"failed", "failure", "error"})
_STRUCTURED: Final = "structuredContent"


def completion_success(data: dict[str, Any]) -> bool | None:
    """Read the outcome of a completion: True, False, or None when nothing says.

    Any explicit failure wins over `success: true`: an error flag, a failed status, an error that is
    not null, an exit code other than 0, in the data or in the result that the tool returned.
    Source: unified session format, section 1.8; decisions 1 and 39.
    """
    success = data.get("success")
    if success is False or _failed_status(data) or _flags_failure(data):
        return False
    for key in ("output", "result"):
        returned = data.get(key)
        if isinstance(returned, dict) and _returned_failure(cast("dict[str, Any]", returned)):
            return False
    return True if success is True else None


def gateway_failed(data: dict[str, Any]) -> bool:
    """Tell whether a gateway record holds explicit failure evidence; without any it succeeded."""
    status = data.get("status")
    if isinstance(status, str) and status in _FAILED_GATEWAY_STATUS:
        return True
    return data.get("error") is not None


def metric(value: object) -> int | float | None:
    """Return `value` when it is a finite number from 0, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value >= 0 and math.isfinite(value) else None


def token_count(value: object) -> int | None:
    """Return `value` when it is a whole number from 0 to 2**53 - 1, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_SAFE_INTEGER else None


def _failed_status(data: dict[str, Any]) -> bool:
    status = data.get("status")
    return (isinstance(status, str) and status in _FAILED_STATUS) or data.get("error") is not None


def _flags_failure(data: dict[str, Any]) -> bool:
    if data.get("isError") is True or data.get("is_error") is True:
        return True
    return _is_failing_code(data.get("exitCode")) or _is_failing_code(data.get("exit_code"))


def _returned_failure(returned: dict[str, Any]) -> bool:
    if _flags_failure(returned):
        return True
    structured = returned.get(_STRUCTURED)
    return isinstance(structured, dict) and _flags_failure(cast("dict[str, Any]", structured))


def _is_failing_code(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0
