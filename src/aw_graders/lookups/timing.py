"""How long the run took, from the best evidence there is.

Source: decisions 5 and 35.
"""

import math
from collections.abc import Iterable, Sequence

from aw_graders.lookups.model import Duration, Request
from aw_graders.lookups.rows import Observations, SourceRows
from aw_graders.lookups.spans import total_span_ms


def run_duration(
    observations: Observations, sources: Sequence[SourceRows], proxy: Sequence[Request]
) -> Duration:
    """Choose the duration: proxy records, the root's result, the execution record, the event span.

    Takes: `proxy`, the requests that come from the proxy; reports never carry the run's time.
    """
    recorded = [request.duration_ms for request in proxy if request.duration_ms is not None]
    if recorded:
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
        return Duration(span, "span", sum(item.timed for item in observations.spans))
    return Duration()


def exact_sum(values: Iterable[int | float]) -> int | float:
    """Add numbers exactly: integers stay integers, anything else is summed without rounding drift."""
    listed = list(values)
    if all(isinstance(value, int) for value in listed):
        return sum(listed)
    return math.fsum(listed)
