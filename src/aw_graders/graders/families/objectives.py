"""Whether declared objectives were met, in which order, and when the run should have stopped."""

from typing import Final

from aw_graders.graders.model import HIGHER, LOWER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import (
    Record,
    as_list,
    bounded,
    entries,
    give_up,
    index,
    labels,
    not_applicable,
    records,
    satisfied_at,
    text,
)
from aw_graders.lookups.trajectory import ACTIONS, EVENTS, OBJECTIVES, Trajectory

_EVIDENCE: Final = "objectives recorded in trajectory.evidence events"
_NONE: Final = not_applicable("no objective was declared")


def _objectives(trajectory: Trajectory) -> list[tuple[Record, int | None]]:
    """Read all objectives with the index at which each was met, None when it never was."""
    return [(record, satisfied_at(record)) for record in records(trajectory, OBJECTIVES)]


def _label(record: Record, position: int) -> str:
    return text(record.get("id")) or f"objective {position}"


def _unmet(found: list[tuple[Record, int | None]]) -> list[str]:
    return [_label(record, at) for at, (record, met) in enumerate(found) if met is None]


@bounded
def _premature_termination_gap(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Count the objectives that were never met."""
    found = _objectives(trajectory)
    if not found:
        return _NONE
    unmet = _unmet(found)
    details = f"{len(unmet)} of {len(found)} objectives were not met"
    return Measured(len(unmet), f"{details}: {labels(unmet)}" if unmet else details)


@bounded
def _objective_coverage(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the objectives that were met by all of them."""
    found = _objectives(trajectory)
    if not found:
        return _NONE
    unmet = _unmet(found)
    details = f"{len(found) - len(unmet)} of {len(found)} objectives were met"
    if unmet:
        details += f"; unmet: {labels(unmet)}"
    return Measured((len(found) - len(unmet)) / len(found), details)


@bounded
def _saturation_lag(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Count the events after the last objective was met."""
    found = _objectives(trajectory)
    indexes: list[int] = []
    for position, record in enumerate(records(trajectory, EVENTS, recorded=True)):
        number = index(record.get("index"))
        if number is None:
            give_up("malformed-events", f'event {position} has no valid "index"')
        indexes.append(number)
    if not found:
        return _NONE
    met = [at for _, at in found if at is not None]
    if len(met) < len(found):
        return not_applicable("an objective was not met, so the evidence never sufficed")
    known = set(indexes)
    if any(at not in known for at in met):
        give_up("malformed-objectives", "an objective was met at an unknown event")
    last = max(met)
    after = sum(number > last for number in indexes)
    return Measured(after, f"{after} events after index {last}, where the last objective was met")


@bounded
def _dependency_violations(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the met objectives that came before a prerequisite by all met dependent ones."""
    found = _objectives(trajectory)
    if not found:
        return _NONE
    met_at: dict[str, int | None] = {}
    needs: dict[str, list[str]] = {}
    for record, at in found:
        id_ = text(record.get("id"))
        if id_ is None or id_ in met_at:
            give_up("malformed-objectives", "an objective has no id of its own")
        met_at[id_] = at
        needs[id_] = _prerequisites(id_, record)
    if any(need not in met_at for listed in needs.values() for need in listed):
        give_up("malformed-objectives", "an objective depends on an unknown one")
    dependents = [id_ for id_, listed in needs.items() if listed]
    if not dependents:
        return not_applicable("no objective depends on another")
    completed = [id_ for id_ in dependents if met_at[id_] is not None]
    if not completed:
        return not_applicable("no dependent objective was met")
    violated = [id_ for id_ in completed if _is_violated(met_at, id_, needs[id_])]
    details = f"{len(violated)} of {len(completed)} met objectives came before what they need"
    if violated:
        details += f": {labels(violated)}"
    return Measured(len(violated) / len(completed), details)


def _prerequisites(id_: str, record: Record) -> list[str]:
    if "dependsOn" not in record:
        return []
    listed = as_list(record["dependsOn"])
    if listed is None:
        give_up("malformed-objectives", f'"dependsOn" of objective {id_} is no list')
    return [need if isinstance(need, str) else "" for need in listed]


def _is_violated(met_at: dict[str, int | None], id_: str, needs: list[str]) -> bool:
    own = met_at[id_]
    return own is not None and any(
        (before := met_at[need]) is None or before > own for need in needs
    )


@bounded
def _grounding_accuracy(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the actions that were valid when they were issued by all actions."""
    if not entries(trajectory, ACTIONS):
        return not_applicable("no action was recorded")
    found = records(trajectory, ACTIONS)
    valid = [record.get("validAtIssueTime") for record in found]
    if not all(isinstance(is_valid, bool) for is_valid in valid):
        give_up("malformed-actions", 'an action has no "validAtIssueTime" that is true or false')
    count = sum(is_valid is True for is_valid in valid)
    return Measured(count / len(found), f"{count} of {len(found)} actions were valid when issued")


GRADERS: Final = (
    GraderSpec(
        id="premature-termination-gap",
        name="Premature Termination Gap",
        summary="Objectives that were not met",
        formula="number of objectives without satisfiedAtEventIndex",
        reading="2 means that the run ended with two objectives open.",
        example="objectives p (met) and q (not met): 1",
        evidence=_EVIDENCE,
        unavailable="without objectives; when one is no object, or was met at an index that is none",
        unit="count",
        direction=LOWER,
        minimum=0,
        compute=_premature_termination_gap,
        default=False,
        needs_events=True,
        cost="O(objectives)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: premature termination in Cemri et al., Why do multi-agent LLM systems fail?, 2025",
    ),
    GraderSpec(
        id="evidence-saturation-stopping-lag",
        name="Evidence Saturation Stopping Lag",
        summary="Events after the last objective was met",
        formula="number of events whose index is over the largest satisfiedAtEventIndex",
        reading="30 means that thirty events followed after all that was asked for had been met.",
        example="objectives met at 3 and 5, events 0 to 9: 6, 7, 8 and 9 follow, 4",
        evidence=f"{_EVIDENCE}, and events with indexes",
        unavailable="without objectives or recorded events; when an objective was not met; when an event has no valid index, or an objective was met at an index that no event has",
        unit="count",
        direction=LOWER,
        minimum=0,
        compute=_saturation_lag,
        default=False,
        needs_events=True,
        cost="O(objectives + events)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: unawareness of termination in Cemri et al., Why do multi-agent LLM systems fail?, 2025",
    ),
    GraderSpec(
        id="dependency-order-violation-rate",
        name="Dependency Order Violation Rate",
        summary="Objectives met before their prerequisites / met dependent objectives",
        formula="met dependent objectives with a prerequisite unmet or met later / all of them",
        reading="0.25 means that one in four dependent objectives was met before what it needs.",
        example="q needs p; q met at 2, p at 4: 1 / 1 = 1",
        evidence=f"{_EVIDENCE}, with dependsOn",
        unavailable="without objectives; when one has no id of its own, dependsOn that are no list, or an unknown prerequisite; when none depends on another, or none that does was met",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_dependency_violations,
        default=False,
        needs_events=True,
        cost="O(objectives + dependencies)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: order satisfaction in He et al., TRAJECT-Bench, 2025",
    ),
    GraderSpec(
        id="objective-coverage",
        name="Objective Coverage",
        summary="Objectives that were met / all objectives",
        formula="objectives with satisfiedAtEventIndex / objectives",
        reading="0.75 means that three of four objectives were met.",
        example="objectives p (met) and q (not met): 1 / 2 = 0.5",
        evidence=_EVIDENCE,
        unavailable="without objectives; when one is no object, or was met at an index that is none",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_objective_coverage,
        default=False,
        needs_events=True,
        cost="O(objectives)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: progress rate in Ma et al., AgentBoard: An analytical evaluation board of multi-turn LLM agents, 2024",
    ),
    GraderSpec(
        id="grounding-accuracy",
        name="Grounding Accuracy",
        summary="Actions that were valid when issued / all actions",
        formula="actions with validAtIssueTime true / actions",
        reading="0.9 means that one in ten actions was already invalid when it was issued.",
        example="actions valid, valid, invalid, valid: 3 / 4 = 0.75",
        evidence="actions recorded in trajectory.evidence events",
        unavailable="without actions; when one does not say whether it was valid",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_grounding_accuracy,
        default=False,
        needs_events=True,
        cost="O(actions)",
        source="formula: trajectory catalogue of the Graders Specification 0.5.0, section 4; idea: grounding accuracy in Ma et al., AgentBoard: An analytical evaluation board of multi-turn LLM agents, 2024",
    ),
)
