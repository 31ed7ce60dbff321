"""The trajectory of a session: the collections that trajectory graders look at.

Source: Graders Specification 0.5.0, section 4; decisions 10 and 44 to 48.
"""

from bisect import bisect_right
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.lookups.places import Place

EVENTS: Final = "events"
STATES: Final = "states"
ACTIONS: Final = "actions"
TOOL_CALLS: Final = "toolCalls"
OBSERVATIONS: Final = "observations"
RESOURCES: Final = "resources"
PROVENANCE_EDGES: Final = "provenanceEdges"
OBJECTIVES: Final = "objectives"
OUTPUTS: Final = "outputs"
COLLECTIONS: Final = (
    *(EVENTS, STATES, ACTIONS, TOOL_CALLS, OBSERVATIONS, RESOURCES, PROVENANCE_EDGES),
    *(OBJECTIVES, OUTPUTS),
)
REFERENCE: Final = "reference"
PATCH: Final = "patch"
PROCESS: Final = "process"

# Decision 47: so many entries are allowed in each collection.
MAX_ENTRIES: Final = 5000


class Collection(msgspec.Struct, frozen=True):
    """The entries of one collection, and for a projected one where each of them stands.

    `pieces` tells of a recorded one how many entries stood before each event that brought some, and
    where that event stands.
    """

    entries: tuple[JsonValue, ...]
    recorded: bool
    places: tuple[Place, ...] = ()
    pieces: tuple[tuple[int, Place], ...] = ()

    def place_of(self, position: int) -> Place | None:
        """Return where the event stands that an entry was projected from, or recorded in."""
        if not self.recorded:
            return self.places[position] if position < len(self.places) else None
        piece = bisect_right(self.pieces, position, key=lambda piece: piece[0]) - 1
        return self.pieces[piece][1] if piece >= 0 else None


class Trajectory(msgspec.Struct, frozen=True):
    """The collections that a session has. One that is absent from `collections` is missing.

    `malformed` says where a collection was recorded as something else than a list; it is missing,
    too. `reference` is the latest one recorded, None when there is none, and `reference_place` is
    where its event stands.
    """

    collections: Mapping[str, Collection] = MappingProxyType({})
    malformed: Mapping[str, Place] = MappingProxyType({})
    reference: JsonValue = None
    reference_place: Place | None = None

    def entries(self, name: str) -> tuple[JsonValue, ...] | None:
        """Return the entries of a collection, or None when it is missing."""
        found = self.collections.get(name)
        return None if found is None else found.entries

    def recorded(self, name: str) -> tuple[JsonValue, ...] | None:
        """Return the entries of a recorded collection, or None when it was not recorded."""
        found = self.collections.get(name)
        return found.entries if found is not None and found.recorded else None

    @property
    def oversized(self) -> str | None:
        """Name the first collection, or list of the reference, that is over the bound.

        The projected list of tool calls is exempt: it is scanned once.
        """
        for name in COLLECTIONS:
            found = self.collections.get(name)
            is_exempt = name == TOOL_CALLS and found is not None and not found.recorded
            if found is not None and not is_exempt and len(found.entries) > MAX_ENTRIES:
                return name
        return _oversized_list(REFERENCE, self.reference)


def _oversized_list(name: str, value: JsonValue) -> str | None:
    if not isinstance(value, Mapping):
        return None
    for key, item in value.items():
        if isinstance(item, list | tuple) and len(item) > MAX_ENTRIES:
            return f"{name}.{key}"
    if name != REFERENCE:
        return None
    inner = (_oversized_list(f"{REFERENCE}.{key}", value.get(key)) for key in (PATCH, PROCESS))
    return next((found for found in inner if found is not None), None)
