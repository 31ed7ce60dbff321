"""Native tool calls: each start with its completion, inside its scope.

Source: unified session format, sections 1.6 and 1.7; decisions 2, 37 and 39.
"""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter, le
from typing import Final, TypeAlias

import msgspec

from aw_graders import _json
from aw_graders.lookups.model import ToolCall
from aw_graders.lookups.places import Place
from aw_graders.lookups.rows import ANNOUNCED, COMPLETION, START, NativeRow, SourceRows
from aw_graders.lookups.scopes import Scope, ScopeTracker

_Id: TypeAlias = str | int
_Signature: TypeAlias = tuple[str | None, bytes | None]


_index_of: Final = attrgetter("index")


class Paired(msgspec.Struct, frozen=True):
    """The native calls of one source, in source order, and what pairing had to settle.

    Each row of `calls` is a call: a start, with its completion on it when it has one, or an orphan
    completion. `scopes` stand beside `calls`; None means that they are those of the source's rows.
    """

    source: SourceRows
    calls: list[NativeRow]
    scopes: list[Scope] | None = None
    observed_again: tuple[Place, ...] = ()
    reused_ids: int = 0
    nameless: int = 0


class _Open:
    """A call while its source is being paired."""

    __slots__ = ("completion", "scope", "start")

    def __init__(self, scope: Scope, start: NativeRow | None, completion: NativeRow | None) -> None:
        self.scope = scope
        self.start = start
        self.completion = completion


class _ScopeState:
    """Open and finished calls of one scope.

    Queues hold calls oldest first and may still hold closed ones, which are dropped when they come
    to the front; so every operation costs constant time on average, whatever the ids are.
    """

    __slots__ = ("by_id", "by_name", "finished", "open_count", "signatures", "stack", "unnamed_id")

    def __init__(self) -> None:
        self.by_id: dict[_Id, deque[_Open]] = {}
        self.by_name: dict[str | None, deque[_Open]] = {}
        self.unnamed_id: dict[str | None, deque[_Open]] = {}
        self.finished: set[_Id] = set()
        # Name and arguments of the open starts of an id, kept only for ids that are started twice.
        self.signatures: dict[_Id, Counter[_Signature]] = {}
        self.stack: list[_Open] = []
        self.open_count = 0

    def is_repeat(self, key: _Id, row: NativeRow) -> bool:
        """Tell whether an open start of this id has the same name and arguments."""
        waiting = self.by_id.get(key)
        if not waiting:
            return False
        known = self.signatures.get(key)
        if known is None:
            open_starts = (call.start for call in waiting if call.completion is None)
            known = Counter(_signature(start) for start in open_starts if start is not None)
            self.signatures[key] = known
        return known[_signature(row)] > 0

    def add(self, key: _Id | None, call: _Open, row: NativeRow) -> None:
        """Open a call."""
        if key is None:
            self.unnamed_id.setdefault(row.name, deque()).append(call)
        else:
            self.by_id.setdefault(key, deque()).append(call)
            if key in self.signatures:
                self.signatures[key][_signature(row)] += 1
        self.by_name.setdefault(row.name, deque()).append(call)
        self.stack.append(call)
        self.open_count += 1

    def close(self, call: _Open, row: NativeRow) -> None:
        """Close a call with its completion."""
        call.completion = row
        self.open_count -= 1
        start = call.start
        key = None if start is None else _id_of(start)
        if key is not None and start is not None:
            self.finished.add(key)
            if key in self.signatures:
                self.signatures[key][_signature(start)] -= 1

    def has_open(self, key: _Id) -> bool:
        """Tell whether a start of this id is open."""
        return _oldest(self.by_id.get(key)) is not None

    def only(self) -> _Open | None:
        """Return the one open call of the scope, or None when the choice would be a guess."""
        if self.open_count != 1:
            return None
        while self.stack and self.stack[-1].completion is not None:
            self.stack.pop()
        return self.stack[-1] if self.stack else None


class _Pairing:
    """Walks the rows of one source in source order."""

    def __init__(self, source: SourceRows) -> None:
        self.source = source
        self.calls: list[_Open] = []
        self.again: list[Place] = []
        self.reused = 0
        self.states: dict[Scope, _ScopeState] = {}

    def run(self) -> Paired:
        rows = sorted(_apart(self.source.native), key=_index_of)
        tracker = ScopeTracker(rows)
        for row in rows:
            scope = tracker.scope(row)
            if row.kind == START:
                self._start(row, scope)
            elif row.kind == COMPLETION:
                self._complete(row, scope)
        named = [call for call in self.calls if _name(call) is not None]
        return Paired(
            source=self.source,
            calls=[_together(call) for call in named],
            scopes=[call.scope for call in named],
            observed_again=tuple(self.again),
            reused_ids=self.reused,
            nameless=len(self.calls) - len(named),
        )

    def _state(self, scope: Scope) -> _ScopeState:
        state = self.states.get(scope)
        if state is None:
            state = self.states[scope] = _ScopeState()
        return state

    def _start(self, row: NativeRow, scope: Scope) -> None:
        state = self._state(scope)
        key = _id_of(row)
        if key is not None:
            if state.is_repeat(key, row):
                self.again.append(Place(self.source.path, row.index))
                return
            if key in state.finished or state.has_open(key):
                self.reused += 1
        call = _Open(scope, row, None)
        self.calls.append(call)
        state.add(key, call, row)

    def _complete(self, row: NativeRow, scope: Scope) -> None:
        state = self._state(scope)
        key = _id_of(row)
        call = _waiting(state, key, row.name)
        if call is not None:
            state.close(call, row)
        elif key is not None and key in state.finished:
            self.again.append(Place(self.source.path, row.index))
        else:
            self.calls.append(_Open(scope, None, row))
        if key is not None:
            state.finished.add(key)


