"""Whether a run that failed its objectives looked around too little, or used too little of it."""

from collections.abc import Sequence
from typing import Final

from aw_graders._json import JsonValue
from aw_graders.graders.model import LOWER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import (
    Record,
    bounded,
    entries,
    give_up,
    is_consumed,
    not_applicable,
    only_records,
    satisfied_at,
    text,
)
from aw_graders.lookups.trajectory import EVENTS, OBJECTIVES, OBSERVATIONS, STATES, Trajectory

_STATE_CHANGE: Final = "state_change"
_ALL_MET: Final = Measured(0, "every objective was met")


def _distinct_states(trajectory: Trajectory) -> int:
    """Count the states that were changed to, or visited when no event says a change.

    Raises: MissingError when the session tells of no state.
    """
    changes = {
        ref
        for record in only_records(trajectory.recorded(EVENTS) or ())
        if record.get("kind") == _STATE_CHANGE and (ref := text(record.get("ref"))) is not None
    }
    if changes:
        return len(changes)
    visited = {
        id_ for entry in trajectory.recorded(STATES) or () if (id_ := _id(entry)) is not None
    }
    if not visited:
        give_up("no-states", 'no state was recorded, neither in "events" nor in "states"')
    return len(visited)


def _id(entry: JsonValue) -> str | None:
    for record in only_records([entry]):
        return text(record.get("id"))
    return text(entry)


def _all_met(trajectory: Trajectory) -> bool:
    """Tell whether every objective was met. Raises MissingError when there is none."""
    found = only_records(entries(trajectory, OBJECTIVES))
    if not found:
        give_up("no-objectives", "no objective was declared")
    # Every one is looked at: a malformed index spoils the answer wherever it stands.
    return None not in [satisfied_at(record) for record in found]


def _observations(trajectory: Trajectory) -> Sequence[Record]:
    return only_records(entries(trajectory, OBSERVATIONS))


@bounded
def _exploration_error(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Tell which share of the states was never observed, when an objective was not met."""
    if _all_met(trajectory):
        return _ALL_MET
    states, seen = _distinct_states(trajectory), len(_observations(trajectory))
    details = f"{seen} observations of {states} distinct states"
    return Measured(min(1, max(0, 1 - seen / states)), details)


@bounded
def _exploitation_error(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Tell which share of the observations was not used, when an objective was not met."""
    if _all_met(trajectory):
        return _ALL_MET
    states, found = _distinct_states(trajectory), _observations(trajectory)
    if not found:
        return not_applicable("nothing was observed")
    if len(found) < states:
        return not_applicable("fewer observations than states: too little was explored")
    unused = sum(not is_consumed(record) for record in found)
    return Measured(unused / len(found), f"{unused} of {len(found)} observations were not used")


GRADERS: Final = (
    GraderSpec(
        id="exploration-error",
        name="Exploration Error",
        summary="Share of states never observed, when an objective was not met",
        formula="0 when all objectives are met, else 1 - observations / distinct states, 0 to 1",
        reading="0.6 means that the run failed an objective and had looked at four of ten states.",
        example="1 objective unmet, 2 observations, 5 distinct states: 1 - 2 / 5 = 0.6",
        evidence="objectives, observations and states in trajectory.evidence events",
        unavailable="without objectives; when one was met at an index that is none; when one was not met and there are no observations, or no state was recorded",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_exploration_error,
        default=False,
        needs_events=True,
        cost="O(events + states + observations)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: Exploration and exploitation errors are measurable for language model agents, 2026 (arXiv 2604.13151)",
    ),
    GraderSpec(
        id="exploitation-error",
        name="Exploitation Error",
        summary="Share of observations not used, when an objective was not met",
        formula="0 when all objectives are met, else observations without a consumer / observations",
        reading="0.6 means that the run failed an objective though it had looked, and used four of ten observations.",
        example="1 objective unmet, 5 observations of 3 states, 2 of them used: 3 / 5 = 0.6",
        evidence="objectives, observations and states in trajectory.evidence events",
        unavailable="as for exploration-error; when an objective was not met and nothing was observed, or less often than there are distinct states",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_exploitation_error,
        default=False,
        needs_events=True,
        cost="O(events + states + observations)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: Exploration and exploitation errors are measurable for language model agents, 2026 (arXiv 2604.13151)",
    ),
)
