"""How long the run took, from the best evidence there is.

Source: decisions 5 and 35.
"""

import math
from collections.abc import Iterable, Sequence

from aw_graders.lookups.model import Duration
from aw_graders.lookups.rows import Observations, SourceRows
from aw_graders.lookups.spans import total_span_ms
from aw_graders.lookups.tokens import Requests


def run_duration(
    observations: Observations, sources: Sequence[SourceRows], requests: Requests
) -> Duration:
    """Choose the duration: proxy records, the root's result, the execution record, the event span.

    Reports of single requests never carry the run's time.
    """
    recorded = [row.duration_ms for _, row in requests.placed if row.duration_ms is not None]
    if recorded and requests.source == "proxy":
        return Duration(exact_sum(recorded), "proxy", len(recorded))
    results = [
        row.duration_ms
        for source in sources
        for row in source.results
        if not row.nested and row.duration_ms is not None
    ]
    if results:
        return Duration(results[-1], "session", len(results))
    executions = [value for source in sources for _, value in source.execution_ms]
    if executions:
        return Duration(executions[-1], "execution", len(executions))
    span = total_span_ms(observations.spans, observations.collection_ns)
    if span is not None:
        return Duration(span, "span")
    return Duration()


def exact_sum(values: Iterable[int | float]) -> int | float:
    """Add numbers exactly: integers stay integers, anything else is summed without rounding drift."""
    listed = list(values)
    if set(map(type, listed)) <= {int}:
        return sum(listed)
    return math.fsum(listed)
