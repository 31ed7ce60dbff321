"""Sequences of events that take little more memory than the text of the events.

An event as an object takes 400 bytes besides its text. Here it is made when it is looked at.
"""

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import eq
from typing import Final, Generic, TypeVar, cast, overload

from aw_graders.session.model import Event, Provenance

_Name = TypeVar("_Name")
_CHUNK_BYTES: Final = 1 << 22
# Numbers that tell where an event stands: kind, source, piece, start, and the lengths of its texts.
_SIZES: Final = 7
_PART_SHIFT: Final = 40
_PLACE_MASK: Final = (1 << _PART_SHIFT) - 1


class _Events(Sequence[Event]):
    """What all such sequences have in common; equal to any sequence of equal events."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _at(self, position: int) -> Event:
        """Make the event at a position that is in range."""

    @overload
    def __getitem__(self, position: int) -> Event: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Event, ...]: ...
    def __getitem__(self, position: int | slice) -> Event | tuple[Event, ...]:
        """Make one event, or several."""
        if isinstance(position, slice):
            return tuple(map(self._at, range(*position.indices(len(self)))))
        at = position + len(self) if position < 0 else position
        if not 0 <= at < len(self):
            msg = "event position out of range"
            raise IndexError(msg)
        return self._at(at)

    def __eq__(self, other: object) -> bool:
        """Compare event by event."""
        if not isinstance(other, Sequence):
            return NotImplemented
        its = cast("Sequence[object]", other)
        return len(self) == len(its) and all(map(eq, self, its))

    def __iter__(self) -> Iterator[Event]:
        """Make one event after the other."""
        return map(self._at, range(len(self)))


class Packed(_Events):
    """Events that are added one by one; their text stands in a few large pieces.

    Cost: 36 bytes an event besides its text.
    """

    __slots__ = ("_chunks", "_kinds", "_numbers", "_open", "_sizes", "_sources")

    def __init__(self) -> None:
        """Begin without events."""
        self._chunks: list[bytes | bytearray] = []
        self._open = bytearray()
        self._kinds = _Names[str]()
        self._sources = _Names[tuple[str, str, str]]()
        # Of each event its index in its source, and as many numbers as `append` adds.
        self._numbers = array("Q")
        self._sizes = array("I")

    def __len__(self) -> int:
        """Count the events."""
        return len(self._numbers)

    def append(self, event: Event) -> None:
        """Add an event behind the others."""
        if not self._chunks or len(self._open) >= _CHUNK_BYTES:
            if self._chunks:
                self._chunks[-1] = bytes(self._open)
            self._open = bytearray()
            self._chunks.append(self._open)
        place = event.provenance
        texts = (event.data_json, event.rest_json, place.rest_json)
        self._numbers.append(place.index)
        self._sizes.extend(
            (
                self._kinds.number(event.type),
                self._sources.number((place.component, place.phase, place.path)),
                len(self._chunks) - 1,
                len(self._open),
                *map(len, texts),
            )
        )
        for text in texts:
            self._open += text

    def _at(self, position: int) -> Event:
        first = position * _SIZES
        kind, source, chunk, start, data, rest, more = self._sizes[first : first + _SIZES]
        text = self._chunks[chunk]
        after_data = start + data
        after_rest = after_data + rest
        place = Provenance(
            *self._sources.names[source],
            self._numbers[position],
            bytes(text[after_rest : after_rest + more]),
        )
        return Event(
            self._kinds.names[kind],
            place,
            bytes(text[start:after_data]),
            bytes(text[after_data:after_rest]),
        )


class _Names(Generic[_Name]):
    """Numbers for names, in the order in which they were first met."""

    __slots__ = ("_numbers", "names")

    def __init__(self) -> None:
        """Begin without names."""
        self.names: list[_Name] = []
        self._numbers: dict[_Name, int] = {}

    def number(self, name: _Name) -> int:
        """Give a name its number."""
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


class Arranged(_Events):
    """Some events of several sequences, in an order of their own.

    Cost: 8 bytes an event besides the sequences.
    """

    __slots__ = ("parts", "places")

    def __init__(self, parts: Sequence[Sequence[Event]], places: "array[int]") -> None:
        """Take the sequences, and for each event the number of its sequence and its position there."""
        self.parts = parts
        self.places = places

    def __len__(self) -> int:
        """Count the events."""
        return len(self.places)

    def _at(self, position: int) -> Event:
        place = self.places[position]
        return self.parts[place >> _PART_SHIFT][place & _PLACE_MASK]


class _Replaced(_Events):
    """Events of which a few were replaced."""

    __slots__ = ("_changes", "_events")

    def __init__(self, events: Sequence[Event], changes: Mapping[int, Event]) -> None:
        """Take the events, and the others by their position."""
        self._events = events
        self._changes = changes

    def __len__(self) -> int:
        """Count the events."""
        return len(self._events)

    def _at(self, position: int) -> Event:
        changed = self._changes.get(position)
        return self._events[position] if changed is None else changed


def joined(*parts: Sequence[Event]) -> Sequence[Event]:
    """Put sequences one behind the other, without copying an event.

    Cost: 8 bytes an event.
    """
    bases: list[Sequence[Event]] = []
    places = array("Q")
    for part in parts:
        first = len(bases) << _PART_SHIFT
        if isinstance(part, Arranged):
            bases += part.parts
            places.extend(first + place for place in part.places)
        else:
            bases.append(part)
            places.extend(range(first, first + len(part)))
    return Arranged(bases, places)


def selected(events: Sequence[Event], positions: Iterable[int]) -> Sequence[Event]:
    """Take the events at some positions, in that order; of events that are objects, themselves.

    Cost: 8 bytes an event.
    """
    if isinstance(events, Arranged):
        places = events.places
        return Arranged(events.parts, array("Q", (places[position] for position in positions)))
    if isinstance(events, _Events):
        return Arranged((events,), array("Q", positions))
    return tuple(events[position] for position in positions)


def replaced(events: Sequence[Event], changes: Mapping[int, Event]) -> Sequence[Event]:
    """Put other events into some places.

    Cost: O(changes), or O(events) of those that are objects.
    """
    if not changes:
        return events
    if isinstance(events, _Events):
        return _Replaced(events, changes)
    return tuple(changes.get(position, event) for position, event in enumerate(events))
