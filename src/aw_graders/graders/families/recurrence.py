"""How often and in which way a trajectory comes back to states it has visited.

All measures of categorical recurrence are counted from how often states, pairs and triples of
neighbours stand in the sequence, and from its runs; no matrix is made.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final

from aw_graders.graders.model import LOWER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import (
    bounded,
    entries,
    index,
    not_applicable,
    only_records,
    text,
)
from aw_graders.lookups import Evidence
from aw_graders.lookups.trajectory import EVENTS, STATES, Trajectory

_SOURCE: Final = "Marwan et al., Recurrence plots for the analysis of complex systems, 2007"
# Below this, runs along diagonals and columns say nothing yet.
_MIN_VISITS: Final = 4
_MIN_RUN: Final = 2
_EVIDENCE: Final = "state visits: recorded, or one for each tool call"


def state_sequence(trajectory: Trajectory) -> list[str]:
    """Read the ids of the visited states, in the order of their first events.

    A record is placed by the position of the event that its `firstEventIndex` names, else by that
    index itself, else by its own position, as a bare id is.
    """
    positions: dict[int, int] = {}
    for position, event in enumerate(trajectory.recorded(EVENTS) or ()):
        number = index(event.get("index")) if isinstance(event, Mapping) else None
        if number is not None:
            positions.setdefault(number, position)
    visits: list[tuple[int, str]] = []
    for position, entry in enumerate(entries(trajectory, STATES)):
        if isinstance(entry, str):
            visits += [(position, entry)] if entry else []
            continue
        for record in only_records([entry]):
            id_, first = text(record.get("id")), index(record.get("firstEventIndex"))
            if id_ is not None:
                visits.append((position if first is None else positions.get(first, first), id_))
    visits.sort(key=lambda visit: visit[0])
    return [id_ for _, id_ in visits]


def _pairs(counts: Iterable[int]) -> int:
    """Count the unordered pairs within groups of these sizes."""
    return sum(count * (count - 1) // 2 for count in counts)


def _visits(trajectory: Trajectory, least: int) -> list[str] | None:
    visits = state_sequence(trajectory)
    return visits if len(visits) >= least else None


def _too_few(least: int) -> Outcome:
    return not_applicable(f"fewer than {least} states were visited")


def _ratio(part: int, whole: int) -> int | float:
    """Divide; nothing of nothing is 0 here, since no state came back at all."""
    return part / whole if whole else 0


@bounded
def _revisits(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the visits to states that were visited before by all visits."""
    visits = _visits(trajectory, 2)
    if visits is None:
        return _too_few(2)
    again = len(visits) - len(set(visits))
    details = f"{again} of {len(visits)} visits come back to one of {len(set(visits))} states"
    return Measured(again / len(visits), details, _again(trajectory, visits))


def _again(trajectory: Trajectory, visits: Sequence[str]) -> Evidence:
    """List where projected states are visited again."""
    places = trajectory.collections[STATES].places
    seen: set[str] = set()
    found = [
        place
        for id_, place in zip(visits, places, strict=False)
        if id_ in seen or seen.add(id_)  # type: ignore[func-returns-value]
    ]
    return Evidence(tuple(found[:20]), len(found))


