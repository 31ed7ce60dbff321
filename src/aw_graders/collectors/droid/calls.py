"""Open calls of a stream whose results name them in more than one way."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aw_graders.collectors.normalise import text_of

# What a result may have in common with its call, the surest first.
_KEYS: Final = ("toolCallId", "id", "toolId", "toolName")


class Call(msgspec.Struct, frozen=True):
    """A call's id and name, as far as the stream tells."""

    call_id: str | None
    name: str | None


class OpenCalls:
    """Calls without a result so far, by everything a result may name them with."""

    def __init__(self) -> None:
        """Begin without calls."""
        self._open: dict[int, Call] = {}
        self._by: dict[tuple[str, str], deque[int]] = {}
        self._count = 0

    def begin(self, row: Mapping[str, Any]) -> Call:
        """Take a row that calls a tool."""
        call_id = text_of(row.get("toolCallId")) or text_of(row.get("id"))
        call = Call(call_id, text_of(row.get("toolName")))
        self._count += 1
        self._open[self._count] = call
        for key in _KEYS:
            name = text_of(row.get(key))
            if name is not None:
                self._by.setdefault((key, name), deque()).append(self._count)
        return call

    def end(self, row: Mapping[str, Any]) -> Call | None:
        """Find the oldest open call that a result belongs to, and close it."""
        for key in _KEYS:
            name = text_of(row.get(key))
            waiting = self._by.get((key, name)) if name is not None else None
            while waiting:
                # A call that another name closed still stands under this one.
                call = self._open.pop(waiting.popleft(), None)
                if call is not None:
                    return call
        return None
