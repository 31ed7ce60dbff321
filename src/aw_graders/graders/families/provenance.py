"""Whether what the run did and delivered can be traced to what it was told by its tools."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from aw_graders.graders.model import HIGHER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import (
    bounded,
    entries,
    give_up,
    is_consumed,
    labels,
    not_applicable,
    only_records,
    records,
    text,
)
from aw_graders.lookups.trajectory import (
    ACTIONS,
    EVENTS,
    OBSERVATIONS,
    PROVENANCE_EDGES,
    TOOL_CALLS,
    Trajectory,
)

_SAFE_OUTPUT: Final = "safe_output"
_SOURCE: Final = "W3C PROV-DM, 2013; trajectory catalogue of the Graders Specification 0.5.0"


def _ids(trajectory: Trajectory, name: str) -> set[str]:
    found = (text(record.get("id")) for record in only_records(entries(trajectory, name)))
    return {id_ for id_ in found if id_ is not None}


def _traceable(trajectory: Trajectory) -> set[str]:
    """Find every id that provenance edges lead to from a tool call or an observation.

    Cost: O(calls + observations + edges).
    """
    following: dict[str, list[str]] = {}
    for edge in only_records(entries(trajectory, PROVENANCE_EDGES)):
        start, end = text(edge.get("from")), text(edge.get("to"))
        if start is not None and end is not None:
            following.setdefault(start, []).append(end)
    reached = _ids(trajectory, TOOL_CALLS) | _ids(trajectory, OBSERVATIONS)
    waiting = deque(reached)
    while waiting:
        for end in following.get(waiting.popleft(), ()):
            if end not in reached:
                reached.add(end)
                waiting.append(end)
    return reached


def _share(ids: Iterable[str], reached: set[str], what: str) -> Outcome:
    listed = list(ids)
    lost = [id_ for id_ in listed if id_ not in reached]
    details = f"{len(listed) - len(lost)} of {len(listed)} {what} trace to a call or observation"
    if lost:
        details += f"; untraced: {labels(lost)}"
    return Measured((len(listed) - len(lost)) / len(listed), details)


@bounded
def _consumption(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the observations of tools that an action used by all observations of tools."""
    found = only_records(entries(trajectory, OBSERVATIONS))
    calls = _ids(trajectory, TOOL_CALLS)
    told = [record for record in found if text(record.get("sourceToolCallId")) in calls]
    if not told:
        return not_applicable("no observation comes from a tool call")
    used = sum(map(is_consumed, told))
    return Measured(used / len(told), f"{used} of {len(told)} tool outputs were used by an action")


@bounded
def _lineage(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the outputs that trace to a tool call or an observation by all outputs."""
    events = only_records(entries(trajectory, EVENTS, recorded=True))
    reached = _traceable(trajectory)
    outputs = [text(event.get("ref")) for event in events if event.get("kind") == _SAFE_OUTPUT]
    if not outputs:
        return not_applicable("the run made no output")
    if None in outputs:
        give_up("malformed-events", 'an output has no "ref" by which it could be traced')
    return _share([ref for ref in outputs if ref is not None], reached, "outputs")


@bounded
def _action_provenance(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the consequential actions that trace to a call or observation by all of them."""
    actions = records(trajectory, ACTIONS)
    reached = _traceable(trajectory)
    if not all(isinstance(action.get("consequential"), bool) for action in actions):
        give_up("malformed-actions", 'an action has no "consequential" true or false')
    ids = [text(action.get("id")) for action in actions if action.get("consequential") is True]
    if not ids:
        return not_applicable("no action is consequential")
    if None in ids:
        give_up("malformed-actions", "a consequential action has no id")
    return _share([id_ for id_ in ids if id_ is not None], reached, "consequential actions")


GRADERS: Final = (
    GraderSpec(
        id="tool-output-consumption-rate",
        name="Tool Output Consumption Rate",
        summary="Tool outputs that an action used / all tool outputs",
        formula="observations of tools with a consuming action / observations of tools",
        reading="0.4 means that the run used four of ten tool outputs for something; the others were read for nothing.",
        example="2 observations of tools, one named by an action: 1 / 2 = 0.5",
        evidence="observations in trajectory.evidence events, and tool calls",
        unavailable="without observations or tool calls; when no observation names a tool call",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_consumption,
        default=False,
        needs_events=True,
        cost="O(observations + calls)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="end-to-end-lineage-completeness",
        name="End-to-End Lineage Completeness",
        summary="Outputs that trace to a tool call or observation / all outputs",
        formula="safe_output events reached by provenance edges from calls and observations / all",
        reading="1 means that everything the run delivered can be traced to something a tool told it.",
        example="outputs x (reached from observation o) and y (reached from nothing): 1 / 2 = 0.5",
        evidence="events, provenanceEdges, toolCalls and observations in trajectory.evidence events",
        unavailable="without recorded events, provenance edges, tool calls or observations; when no event is a safe output, or one has no ref",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_lineage,
        default=False,
        needs_events=True,
        cost="O(events + edges)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="action-provenance-coverage",
        name="Action Provenance Coverage",
        summary="Consequential actions that trace to a call or observation / all of them",
        formula="consequential actions reached by provenance edges / consequential actions",
        reading="0.5 means that half of the actions that mattered rest on no observation.",
        example="consequential actions a (from observation o) and b (from nothing): 1 / 2 = 0.5",
        evidence="actions, provenanceEdges, toolCalls and observations in trajectory.evidence events",
        unavailable="without actions, provenance edges, tool calls or observations; when an action does not say whether it is consequential; when none is, or one of these has no id",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_action_provenance,
        default=False,
        needs_events=True,
        cost="O(actions + edges)",
        source=_SOURCE,
    ),
)
