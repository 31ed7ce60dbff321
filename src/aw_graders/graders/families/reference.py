"""How near a run came to a reference recorded in its session."""

import math
from collections.abc import Mapping
from typing import Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.graders.model import HIGHER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import (
    Record,
    bounded,
    give_up,
    index,
    malformed_reference,
    not_applicable,
    only_records,
    records,
    reference_list,
    text,
)
from aw_graders.graders.warping import warping_distance
from aw_graders.lookups.trajectory import EVENTS, STATES, TOOL_CALLS, Trajectory

_STATE_CHANGE: Final = "state_change"


# --- tool-wise-score ---------------------------------------------------------


def _is_call(entry: JsonValue) -> bool:
    if not isinstance(entry, Mapping) or text(entry.get("name")) is None:
        return False
    arguments = entry.get("arguments")
    return arguments is None or isinstance(arguments, Mapping)


def _observed_calls(trajectory: Trajectory) -> list[Record]:
    """Read the observed calls in the order of their events, or in list order without any."""
    found = records(trajectory, TOOL_CALLS)
    if not all(map(_is_call, found)):
        give_up("malformed-tool-calls", "a tool call has no name or odd arguments")
    keyed = [(index(call.get("eventIndex")), call) for call in found]
    known = [(at, call) for at, call in keyed if at is not None]
    if len(known) == len(keyed):
        known.sort(key=lambda item: item[0])
        return [call for _, call in known]
    if known:
        give_up(
            "malformed-tool-calls", 'some tool calls have a valid "eventIndex" and some have none'
        )
    return found


def _agreement(wanted: Record, observed: Record) -> float:
    """Give the share of the reference's arguments that were given with equal values."""
    arguments, given = wanted.get("arguments"), observed.get("arguments")
    if not isinstance(arguments, Mapping) or not arguments:
        return 1
    if not isinstance(given, Mapping):
        return 0
    equal = sum(
        key in given and _json.canonical(given[key]) == _json.canonical(value)
        for key, value in arguments.items()
    )
    return equal / len(arguments)


@bounded
def _tool_wise_score(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Credit the calls that agree with the reference's, from the start to the first other tool."""
    listed = reference_list(trajectory, TOOL_CALLS)
    wanted = only_records(listed)
    if len(wanted) < len(listed) or not all(map(_is_call, wanted)):
        malformed_reference(trajectory, "a call of the reference has no name or odd arguments")
    earned: list[float] = []
    for call, observed in zip(wanted, _observed_calls(trajectory), strict=False):
        if call["name"] != observed["name"]:
            break
        earned.append((1 + _agreement(call, observed)) / 2)
    details = f"{len(earned)} of {len(wanted)} reference calls were made in order"
    return Measured(math.fsum(earned) / len(wanted), details)


# --- trajectory-ndtw -----------------------------------------------------------


@bounded
def _ndtw(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Warp the path of states onto the reference's and scale the distance by its length."""
    wanted = [text(state) for state in reference_list(trajectory, STATES)]
    if None in wanted:
        malformed_reference(trajectory, "a state of the reference is no text")
    changes = [
        text(event.get("ref"))
        for event in records(trajectory, EVENTS, recorded=True)
        if event.get("kind") == _STATE_CHANGE
    ]
    if not changes:
        return not_applicable("no event is a change of state")
    if None in changes:
        give_up("malformed-events", 'a change of state has no "ref"')
    distance = warping_distance(
        [state for state in changes if state is not None],
        [state for state in wanted if state is not None],
    )
    details = f"{len(changes)} states are {distance} steps from {len(wanted)} of the reference"
    return Measured(min(1, max(0, math.exp(-distance / len(wanted)))), details)


GRADERS: Final = (
    GraderSpec(
        id="tool-wise-score",
        name="Tool-Wise Score",
        summary="Calls made as in the reference, from the start / reference calls",
        formula="sum of (1 + share of equal arguments) / 2 while names match, / reference calls",
        reading="0.6 means that the run followed the reference for more than half of it and then took another way.",
        example="reference view(path=a), edit; run view(path=a), grep: (1 + 1) / 2 / 2 = 0.5",
        evidence="reference.toolCalls in trajectory.evidence events, and tool calls",
        unavailable="without reference calls or tool calls; when a call has no name or odd arguments; when some calls have an eventIndex and some have none",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_tool_wise_score,
        default=False,
        needs_events=True,
        cost="O(calls)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: He et al., TRAJECT-Bench: A trajectory-aware benchmark for evaluating agentic tool use, 2025",
    ),
    GraderSpec(
        id="trajectory-ndtw",
        name="Trajectory nDTW",
        summary="Likeness of the path of states to the reference's",
        formula="exp(-DTW distance / length of the reference)",
        reading="1 means that the run went the way of the reference; 0.37 that it was off by as many steps as the reference has.",
        example="path A C, reference A B: distance 1, exp(-1 / 2) = 0.607",
        evidence="reference.states and state_change events in trajectory.evidence events",
        unavailable="without reference states, or when one is no text; without recorded events, when one is no object, or none is a state_change with a ref",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_ndtw,
        default=False,
        needs_events=True,
        cost="O(path x reference), at most 25 million cells",
        source="Ilharco et al., General evaluation for instruction conditioned navigation, 2019",
    ),
)
