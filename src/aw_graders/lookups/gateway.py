"""Calls as the gateway saw them, and which of them the agent itself recorded.

Source: unified session format, section 1.9; decision 6.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from aw_graders.lookups.model import ToolCall
from aw_graders.lookups.rows import (
    CALL_RECORD,
    RPC_REQUEST,
    RPC_RESPONSE,
    GatewayRow,
    NativeRow,
    SourceRows,
)


class GatewayCall:
    """One call of the gateway, before it is known whether the agent recorded it, too."""

    __slots__ = ("absorbed", "completed", "row", "source", "success")

    def __init__(
        self, source: SourceRows, row: GatewayRow, *, completed: bool, failed: bool
    ) -> None:
        """Start as a call of its own."""
        self.source = source
        self.row = row
        self.completed = completed
        self.success: bool | None = not failed if completed else None
        self.absorbed = False

    def tool_call(self) -> ToolCall:
        """Return the call as graders see it. Its arguments were never recorded."""
        source, row = self.source, self.row
        return ToolCall(
            source="gateway",
            name=row.name or "",
            path=source.path,
            completed=self.completed,
            success=self.success,
            tool_call_id=row.call_id,
            mcp_server_name=row.server,
            duration_ms=row.duration_ms,
            start_index=row.index,
            complete_index=row.index if self.completed else None,
            scope=(source.component, source.phase, source.path, None),
        )


def gateway_calls(sources: Sequence[SourceRows]) -> list[GatewayCall]:
    """List the gateway's calls, in source order.

    Call records count when any exists in the session; only otherwise RPC requests for tools do.
    """
    records = [
        GatewayCall(source, row, completed=True, failed=row.failed)
        for source in sources
        for row in source.gateway
        if row.kind == CALL_RECORD and row.name is not None
    ]
    if records or any(row.kind == CALL_RECORD for source in sources for row in source.gateway):
        return records
    return [call for source in sources for call in _rpc_calls(source)]


def _rpc_calls(source: SourceRows) -> list[GatewayCall]:
    """Join requests with responses of the same server and id, first with first."""
    responses: dict[tuple[str | None, str | None], deque[GatewayRow]] = {}
    for row in source.gateway:
        if row.kind == RPC_RESPONSE:
            responses.setdefault((row.server, row.rpc_id), deque()).append(row)
    calls: list[GatewayCall] = []
    for row in source.gateway:
        if row.kind != RPC_REQUEST or row.name is None:
            continue
        answers = responses.get((row.server, row.rpc_id))
        answer = answers.popleft() if answers else None
        failed = row.failed or (answer is not None and answer.failed)
        calls.append(GatewayCall(source, row, completed=answer is not None, failed=failed))
    return calls


def absorb(native: Sequence[tuple[NativeRow, str | None]], gateway: Sequence[GatewayCall]) -> None:
    """Mark the gateway calls that are second sights of native ones.

    Takes: native calls with their MCP server. A record with a call id belongs to the native call of
        that id; any other belongs to the first native call with a common name that has none yet.
        One native call absorbs one record.
    Cost: O(calls).
    """
    taken = _absorb_by_id(native, gateway)
    waiting: dict[str, deque[int]] = {}
    for position, (row, server) in enumerate(native):
        if position not in taken:
            for alias in aliases(row.name or row.end_name or "", server):
                waiting.setdefault(alias, deque()).append(position)
    for seen in gateway:
        if seen.row.call_id is None:
            found = _first_free(waiting, aliases(seen.row.name or "", seen.row.server), taken)
            if found is not None:
                taken.add(found)
                seen.absorbed = True


def _absorb_by_id(
    native: Sequence[tuple[NativeRow, str | None]], gateway: Sequence[GatewayCall]
) -> set[int]:
    """Mark the gateway calls whose id a native call has; return the native calls used up."""
    taken: set[int] = set()
    by_id: dict[str, deque[int]] = {}
    for position, (row, _) in enumerate(native):
        if row.call_id is not None:
            by_id.setdefault(row.call_id, deque()).append(position)
    for seen in gateway:
        positions = by_id.get(seen.row.call_id) if seen.row.call_id is not None else None
        if positions:
            taken.add(positions.popleft())
            seen.absorbed = True
    return taken


def _first_free(
    waiting: dict[str, deque[int]], names: Iterable[str], taken: set[int]
) -> int | None:
    found: int | None = None
    for name in names:
        positions = waiting.get(name)
        while positions and positions[0] in taken:
            positions.popleft()
        if positions and (found is None or positions[0] < found):
            found = positions[0]
    return found


_JOINTS: Final = ("-", "__")


def aliases(name: str, server: str | None) -> tuple[str, ...]:
    """List the names under which a tool of an MCP server is known, lower case and trimmed.

    Separators matter: `list_issues` and `list-issues` are different tools.
    """
    plain = name.strip().lower()
    if not server:
        return (plain,)
    host = server.strip().lower()
    prefixes = (*(host + joint for joint in _JOINTS), f"mcp__{host}__")
    found = [plain, *(prefix + plain for prefix in prefixes)]
    found += [plain.removeprefix(prefix) for prefix in prefixes if plain.startswith(prefix)]
    return tuple(dict.fromkeys(found))
