"""Codex's token counter: what it said so far, and what each request added to it.

The counter runs over all requests of a session. A row repeats it whenever something else changed,
so that only its advances are requests; when it falls back, it counts anew.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.normalise import Notes, mapping_of

# The counter's name of a count, and the unified session's. Cached tokens are part of the input.
_FIELDS: Final = (
    ("input_tokens", "inputTokens"),
    ("cached_input_tokens", "cacheReadInputTokens"),
    ("cache_write_input_tokens", "cacheCreationInputTokens"),
    ("output_tokens", "outputTokens"),
    ("reasoning_output_tokens", "reasoningOutputTokens"),
    ("total_tokens", "totalTokens"),
)
_TOTAL: Final = "total_token_usage"
_LAST: Final = "last_token_usage"
Counts = dict[str, int]


class Snapshot(msgspec.Struct, frozen=True):
    """What one row says: the counter, and the request that moved it last when it names one."""

    total: Counts
    last: Counts | None


def counts_of(value: object, notes: Notes, line: int) -> Counts:
    """Read the valid counts of a usage object, under their names in a unified session."""
    fields = mapping_of(value) or {}
    found = ((name, notes.whole(fields.get(key), line)) for key, name in _FIELDS)
    return {name: count for name, count in found if count is not None}


def snapshot_of(info: Mapping[str, Any], notes: Notes, line: int) -> Snapshot | None:
    """Read a row of the counter; None when it does not say how much was used so far."""
    total = counts_of(info.get(_TOTAL), notes, line)
    if size(total) is None:
        return None
    last = counts_of(info.get(_LAST), notes, line)
    return Snapshot(total, last if size(last) is not None else None)


def snapshot_key(info: Mapping[str, Any]) -> bytes:
    """Spell what a copied row has in common with the row it copies, whatever its time."""
    return _json.sorted_text([info.get(_TOTAL), info.get(_LAST)])


def size(counts: Mapping[str, int]) -> int | None:
    """Add up what was read and written; None when neither is known."""
    if "totalTokens" in counts:
        return counts["totalTokens"]
    if "inputTokens" not in counts and "outputTokens" not in counts:
        return None
    return counts.get("inputTokens", 0) + counts.get("outputTokens", 0)


class Counter:
    """Follows the counter of one session and tells its requests apart."""

    def __init__(self) -> None:
        """Begin with nothing used."""
        self.total: Counts = {}
        self.last: Counts | None = None
        self.requests = 0
        # By field, what the requests add up to and by how much the counter moved meanwhile.
        self.requested: Counts = {}
        self.moved: Counts = {}

    def carry(self, snapshot: Snapshot) -> None:
        """Take over where the counter stands, from a row that copies another session's."""
        self.total, self.last = snapshot.total, snapshot.last

    def inherit(self, snapshot: Snapshot) -> None:
        """Begin where the counter stood before the request that the session's first row names."""
        self.total = _difference(snapshot.total, snapshot.last or snapshot.total)

    def advance(self, snapshot: Snapshot) -> Counts | None:
        """Take the next row.

        Returns: the usage of the request that moved the counter, or None when none did.
        """
        before, now = size(self.total) or 0, size(snapshot.total) or 0
        anew = now < before or self._is_first_again(snapshot, before)
        base = {} if anew else self.total
        self.total, previous_last, self.last = snapshot.total, self.last, snapshot.last
        if now == 0 or (now == before and not anew):
            self.last = previous_last if now else None
            return None
        moved = _difference(snapshot.total, base)
        usage = snapshot.last
        if usage is None:
            usage = moved
        self.requests += 1
        for name in usage.keys() & moved.keys():
            self.requested[name] = self.requested.get(name, 0) + usage[name]
            self.moved[name] = self.moved.get(name, 0) + moved[name]
        return usage

    def _is_first_again(self, snapshot: Snapshot, before: int) -> bool:
        """Tell whether one request alone makes up a counter that stood elsewhere before."""
        last = snapshot.last
        return before > 0 and last is not None and last == snapshot.total and last != self.last

    def settle(self) -> tuple[str, int, int] | None:
        """Compare the requests with the counter's moves since it was last asked.

        Returns: a field, what the requests add up to, and by how much the counter moved, where the
            two are not equal.
        """
        requested, moved = self.requested, self.moved
        self.requested, self.moved = {}, {}
        for _, name in reversed(_FIELDS):
            if requested.get(name) != moved.get(name):
                return name, requested[name], moved[name]
        return None


def _difference(now: Counts, base: Counts) -> Counts:
    """Subtract field by field what was there before; a field that fell back says nothing."""
    return {
        name: count - base.get(name, 0) for name, count in now.items() if count >= base.get(name, 0)
    }
