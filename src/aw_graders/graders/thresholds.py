"""From a number and a threshold to a verdict. Nothing is clamped, nothing rounded."""

from typing import Literal

from aw_graders.graders.model import HIGHER, LOWER

Status = Literal["pass", "fail", "unavailable", "error"]


def judge(
    value: float, direction: str | None, threshold: float | None
) -> tuple[bool | None, Status]:
    """Judge one measured value.

    Returns: passed (None when there is nothing to judge by) and the status that is persisted; a
        value on the threshold passes.
    Source: decisions 12 and 13.
    """
    if threshold is None:
        return None, "pass"
    if direction == HIGHER:
        passed = value >= threshold
    elif direction == LOWER:
        passed = value <= threshold
    else:
        return None, "pass"
    return passed, "pass" if passed else "fail"
