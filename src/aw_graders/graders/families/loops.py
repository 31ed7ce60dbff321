"""Calls that repeat the call before them, and how varied the calls are."""

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
)
from aw_graders.lookups import MAX_PLACES, Evidence


def _loops(given: GraderInput) -> Outcome:
    """Count the calls whose name and arguments equal those of the call just before.

    Counts: a run of k equal calls gives k - 1. Numbers compare by value, keys in any order, strings
        exactly. A call that only the gateway saw has unknown arguments and takes no part.
    Unit: count, 0 or more. Lower is better.
    Unavailable: `agent-not-observed`, when nothing was collected from agent or gateway.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decisions 3, 37 and 40.
    """
    statistics = given.lookups.statistics
    if not given.lookups.agent_observed and not statistics.tool_calls:
        return AGENT_NOT_OBSERVED
    details = f"{statistics.consecutive_repeats} of {counted(statistics.tool_calls, 'call')} repeat the call before"
    again = statistics.observed_again
    if again.count:
        details += f"; {again.count} events observe a call again and are no calls"
    both = Evidence(
        (*statistics.repeats.places, *again.places)[:MAX_PLACES],
        statistics.repeats.count + again.count,
    )
    return Measured(statistics.consecutive_repeats, details, both)


def _trajectory_efficiency(given: GraderInput) -> Outcome:
    """Divide the number of distinct tool names by the number of calls.

    Unit: ratio, above 0 and at most 1. Higher is better.
    Unavailable: `no-tool-calls`, when no call was observed.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4.
    """
    statistics = given.lookups.statistics
    if not statistics.tool_calls:
        return NO_TOOL_CALLS
    details = f"{counted(statistics.distinct_tool_names, 'distinct tool')} in {counted(statistics.tool_calls, 'call')}"
    return Measured(min(1, statistics.distinct_tool_names / statistics.tool_calls), details)


GRADERS: Final = (
    GraderSpec(
        id="loops",
        name="Loops",
        summary="Consecutive calls with identical tool names and arguments",
        formula="number of calls whose name and arguments equal those of the call just before",
        reading="5 means that five times the agent made the very call it had just made.",
        example="calls a a a b a: the second and third a repeat the one before, 2",
        evidence="the agent or the gateway was observed",
        unit="count",
        direction=LOWER,
        threshold=3,
        compute=_loops,
        cost="O(1), over lookups that are already built",
    ),
    GraderSpec(
        id="trajectory-efficiency",
        name="Trajectory Efficiency",
        summary="Distinct tool names / total calls",
        formula="min(1, distinct tool names / calls)",
        reading="0.1 means that ten calls were made for every distinct tool.",
        example="calls view, view, edit: 2 / 3 = 0.667",
        evidence="at least one tool call",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_trajectory_efficiency,
        cost="O(1), over lookups that are already built",
    ),
)