def pair_native(source: SourceRows) -> Paired:
    """Pair the native starts and completions of one source.

    Takes: rows in the order in which they were met.
    Returns: calls ordered by their first event; an orphan completion with a name is a call with its
        own outcome; a start without completion stays unfinished; calls that no event names are
        counted and left out.
    Raises: nothing.
    Cost: O(rows), besides a sort of rows whose indexes go backwards.
    """
    rows = source.native
    if not source.joined or not _is_sorted(rows):
        return _Pairing(source).run()
    calls = [row for row in rows if row.kind < ANNOUNCED]
    named = [row for row in calls if row.name is not None or row.end_name is not None]
    return Paired(source, named, nameless=len(calls) - len(named))


def native_calls(paired: Paired) -> list[ToolCall]:
    """Spell the calls of one source as graders see them.

    Cost: O(calls).
    """
    source, scopes = paired.source, paired.scopes
    if scopes is None:
        tracker = ScopeTracker(source.native)
        known = [(row, tracker.scope(row)) for row in source.native]
        named = {id(row) for row in paired.calls}
        scopes = [scope for row, scope in known if id(row) in named]
    return [_tool_call(source, row, scope) for row, scope in zip(paired.calls, scopes, strict=True)]


def _tool_call(source: SourceRows, row: NativeRow, scope: Scope) -> ToolCall:
    session_id, owner = scope
    started = row.kind == START
    return ToolCall(
        source="agent",
        name=row.name or row.end_name or "",
        path=source.path,
        completed=not started or row.end_index is not None,
        success=row.success,
        arguments_json=row.arguments,
        tool_call_id=row.call_id,
        mcp_server_name=row.server or row.end_server,
        duration_ms=row.duration_ms,
        session_id=session_id,
        agent_id=owner[1] if owner is not None and owner[0] == "agent" else None,
        start_index=row.index if started else None,
        complete_index=row.end_index if started else row.index,
        scope=(source.component, source.phase, source.path, session_id, *(owner or ())),
    )


def _is_sorted(rows: list[NativeRow]) -> bool:
    indexes = list(map(_index_of, rows))
    return all(map(le, indexes, islice(indexes, 1, None)))


def _apart(rows: list[NativeRow]) -> Iterator[NativeRow]:
    """Take completions off the starts that carry them, each right behind its start.

    Since a completion is only put on a start when its index is over all before it, sorting by index
    gives the same order as if it had never been moved.
    """
    for row in rows:
        if row.kind != START or row.end_index is None:
            yield row
            continue
        yield msgspec.structs.replace(
            row, success=None, duration_ms=None, end_index=None, end_name=None, end_server=None
        )
        yield NativeRow(
            kind=COMPLETION,
            index=row.end_index,
            call_id=row.call_id,
            name=row.end_name,
            success=row.success,
            session_id=row.session_id,
            agent_id=row.agent_id,
            parent_id=row.parent_id,
            server=row.end_server,
            duration_ms=row.duration_ms,
        )


def _together(call: _Open) -> NativeRow:
    """Put the completion of a call on its start."""
    start, end = call.start, call.completion
    if start is None or end is None:
        row = start if start is not None else end
        assert row is not None  # noqa: S101 - a call has at least one of them
        return row
    return msgspec.structs.replace(
        start,
        call_id=start.call_id or end.call_id,
        success=end.success,
        duration_ms=end.duration_ms,
        end_index=end.index,
        end_name=end.name,
        end_server=end.server,
    )


def _name(call: _Open) -> str | None:
    for row in (call.start, call.completion):
        if row is not None and row.name is not None:
            return row.name
    return None


def _id_of(row: NativeRow) -> _Id | None:
    """Return the call id, or the step number when the source gives no id."""
    return row.call_id if row.call_id is not None else row.step


def _signature(row: NativeRow) -> _Signature:
    """Spell name and arguments so that equal ones are equal, numbers compared by value."""
    arguments = row.arguments
    return row.name, None if arguments is None else _json.canonical(_json.decode(arguments))


def _waiting(state: _ScopeState, key: _Id | None, name: str | None) -> _Open | None:
    """Find the open call that a completion closes, oldest first, or None."""
    if key is not None:
        call = _oldest(state.by_id.get(key))
        if call is not None or key in state.finished:
            return call
        # Two different ids never pair, so an id meets only starts that recorded none.
        return None if name is None else _oldest(state.unnamed_id.get(name))
    return state.only() if name is None else _oldest(state.by_name.get(name))


def _oldest(waiting: "deque[_Open] | None") -> _Open | None:
    """Return the oldest call that is still open; closed ones are dropped on the way."""
    while waiting:
        if waiting[0].completion is None:
            return waiting[0]
        waiting.popleft()
    return None
