"""Running graders over one redacted session; one that raises stops none of the others."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.graders.fence import own
from aw_graders.graders.model import GraderInput, GraderSpec, Measured, Unavailable
from aw_graders.graders.registry import BUILT_IN
from aw_graders.graders.settings import GraderSettings
from aw_graders.graders.thresholds import Status, judge
from aw_graders.lookups import Evidence, SessionLookups, create_session_lookups
from aw_graders.session.model import Redacted

_BUILT_IN: Final = tuple(spec.compute for spec in BUILT_IN.values())


class Result(msgspec.Struct, frozen=True):
    """One grader's outcome with its verdict.

    `value` is a finite number in `unit`, or None. `passed` is None when nothing was judged.
    `reason` is the code of an unavailable result; `error` is set only for status `error`. A custom
    grader has the `digest` of its source, and may have `diagnostics` and, an evaluator, `metrics`.
    """

    id: str
    name: str
    status: Status
    value: int | float | None
    passed: bool | None
    unit: str | None
    direction: str | None
    threshold: int | float | None
    implementation: str
    version: int
    source: str = "builtin"
    description: str | None = None
    reason: str | None = None
    message: str | None = None
    details: str | None = None
    error: str | None = None
    evidence: Evidence = Evidence()
    digest: str | None = None
    diagnostics: Mapping[str, JsonValue] | None = None
    metrics: tuple[Mapping[str, JsonValue], ...] | None = None


def default_settings(registry: Mapping[str, GraderSpec] = BUILT_IN) -> tuple[GraderSettings, ...]:
    """Return the settings of the graders that run when nothing is configured."""
    return tuple(settings_of(spec) for spec in registry.values() if spec.default)


def settings_of(spec: GraderSpec, *, enabled: bool = True) -> GraderSettings:
    """Return a grader's settings as the registry has them."""
    return GraderSettings(
        id=spec.id,
        enabled=enabled,
        name=spec.name,
        description=spec.summary,
        unit=spec.unit,
        direction=spec.direction,
        threshold=spec.threshold,
        minimum=spec.minimum,
        maximum=spec.maximum,
    )


def grade(
    session: Redacted,
    settings: Iterable[GraderSettings] | None = None,
    registry: Mapping[str, GraderSpec] = BUILT_IN,
) -> tuple[Result, ...]:
    """Grade a redacted session.

    Takes: settings in the order of the results; None means the default set. Disabled ones are
        skipped.
    Returns: one result per enabled grader.
    Raises: TypeError for a session that was not made by the redaction engine; a grader that raises
        becomes an `error` result of its own.
    Cost: O(events) for the lookups, then O(calls + requests).
    Source: Graders Specification 0.5.0, sections 2 and 5.
    """
    # Callers without a type checker are the ones this line is for.
    if not isinstance(session, Redacted):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = "grade takes a Redacted session; use redact(session)"
        raise TypeError(msg)
    return grade_lookups(create_session_lookups(session), settings, registry)


def grade_lookups(
    lookups: SessionLookups,
    settings: Iterable[GraderSettings] | None = None,
    registry: Mapping[str, GraderSpec] = BUILT_IN,
) -> tuple[Result, ...]:
    """Grade lookups that were built from a redacted session; see `grade`."""
    chosen = default_settings(registry) if settings is None else settings
    return tuple(_result(registry[item.id], item, lookups) for item in chosen if item.enabled)


def _result(spec: GraderSpec, settings: GraderSettings, lookups: SessionLookups) -> Result:
    base = Result(
        id=spec.id,
        name=settings.name or spec.name,
        status="error",
        value=None,
        passed=None,
        unit=settings.unit or spec.unit,
        direction=settings.direction or spec.direction,
        threshold=settings.threshold,
        implementation=f"aw-graders/{spec.id}",
        version=spec.version,
        description=settings.description,
    )
    replace = msgspec.structs.replace
    given = GraderInput(lookups, settings.config)
    try:
        # By identity: another grader could claim to equal a built-in.
        known = any(spec.compute is compute for compute in _BUILT_IN)
        outcome = spec.compute(given if known else own(given))
    except Exception as failure:  # noqa: BLE001 - one broken grader must not stop the others
        # The exception's own text could quote the session, so only its kind leaves.
        return replace(base, error=f"the grader raised {type(failure).__name__}")
    if isinstance(outcome, Measured):
        passed, status = judge(outcome.value, base.direction, base.threshold)
        return replace(
            base,
            status=status,
            value=outcome.value,
            passed=passed,
            details=outcome.details or None,
            evidence=outcome.evidence,
        )
    if isinstance(outcome, Unavailable):  # pyright: ignore[reportUnnecessaryIsInstance]
        return replace(
            base,
            status="unavailable",
            reason=outcome.reason,
            message=outcome.message,
            evidence=outcome.evidence,
        )
    return replace(base, error=f"the grader returned {type(outcome).__name__}, not an outcome")
