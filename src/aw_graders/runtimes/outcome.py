"""From what custom code answered to a result, in the words that built-in graders use, too."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

import msgspec

from aw_graders._json import JsonValue, freeze
from aw_graders.config.executable import Executable
from aw_graders.graders.engine import Result
from aw_graders.graders.thresholds import judge
from aw_graders.runtimes.source_free import SourceGuard

JAVASCRIPT: Final = "aw-graders/javascript"
BASH: Final = "aw-graders/bash"
# Decision 11: raised whenever the same code could answer something else.
RUNTIME_VERSION: Final = 1
_NO_VALUE: Final = "no-value"
_NO_MESSAGE: Final = "the grader returned null and gave no message"


class Answer(msgspec.Struct, frozen=True):
    """What custom code answered: a finite number or None, with what it says about that."""

    value: int | float | None
    message: str | None = None
    details: str | None = None
    diagnostics: Mapping[str, JsonValue] | None = None
    metrics: tuple[Mapping[str, JsonValue], ...] | None = None


class Failure(msgspec.Struct, frozen=True):
    """Why custom code gave no answer, and where in it, from 1, when that is known."""

    error: str
    line: int | None = None
    column: int | None = None


def result_of(grader: Executable, answer: Answer | Failure) -> Result:
    """Judge an answer.

    Takes: the grader, whose settings hold name, unit, direction and threshold.
    Returns: its result, in which no longer part of its source can be read.
    Source: Graders Specification 0.5.0, section 5; decisions 11, 13 and 57.
    """
    settings = grader.settings
    is_script = grader.source == "inline"
    base = Result(
        id=settings.id,
        name=settings.name or settings.id,
        status="error",
        value=None,
        passed=None,
        unit=settings.unit,
        direction=settings.direction,
        threshold=settings.threshold,
        implementation=JAVASCRIPT if is_script else BASH,
        version=RUNTIME_VERSION,
        source=grader.source,
        description=settings.description,
        digest=grader.digest,
    )
    guard = SourceGuard(grader.code.decode("utf-8", "replace"))
    if isinstance(answer, Failure):
        return msgspec.structs.replace(base, error=guard.text(_failed(answer)))
    said = msgspec.structs.replace(
        base,
        message=None if answer.message is None else guard.text(answer.message),
        details=None if answer.details is None else guard.text(answer.details),
        diagnostics=_free(answer.diagnostics, guard),
        metrics=_free_metrics(answer.metrics, guard),
    )
    if answer.value is None:
        message = said.message or said.details or _NO_MESSAGE
        return msgspec.structs.replace(
            said, status="unavailable", reason=_NO_VALUE, message=message
        )
    passed, status = judge(answer.value, base.direction, base.threshold)
    return msgspec.structs.replace(said, value=answer.value, passed=passed, status=status)


def _failed(failure: Failure) -> str:
    if failure.line is None:
        return failure.error
    column = "" if failure.column is None else f", column {failure.column}"
    return f"{failure.error} (line {failure.line}{column} of the script)"


def _free(
    diagnostics: Mapping[str, JsonValue] | None, guard: SourceGuard
) -> Mapping[str, JsonValue] | None:
    if diagnostics is None:
        return None
    return cast("Mapping[str, JsonValue]", freeze(guard.value(diagnostics)))


def _free_metrics(
    metrics: tuple[Mapping[str, JsonValue], ...] | None, guard: SourceGuard
) -> tuple[Mapping[str, JsonValue], ...] | None:
    """Free the ids too: any text could be one."""
    if metrics is None:
        return None
    return tuple(cast("Mapping[str, JsonValue]", _free(metric, guard)) for metric in metrics)


def diagnostics_of(metrics: Sequence[Mapping[str, JsonValue]]) -> Mapping[str, JsonValue]:
    """Return all metrics but the first, which is the value, by their ids."""
    return {str(metric["id"]): metric["value"] for metric in metrics[1:]}
