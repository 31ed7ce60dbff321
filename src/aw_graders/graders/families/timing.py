"""How many model requests the run took, and how long it lasted."""

from typing import Final

from aw_graders.diagnostics.words import counted
from aw_graders.graders.model import (
    LOWER,
    GraderInput,
    GraderSpec,
    Measured,
    Outcome,
    Unavailable,
)
from aw_graders.lookups import Statistics

_SOURCES: Final = {
    "proxy": "sum of the proxy's request durations",
    "session": "the agent's own session result",
    "execution": "the execution record",
    "span": "event span, from the first to the last timed event",
}


def _router(statistics: Statistics) -> str:
    count = statistics.router_requests
    return f"; left out: {counted(count, 'request')} of the model router" if count else ""


def _execution_step_count(given: GraderInput) -> Outcome:
    """Count the model requests of the main agent that were observed.

    Counts: proxy records, refused ones included; where there is none, reports with a request id.
        Requests of the model router are left out.
    Unit: count, 1 or more. Lower is better.
    Unavailable: `no-model-requests`, when no request was recorded one by one.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decisions 4, 8, 33 and 38.
    """
    statistics = given.lookups.statistics
    if statistics.requests is None:
        return Unavailable(
            "no-model-requests",
            "no model request was recorded; collect the proxy's token-usage.jsonl or reports "
            "with a requestId",
        )
    origin = "the proxy" if given.lookups.requests_source == "proxy" else "the agent's reports"
    details = f"{counted(statistics.requests, 'model request')}, from {origin}{_router(statistics)}"
    return Measured(statistics.requests, details)


def _execution_duration(given: GraderInput) -> Outcome:
    """Report the observed duration in milliseconds, from the best evidence there is.

    Counts: the sum of the proxy's durations; else the root's session result; else the execution
        record; else the span between the first and the last timed main-agent event.
    Unit: ms, 0 or more. Lower is better.
    Unavailable: `no-duration`, when none of them was recorded.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decisions 5 and 35.
    """
    duration = given.lookups.statistics.duration
    if duration.value_ms is None or duration.source is None:
        return Unavailable(
            "no-duration",
            "no duration was recorded; collect the proxy log, the session result, or timed events",
        )
    details = _SOURCES[duration.source]
    if duration.records:
        details += f", {counted(duration.records, 'record')}"
    return Measured(duration.value_ms, details)


GRADERS: Final = (
    GraderSpec(
        id="execution-step-count",
        name="Execution Step Count",
        summary="Observed model request count",
        formula="number of model requests of the main agent",
        reading="40 means that the model was asked forty times.",
        example="3 proxy records: 3",
        evidence="proxy records, or usage reports with a request id",
        unit="count",
        direction=LOWER,
        compute=_execution_step_count,
        cost="O(1), over lookups that are already built",
    ),
    GraderSpec(
        id="execution-duration",
        name="Execution Duration",
        summary="Observed duration in milliseconds",
        formula="sum of proxy durations, else session result, else execution record, else span",
        reading="60000 means a minute, by the evidence that the details name.",
        example="proxy records of 900 and 1100 ms: 2000",
        evidence="proxy durations, a session result, an execution record, or two timed events",
        unit="ms",
        direction=LOWER,
        compute=_execution_duration,
        cost="O(1), over lookups that are already built",
    ),
)
