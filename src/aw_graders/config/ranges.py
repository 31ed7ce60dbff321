"""Whether the numbers of one grader fit each other."""

from aw_graders.config.fields import Given
from aw_graders.config.positions import Report
from aw_graders.diagnostics import quoted
from aw_graders.graders.model import GraderSpec


def check_range(id_: str, given: Given, report: Report, spec: GraderSpec | None = None) -> None:
    """Report a range that holds nothing, and a threshold outside of it.

    Takes: the fields that were set; `spec` of a built-in, whose own bounds are metadata, so that a
        threshold beyond them is only a warning.
    Raises: nothing.
    """
    threshold, low, high = (_number(given, name) for name in ("threshold", "min", "max"))
    own_low, own_high = (None, None) if spec is None else (spec.minimum, spec.maximum)
    least, most = own_low if low is None else low, own_high if high is None else high
    has_bounds = low is not None or high is not None
    if has_bounds and least is not None and most is not None and least > most:
        field = "max" if low is None else "min"
        message = f'"min" {least} of grader {quoted(id_)} is above its "max" {most}'
        report.add("config-range", message, given.places[field].value.span, "change one of them")
        return
    if threshold is None:
        return
    place = given.places["threshold"].value.span
    if least is not None and threshold < least:
        problem, is_own = f'below its "min" {least}', low is None
    elif most is not None and threshold > most:
        problem, is_own = f'above its "max" {most}', high is None
    else:
        return
    message = f'"threshold" {threshold} of grader {quoted(id_)} is {problem}'
    if is_own:
        hint = f"no value passes or none fails; see aw graders explain {id_}"
        report.add("config-threshold-range", message, place, hint, "warning")
    else:
        report.add("config-range", message, place, "change one of them")


def _number(given: Given, name: str) -> int | float | None:
    value = given.values.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
