"""Whether a run went the way that a recorded process allows."""

from collections.abc import Sequence
from typing import Final

from aw_graders.graders.alignment import align
from aw_graders.graders.allowed import Process, allowed_process, kind_of
from aw_graders.graders.model import HIGHER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import bounded, evidence_of, not_applicable, symbols
from aw_graders.lookups.trajectory import EVENTS, Trajectory

_Symbols = Sequence[tuple[int, str]]


def _costs(process: Process, found: _Symbols) -> tuple[int, int, list[int]]:
    """Align each part of a process with the events that concern it.

    Returns: the costs of the optimal and of the worst alignment, and the positions of events that
    the optimal one leaves out.
    """
    cost, worst, extra = 0, len(found), list[int]()
    for part in process.parts:
        events = [item for item in found if not process.is_open or item[1] in part.activities]
        aligned = align(part, [symbol for _, symbol in events])
        cost += aligned.cost
        worst += aligned.shortest
        extra += [events[at][0] for at in aligned.extra]
    return cost, worst, sorted(extra)


@bounded
def _alignment_fitness(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Subtract from 1 the cost of the optimal alignment / the cost of the worst one.

    Counts: events of the kinds that the process names, in order of their index. An event that the
    process does not allow at its place costs 1, a step of the process that was not done costs 1.
    The worst alignment leaves out all events and puts in the shortest allowed run.
    Evidence: where the events stand that one optimal alignment leaves out.
    """
    process = allowed_process(trajectory)
    found = symbols(trajectory)
    if not found:
        return not_applicable("no event was recorded")
    found = [item for item in found if kind_of(item[1]) in process.kinds]
    cost, worst, extra = _costs(process, found)
    if not worst:
        return not_applicable("no event is of a kind that the process names")
    details = (
        f"{len(extra)} of {len(found)} events are not allowed where they stand, "
        f"and {cost - len(extra)} steps of the process are missing"
    )
    return Measured(1 - cost / worst, details, evidence_of(trajectory, EVENTS, extra))


GRADERS: Final = (
    GraderSpec(
        id="process-alignment-fitness",
        name="Process Alignment Fitness",
        summary="How far the events fit a recorded process",
        formula="1 - cost of the optimal alignment / cost of the worst one",
        reading="1 means that the process allows the run as it is; 0.8 that a fifth of all that could be wrong is wrong: so many events would have to be left out, and steps put in, to make it an allowed one.",
        example="process: read, then edit, then test; run: read edit edit: one edit too many and no test, 2 / (3 + 3), 1 - 2 / 6 = 0.667",
        evidence="reference.process in trajectory.evidence events, and events: recorded, or calls, observations, messages and outputs",
        unavailable="without a reference process, or with one that is malformed, allows nothing or everything, has more than 100 constraints or needs more than 256 states; without events; when no event is of a kind that the process names and it allows doing nothing",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_alignment_fitness,
        default=False,
        needs_events=True,
        cost="O(events x states), times the states that one activity leads to; exact",
        source="van der Aalst, Adriansyah and van Dongen, Replaying history on process models, 2012; de Leoni, Maggi and van der Aalst, Aligning event logs and declarative process models, 2012; ADR 6",
    ),
)
