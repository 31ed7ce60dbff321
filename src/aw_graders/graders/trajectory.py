"""What the families of trajectory graders share: asking for collections, and reading entries.

Every one of them answers `Unavailable` before any work when a collection is over the bound.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Final, NoReturn, TypeAlias, cast

from aw_graders._json import JsonValue
from aw_graders.graders.model import GraderInput, Outcome, Unavailable
from aw_graders.lookups import Evidence
from aw_graders.lookups.places import MAX_PLACES, Place
from aw_graders.lookups.trajectory import EVENTS, MAX_ENTRIES, REFERENCE, Trajectory
from aw_graders.session.limits import MAX_SAFE_INTEGER

Record: TypeAlias = Mapping[str, JsonValue]
_Compute: TypeAlias = Callable[[GraderInput, Trajectory], Outcome]
_MAX_LABELS: Final = 5

TOOL_CALL: Final = "tool_call"
_HOW: Final = 'record it in a "trajectory.evidence" event'


class MissingError(Exception):
    """Evidence that a grader needs and the session does not hold."""

    def __init__(self, outcome: Unavailable) -> None:
        """Keep the outcome; `bounded` turns it into the grader's answer."""
        super().__init__(outcome.reason)
        self.outcome = outcome


def bounded(compute: _Compute) -> Callable[[GraderInput], Outcome]:
    """Make a grader's function of one that takes the trajectory, too.

    The bound is checked first; evidence that is asked for and missing ends the computation.
    """

    @wraps(compute)
    def measured(given: GraderInput) -> Outcome:
        trajectory = given.lookups.trajectory
        name = trajectory.oversized
        if name is not None:
            return Unavailable(
                "too-many-entries",
                f'"{name}" has more than {MAX_ENTRIES} entries; trajectory graders stop there',
            )
        try:
            return compute(given, trajectory)
        except MissingError as missing:
            return missing.outcome

    return measured


def give_up(reason: str, message: str) -> NoReturn:
    """End a computation because evidence is missing or malformed."""
    raise MissingError(Unavailable(reason, message))


def not_applicable(message: str) -> Unavailable:
    """Answer that the evidence is there and holds nothing to measure."""
    return Unavailable("nothing-to-measure", message)


def entries(trajectory: Trajectory, name: str, *, recorded: bool = False) -> tuple[JsonValue, ...]:
    """Return the entries of a collection.

    Takes: `recorded`, that a projection of the session will not do.
    Raises: MissingError when it is missing, or is not a list.
    Source: decision 45, which says for whom what is projected.
    """
    found = trajectory.recorded(name) if recorded else trajectory.entries(name)
    if found is not None:
        return found
    place = trajectory.malformed.get(name)
    if place is not None:
        message = f'"{name}" is no list ({spelled(place)})'
        give_up(f"malformed-{_kebab(name)}", message)
    give_up(f"no-{_kebab(name)}", f'the session has no "{name}"; {_HOW}')


def records(trajectory: Trajectory, name: str, *, recorded: bool = False) -> list[Record]:
    """Return the entries of a collection, every one of which has to be an object.

    Raises: MissingError that names the first entry which is none.
    """
    found: list[Record] = []
    for position, entry in enumerate(entries(trajectory, name, recorded=recorded)):
        if not isinstance(entry, Mapping):
            give_up(f"malformed-{_kebab(name)}", f'entry {position} of "{name}" is no object')
        found.append(entry)
    return found


def only_records(found: Sequence[JsonValue]) -> list[Record]:
    """Keep the entries that are objects."""
    return [entry for entry in found if isinstance(entry, Mapping)]


def text(value: JsonValue) -> str | None:
    """Return `value` when it is text that is not empty."""
    return value if isinstance(value, str) and value else None


def index(value: JsonValue) -> int | None:
    """Return `value` when it is an index: a JSON number that is a safe integer from 0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_SAFE_INTEGER else None


def labels(found: Sequence[str]) -> str:
    """List the first few labels."""
    shown = ", ".join(found[:_MAX_LABELS])
    more = len(found) - _MAX_LABELS
    return f"{shown} and {more} more" if more > 0 else shown


def as_list(value: JsonValue) -> Sequence[JsonValue] | None:
    """Return `value` when it is a list."""
    return cast("Sequence[JsonValue]", value) if isinstance(value, list | tuple) else None


def _kebab(name: str) -> str:
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in name)


def satisfied_at(objective: Record) -> int | None:
    """Return the index at which an objective was met, None when it never was.

    Raises: MissingError for an index that is none, in whichever grader.
    """
    recorded = objective.get("satisfiedAtEventIndex")
    if recorded is None:
        return None
    found = index(recorded)
    if found is None:
        give_up("malformed-objectives", '"satisfiedAtEventIndex" of an objective is no index')
    return found


def is_consumed(observation: Record) -> bool:
    """Tell whether an observation names an action that used it."""
    users = as_list(observation.get("consumedByActionIds"))
    return users is not None and any(text(user) is not None for user in users)


def spelled(place: Place | None) -> str:
    """Say where an event stands."""
    return "place unknown" if place is None else f"{place.path}, index {place.index}"


def evidence_of(trajectory: Trajectory, name: str, positions: Iterable[int]) -> Evidence:
    """List where the entries of a collection stand, or the events that they were recorded in."""
    found = trajectory.collections[name]
    places = dict.fromkeys(
        place for position in positions if (place := found.place_of(position)) is not None
    )
    return Evidence(tuple(places)[:MAX_PLACES], len(places))


def symbols(trajectory: Trajectory) -> list[tuple[int, str]]:
    """Read the kinds of events in order of their index; a tool call is told by its tool, too.

    Returns: the position of each in the collection, and what it is.
    Raises: MissingError when there are no events.
    """
    found: list[tuple[int, int, str]] = []
    for position, entry in enumerate(entries(trajectory, EVENTS)):
        for record in only_records([entry]):
            kind, ref = text(record.get("kind")), text(record.get("ref"))
            if kind is not None:
                number = index(record.get("index"))
                symbol = f"{kind}:{ref}" if kind == TOOL_CALL and ref is not None else kind
                found.append((position if number is None else number, position, symbol))
    found.sort(key=lambda item: item[0])
    return [(position, symbol) for _, position, symbol in found]


def reference_list(trajectory: Trajectory, *keys: str) -> Sequence[JsonValue]:
    """Return a list of the reference that is not empty.

    Raises: MissingError when it was not recorded, or is malformed.
    """
    value: JsonValue = trajectory.reference
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    found = as_list(value)
    if not found:
        name = ".".join((REFERENCE, *keys))
        give_up("no-reference", f'the session has no "{name}"; {_HOW}')
    return found


def malformed_reference(trajectory: Trajectory, what: str) -> NoReturn:
    """End a computation because the reference is malformed, and say where it was recorded."""
    give_up("malformed-reference", f"{what} ({spelled(trajectory.reference_place)})")
