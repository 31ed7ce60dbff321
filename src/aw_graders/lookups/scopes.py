"""Where a call id means one call: the source, the session id, and who made the call."""

from collections.abc import Iterable
from typing import TypeAlias

from aw_graders.lookups.rows import ANNOUNCED, SPAWNED, NativeRow

Owner: TypeAlias = tuple[str, str] | None
Scope: TypeAlias = tuple[str | None, Owner]


class ScopeTracker:
    """Gives every row of one source its scope, in source order.

    The owner is the agent id when one is known, else the parent tool call, else the root. The
    session id is the row's own, else the one last announced for that owner, else the root's.
    Source: unified session format, section 1.6.
    """

    def __init__(self, rows: Iterable[NativeRow]) -> None:
        """Learn which agents each spawning tool call produced, over the whole source."""
        agents: dict[str, set[str]] = {}
        for row in rows:
            if row.kind == SPAWNED and row.parent_id is not None and row.agent_id is not None:
                agents.setdefault(row.parent_id, set()).add(row.agent_id)
        # Two agents of one spawning call leave its other events without an agent.
        self._agent_of = {
            parent: next(iter(found)) for parent, found in agents.items() if len(found) == 1
        }
        self._announced: dict[Owner, str] = {}

    def owner(self, row: NativeRow) -> Owner:
        """Say who made the row."""
        if row.agent_id is not None:
            return ("agent", row.agent_id)
        if row.parent_id is not None:
            agent = self._agent_of.get(row.parent_id)
            return ("tool", row.parent_id) if agent is None else ("agent", agent)
        return None

    def scope(self, row: NativeRow) -> Scope:
        """Say in which session and for whom the row's call id counts."""
        owner = self.owner(row)
        if row.kind == ANNOUNCED and row.session_id is not None:
            self._announced[owner] = row.session_id
        session_id = row.session_id
        if session_id is None and self._announced:
            session_id = self._announced.get(owner) or self._announced.get(None)
        return session_id, owner
