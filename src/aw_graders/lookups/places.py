"""Where the events stand that decided a number."""

from typing import Final

import msgspec

# How many places of deciding events a result lists; the count of all of them stands beside.
MAX_PLACES: Final = 20


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where an event stands: the path of its source and its index in that source."""

    path: str
    index: int


class Evidence(msgspec.Struct, frozen=True):
    """The first places of the events that decided a number, and how many there are in all."""

    places: tuple[Place, ...] = ()
    count: int = 0
