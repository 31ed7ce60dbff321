"""Which rows of a forked session only repeat the session that it was forked from.

A fork begins with a copy of its parent's rows, in some versions with the time of the fork, in others
with their own. They are no work of the fork. Only evidence tells them apart: the parent's file, the
times, or the ids of turns.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.codex.rows import (
    CALL_ITEMS,
    COMPACTED,
    CONTEXT,
    EVENT,
    ITEM,
    LOCAL_ITEMS,
    META,
    OUTPUT_ITEMS,
    Row,
)
from aw_graders.collectors.codex.survey import Source
from aw_graders.collectors.codex.tokens import Snapshot, size, snapshot_key, snapshot_of
from aw_graders.collectors.normalise import Notes, mapping_of, text_of, time_of
from aw_graders.session.timestamps import stamp_ns

# A model answers no request within a second of the fork; copies are written by then.
_FORK_NS: Final = 1_000_000_000
_UUID7: Final = re.compile(
    r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII
)
_CALLS: Final = CALL_ITEMS | LOCAL_ITEMS | OUTPUT_ITEMS
_DIGEST_BYTES: Final = 16


class Replay(msgspec.Struct, frozen=True):
    """How many rows at the head of a file are copies.

    `inherits` says that the counter goes on from the parent's without its rows being there.
    `unknown` says that nothing tells copies from the fork's own requests.
    """

    rows: int = 0
    inherits: bool = False
    unknown: bool = False


class Replays:
    """Finds the copied rows of each of several files."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Take all files of the evidence, in their order."""
        self._by_session: dict[str, list[Source]] = {}
        for source in sources:
            if source.session_id is not None:
                self._by_session.setdefault(source.session_id, []).append(source)
        self._keys: dict[int, set[bytes]] = {}

    def of(self, source: Source) -> Replay:
        """Find what of a file is copied. Cost: linear in the file and in its parents."""
        parents = self._parents(source)
        keys: set[bytes] = set()
        for parent in parents:
            keys |= self._keys_of(parent)
        copied = _leading(source.rows, keys) if keys else 0
        if source.forked_from is None and source.spawned_from is None:
            return Replay(copied)
        turn = _own_turn(source)
        copied = max(copied, _before_turn(source.rows, turn), _before_fork(source))
        if copied:
            return Replay(copied)
        return _without_copies(source, is_settled=bool(parents) or turn is not None)

    def _parents(self, source: Source) -> list[Source]:
        """List the files a file may copy from: its parents', and earlier ones of its session."""
        found: list[Source] = []
        for session_id in (source.forked_from, source.spawned_from):
            if session_id is not None and session_id != source.session_id:
                found.extend(self._by_session.get(session_id, ()))
        for other in self._by_session.get(source.session_id or "", ()):
            if other is source:
                break
            found.append(other)
        return found

    def _keys_of(self, source: Source) -> set[bytes]:
        keys = self._keys.get(id(source))
        if keys is None:
            keys = {key for _, key, _ in _keyed(source.rows)}
            self._keys[id(source)] = keys
        return keys


def _keyed(rows: Sequence[Row]) -> Iterator[tuple[int, bytes, bool]]:
    """List the rows that can be compared: their place, what copies share, and if they are work.

    Rows of work are requests and calls; what stands around them is compared, but settles nothing.
    """
    for place, row in enumerate(rows):
        if row.kind == EVENT and row.type == "token_count":
            info = mapping_of(row.payload.get("info"))
            if info is not None:
                yield place, b"tokens" + _digest(snapshot_key(info)), True
        elif row.kind == ITEM and row.type in _CALLS and row.call_id is not None:
            yield place, b"call" + _digest(_json.sorted_text([row.type, row.call_id])), True
        elif row.kind in (ITEM, EVENT, COMPACTED):
            yield place, b"other" + _digest(_json.sorted_text([row.kind, row.payload])), False


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=_DIGEST_BYTES).digest()


def _leading(rows: Sequence[Row], keys: set[bytes]) -> int:
    """Count the rows up to the last leading request or call that another file holds as well.

    What stands right behind it and is in the other file, too, is counted with it.
    """
    keyed = list(_keyed(rows))
    copied = _leading_work(keyed, lambda _, key: key in keys)
    if not copied:
        return 0
    for place, key, is_work in keyed:
        if place >= copied:
            if is_work or key not in keys:
                break
            copied = place + 1
    return copied


def _leading_work(
    keyed: Iterable[tuple[int, bytes, bool]], is_copy: Callable[[int, bytes], bool]
) -> int:
    """Count the rows up to the last of the leading requests and calls that are copies."""
    copied = 0
    for place, key, is_work in keyed:
        if is_work:
            if not is_copy(place, key):
                break
            copied = place + 1
    return copied


def _before_fork(source: Source) -> int:
    """Count the rows up to the last leading request or call from before, or at, the fork."""
    fork = max(
        (ns for ns in (_ns(source.meta_time), _ns(source.meta.get("timestamp"))) if ns is not None),
        default=None,
    )
    if fork is None:
        return 0
    end = fork + _FORK_NS

    def is_copy(place: int, _: bytes) -> bool:
        time = _ns(source.rows[place].time)
        return time is not None and time < end

    return _leading_work(_keyed(source.rows), is_copy)


def _own_turn(source: Source) -> int | None:
    """Find the first turn that began after the session did; both ids hold when they were made."""
    began = _made_ms(source.session_id)
    if began is None:
        return None
    for place, row in enumerate(source.rows):
        if row.kind == CONTEXT or (row.kind == EVENT and row.type == "task_started"):
            made = _made_ms(text_of(row.payload.get("turn_id")))
            if made is not None and made >= began:
                return place
    return None


def _before_turn(rows: Sequence[Row], turn: int | None) -> int:
    """Count the rows up to the last request or call before the session's own first turn."""
    if turn is None:
        return 0
    return _leading_work(_keyed(rows), lambda place, _: place < turn)


def _without_copies(source: Source, *, is_settled: bool) -> Replay:
    """Settle a fork none of whose rows was proven to be a copy."""
    first = _first_snapshot(source)
    if first is None:
        return Replay()
    total, last = size(first.total) or 0, size(first.last or {})
    if last is not None and total > last:
        return Replay(inherits=True)
    return Replay(unknown=not is_settled and _has_history(source))


def _first_snapshot(source: Source) -> Snapshot | None:
    unheard = Notes(source.name)
    for row in source.rows:
        if row.kind == EVENT and row.type == "token_count":
            info = mapping_of(row.payload.get("info"))
            snapshot = None if info is None else snapshot_of(info, unheard, row.line)
            if snapshot is not None:
                return snapshot
    return None


def _has_history(source: Source) -> bool:
    """Tell whether a file says that a history was copied into it."""
    if source.forked_from is not None:
        return True
    return any(
        row.kind == META and text_of(row.payload.get("id")) not in (None, source.session_id)
        for row in source.rows
    )


def _ns(value: object) -> int | None:
    return stamp_ns(time_of(value).value)


def _made_ms(identifier: str | None) -> int | None:
    """Read the time that a UUID of version 7 holds, in milliseconds since 1970."""
    match = None if identifier is None else _UUID7.fullmatch(identifier)
    return None if match is None else int(match[1] + match[2], 16)
