"""Native tool calls: each start with its completion, inside its scope.

Source: unified session format, sections 1.6 and 1.7; decisions 2, 37 and 39.
"""

from collections import Counter, deque
from typing import TypeAlias

import msgspec

from aw_graders import _json
from aw_graders.lookups.model import Place, ToolCall
from aw_graders.lookups.rows import COMPLETION, START, NativeRow, SourceRows
from aw_graders.lookups.scopes import Scope, ScopeTracker

_Id: TypeAlias = str | int
_Signature: TypeAlias = tuple[str | None, bytes | None]


class Paired(msgspec.Struct, frozen=True):
    """The native calls of one source, in source order, and what pairing had to settle."""

    calls: tuple[ToolCall, ...]
    observed_again: tuple[Place, ...]
    reused_ids: int
    nameless: int


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
        self.nameless = 0
        self.states: dict[Scope, _ScopeState] = {}

    def run(self) -> Paired:
        tracker = ScopeTracker(self.source.native)
        for row in self.source.native:
            scope = tracker.scope(row)
            if row.kind == START:
                self._start(row, scope)
            elif row.kind == COMPLETION:
                self._complete(row, scope)
        calls = tuple(self._call(call) for call in self.calls if self._name(call) is not None)
        self.nameless += len(self.calls) - len(calls)
        return Paired(calls, tuple(self.again), self.reused, self.nameless)

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

    @staticmethod
    def _name(call: _Open) -> str | None:
        for row in (call.start, call.completion):
            if row is not None and row.name is not None:
                return row.name
        return None

    def _call(self, call: _Open) -> ToolCall:
        start, end = call.start, call.completion
        session_id, owner = call.scope
        source = self.source
        return ToolCall(
            source="agent",
            name=self._name(call) or "",
            path=source.path,
            completed=end is not None,
            success=None if end is None else end.success,
            arguments_json=None if start is None else start.arguments,
            tool_call_id=_either(start, end, "call_id"),
            mcp_server_name=_either(start, end, "server"),
            duration_ms=None if end is None else end.duration_ms,
            session_id=session_id,
            agent_id=owner[1] if owner is not None and owner[0] == "agent" else None,
            start_index=None if start is None else start.index,
            complete_index=None if end is None else end.index,
            scope=(source.component, source.phase, source.path, session_id, *(owner or ())),
        )


def pair_native(source: SourceRows) -> Paired:
    """Pair the native starts and completions of one source.

    Takes: rows in source order.
    Returns: calls ordered by their first event; an orphan completion with a name is a call with its
        own outcome; a start without completion stays unfinished; calls that no event names are
        counted and left out.
    Raises: nothing.
    Cost: O(rows).
    """
    return _Pairing(source).run()


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


def _either(start: NativeRow | None, end: NativeRow | None, field: str) -> str | None:
    for row in (start, end):
        value = None if row is None else getattr(row, field)
        if isinstance(value, str):
            return value
    return None