@bounded
def _recurrence_rate(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the ordered pairs of visits to one state by all ordered pairs of visits."""
    visits = _visits(trajectory, 2)
    if visits is None:
        return _too_few(2)
    total = len(visits)
    recurrent = _pairs(Counter(visits).values())
    details = f"{recurrent} of {total * (total - 1) // 2} pairs of visits are to one state"
    return Measured(2 * recurrent / (total * (total - 1)), details)


def diagonal_points(visits: Sequence[str]) -> tuple[int, int]:
    """Count recurrent pairs, and those that lie on diagonal runs of two or more.

    A pair lies on no run when neither the states before nor those after it are equal, so that the
    pairs on runs are the ones with equal neighbours before, or after, or both.
    """
    total = _pairs(Counter(visits).values())
    neighbours = _pairs(Counter(pairwise(visits)).values())
    both = _pairs(Counter(zip(visits, visits[1:], visits[2:], strict=False)).values())
    return total, 2 * neighbours - both


@bounded
def _determinism(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the recurrent pairs on diagonal runs of two or more by all recurrent pairs."""
    visits = _visits(trajectory, _MIN_VISITS)
    if visits is None:
        return _too_few(_MIN_VISITS)
    total, on_runs = diagonal_points(visits)
    details = f"{on_runs} of {total} recurrent pairs lie on diagonal runs"
    return Measured(_ratio(on_runs, total), details)


def vertical_points(visits: Sequence[str]) -> tuple[int, int, int]:
    """Count recurrent ordered pairs, those on vertical runs of two or more, and these runs.

    In the column of a visit, each run of its state elsewhere is whole, and its own run is parted by
    the visit itself.
    """
    counts = Counter(visits)
    total = 2 * _pairs(counts.values())
    on_runs = runs = 0
    for state, group in groupby(visits):
        length = sum(1 for _ in group)
        if length < _MIN_RUN:
            continue
        columns = counts[state] - length
        # Its own columns part the run in two; parts of two or more count.
        parts = max(0, length - _MIN_RUN)
        on_runs += length * columns + max(0, length * (length - 1) - 2)
        runs += columns + 2 * parts
    return total, on_runs, runs


@bounded
def _laminarity(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the recurrent pairs on vertical runs of two or more by all recurrent pairs."""
    visits = _visits(trajectory, _MIN_VISITS)
    if visits is None:
        return _too_few(_MIN_VISITS)
    total, on_runs, _runs = vertical_points(visits)
    details = f"{on_runs} of {total} recurrent pairs lie on vertical runs"
    return Measured(_ratio(on_runs, total), details)


@bounded
def _trapping_time(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Average the length of the vertical runs of two or more."""
    visits = _visits(trajectory, _MIN_VISITS)
    if visits is None:
        return _too_few(_MIN_VISITS)
    _total, on_runs, runs = vertical_points(visits)
    details = f"{runs} vertical runs of two or more"
    return Measured(_ratio(on_runs, runs), details)


GRADERS: Final = (
    GraderSpec(
        id="state-revisit-probability-rep",
        name="State Revisit Probability",
        summary="Visits to states visited before / all visits",
        formula="(N - distinct states) / N",
        reading="0.7 means that seven of ten calls asked something that had been asked before.",
        example="visits A B A A: 4 visits, 2 states, (4 - 2) / 4 = 0.5",
        evidence=_EVIDENCE,
        unavailable="with fewer than 2 visits; without states; when states were recorded as something else than a list",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_revisits,
        default=False,
        needs_events=True,
        cost="O(N)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="recurrence-rate",
        name="Recurrence Rate",
        summary="Pairs of visits to one state / all pairs of visits",
        formula="sum over states of c(c - 1), divided by N(N - 1)",
        reading="0.3 means that of two calls picked at random, three times in ten both are the same call.",
        example="visits A A B: pairs of A are 2 of 6 ordered pairs, 2 / 6 = 0.333",
        evidence=_EVIDENCE,
        unavailable="with fewer than 2 visits; without states; when states were recorded as something else than a list",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_recurrence_rate,
        default=False,
        needs_events=True,
        cost="O(N)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="recurrence-determinism",
        name="Recurrence Determinism",
        summary="Recurrent pairs on diagonal runs / all recurrent pairs",
        formula="points on diagonal runs of 2 or more / recurrent points",
        reading="0.9 means that what comes back mostly comes back in the same order: the run repeats whole passages.",
        example="visits A B A B: pairs (A,A) and (B,B) lie on one diagonal of length 2, 2 / 2 = 1",
        evidence=_EVIDENCE,
        unavailable="with fewer than 4 visits; without states; when states were recorded as something else than a list",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_determinism,
        default=False,
        needs_events=True,
        cost="O(N)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="recurrence-laminarity",
        name="Recurrence Laminarity",
        summary="Recurrent pairs on vertical runs / all recurrent pairs",
        formula="points on vertical runs of 2 or more / recurrent points",
        reading="0.9 means that what comes back mostly comes back at once: the run stays where it is.",
        example="visits A A A B: 6 recurrent ordered pairs, of which 4 lie on runs of 2, 4 / 6 = 0.667",
        evidence=_EVIDENCE,
        unavailable="with fewer than 4 visits; without states; when states were recorded as something else than a list",
        unit="ratio",
        direction=LOWER,
        minimum=0,
        maximum=1,
        compute=_laminarity,
        default=False,
        needs_events=True,
        cost="O(N)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="recurrence-trapping-time",
        name="Recurrence Trapping Time",
        summary="Mean length of vertical runs",
        formula="points on vertical runs of 2 or more / number of these runs",
        reading="4 means that a run which stays in one state stays there for about four visits more.",
        example="visits A A A B: two runs of length 2, 4 / 2 = 2",
        evidence=_EVIDENCE,
        unavailable="with fewer than 4 visits; without states; when states were recorded as something else than a list",
        unit="steps",
        direction=LOWER,
        minimum=0,
        compute=_trapping_time,
        default=False,
        needs_events=True,
        cost="O(N)",
        source=_SOURCE,
    ),
)
