"""Retries that the gateway recorded."""

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


def _retries(given: GraderInput) -> Outcome:
    """Count the retry observations among the main-agent MCP events.

    Counts: an event with `retry: true`, with the event name `retry`, or with a message that holds
        the word; retry text in an assistant message does not count.
    Unit: count, 0 or more. Lower is better.
    Unavailable: `gateway-not-observed`, when no gateway evidence was collected.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decision 3.
    """
    statistics = given.lookups.statistics
    if statistics.retries is None:
        return Unavailable(
            "gateway-not-observed",
            "the MCP gateway was not observed; collect its log (mcp-logs/*.jsonl)",
        )
    details = f"{counted(statistics.retries, 'retry observation')} in gateway events"
    return Measured(statistics.retries, details, statistics.retry_records)


GRADERS: Final = (
    GraderSpec(
        id="retries",
        name="Retries",
        summary="Retry observations in main-agent MCP events",
        formula="number of main-agent mcp.* events that are retry observations",
        reading="3 means that the gateway had to try three calls again.",
        example="gateway events served, retry, served: 1",
        evidence="the MCP gateway was observed",
        unit="count",
        direction=LOWER,
        threshold=10,
        compute=_retries,
        cost="O(1), over lookups that are already built",
    ),
)
