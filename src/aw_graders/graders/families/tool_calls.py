"""How many tool calls succeeded, and how many did not."""

from typing import Final

from aw_graders.diagnostics.words import counted
from aw_graders.graders.missing import AGENT_NOT_OBSERVED, NO_TOOL_CALLS
from aw_graders.graders.model import (
    HIGHER,
    LOWER,
    GraderInput,
    GraderSpec,
    Measured,
    Outcome,
    Unavailable,
)
from aw_graders.lookups import SessionLookups

_SHOWN_NAMES: Final = 5

_NO_OUTCOME: Final = Unavailable(
    "no-outcome-recorded",
    "no tool call has a recorded outcome; record `success` on tool.execution_complete",
)


def _tool_success_rate(given: GraderInput) -> Outcome:
    """Divide the main-agent tool calls that succeeded by all of them.

    Counts: every call of phase `agent`, sub-agents included; one that never completed is a failure,
        and so is one whose completion does not say that it succeeded.
    Unit: ratio, from 0.0 to 1.0. Higher is better.
    Unavailable: `no-tool-calls`, when no call was observed; `no-outcome-recorded`, when no call has
        a known outcome.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, sections 2 and 4; decision 1.
    """
    statistics = given.lookups.statistics
    if not statistics.tool_calls:
        return NO_TOOL_CALLS
    if _no_outcome(given.lookups):
        return _NO_OUTCOME
    return Measured(
        statistics.successful_tool_calls / statistics.tool_calls,
        _details(given.lookups),
        statistics.failures,
    )


def _tool_failure_count(given: GraderInput) -> Outcome:
    """Count the main-agent tool calls that failed or never completed.

    Unit: count, 0 or more. Lower is better.
    Unavailable: `agent-not-observed`, when nothing was collected from agent or gateway; an observed
        agent without calls has 0 failures. `no-outcome-recorded`, when calls have no outcome.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decisions 1 and 3.
    """
    statistics = given.lookups.statistics
    if not given.lookups.agent_observed and not statistics.tool_calls:
        return AGENT_NOT_OBSERVED
    if statistics.tool_calls and _no_outcome(given.lookups):
        return _NO_OUTCOME
    return Measured(statistics.failed_tool_calls, _details(given.lookups), statistics.failures)


def _no_outcome(lookups: SessionLookups) -> bool:
    statistics = lookups.statistics
    return statistics.unknown_outcomes == statistics.tool_calls


def _details(lookups: SessionLookups) -> str:
    """Say what the number was made of."""
    statistics = lookups.statistics
    if not statistics.tool_calls:
        return "no tool call was made"
    text = f"{statistics.failed_tool_calls} of {counted(statistics.tool_calls, 'call')} failed"
    if statistics.failed_tool_calls:
        ranked = statistics.failures_by_tool
        shown = ", ".join(f"{name} {count}" for name, count in ranked[:_SHOWN_NAMES])
        more = len(ranked) - _SHOWN_NAMES
        text += f": {shown}" + (f" and {more} more tools" if more > 0 else "")
    extras = (
        (statistics.unfinished_tool_calls, "never completed"),
        (statistics.unknown_outcomes, "had no recorded outcome"),
        (statistics.reused_ids, "reused the id of another call"),
        (statistics.nameless_calls, "had no tool name and are left out"),
    )
    said = [f"{count} {what}" for count, what in extras if count]
    return "; ".join([text, *said])


GRADERS: Final = (
    GraderSpec(
        id="tool-success-rate",
        name="Tool Success Rate",
        summary="Successful tool calls / total tool calls",
        formula="(calls - failed or unfinished calls) / calls",
        reading="0.9 means that one in ten tool calls failed or never finished.",
        example="4 calls, of which one failed and one never completed: 2 / 4 = 0.5",
        evidence="tool calls of the agent or the gateway, with at least one known outcome",
        unit="ratio",
        direction=HIGHER,
        threshold=0.8,
        minimum=0,
        maximum=1,
        compute=_tool_success_rate,
    ),
    GraderSpec(
        id="tool-failure-count",
        name="Tool Failure Count",
        summary="Failed or unfinished tool calls",
        formula="number of calls that failed, never completed, or have no recorded success",
        reading="7 means that seven tool calls failed or never finished.",
        example="4 calls, of which one failed and one never completed: 2",
        evidence="the agent or the gateway was observed",
        unit="count",
        direction=LOWER,
        threshold=5,
        compute=_tool_failure_count,
    ),
)
