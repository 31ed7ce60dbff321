"""What has to be known of all files before the first event is written.

Which session a file holds and which one it was forked from, which calls and messages it records in
which of the two ways, and which sub-agent was spawned by which call.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.codex.outcome import Outcome, outcome_of_event
from aw_graders.collectors.codex.rows import (
    CALL_ITEMS,
    CONTEXT,
    EVENT,
    HOSTED_ITEMS,
    ITEM,
    LOCAL_ITEMS,
    META,
    OUTPUT_ITEMS,
    Row,
    parts_of,
)
from aw_graders.collectors.normalise import Notes, mapping_of, text_of

SUMMARY_TEXTS: Final = frozenset({"summary_text"})
_TEXTS: Final = frozenset({"input_text", "output_text", "text"})


class Source(msgspec.Struct, frozen=True):
    """One file, read: its rows, what it says of itself, and where its notes go."""

    name: str
    rows: Sequence[Row]
    notes: Notes
    meta: Mapping[str, Any]
    meta_time: object

    @property
    def session_id(self) -> str | None:
        """The session that the file holds; a sub-agent's `session_id` is its parent's."""
        return text_of(self.meta.get("id")) or text_of(self.meta.get("session_id"))

    @property
    def forked_from(self) -> str | None:
        """The session whose history was copied into this one."""
        parent = text_of(self.meta.get("forked_from_id"))
        return None if parent == self.session_id else parent

    @property
    def spawned_from(self) -> str | None:
        """The session whose agent spawned this one's."""
        spawn = mapping_of((self._subagent or {}).get("thread_spawn")) or {}
        parent = text_of(spawn.get("parent_thread_id"))
        return parent or text_of(self.meta.get("parent_thread_id"))

    @property
    def is_subagent(self) -> bool:
        """Whether an agent spawned this session, not a person."""
        return (
            self._subagent is not None
            or self.meta.get("thread_source") == "subagent"
            or self.spawned_from is not None
        )

    @property
    def _subagent(self) -> Mapping[str, Any] | None:
        source = mapping_of(self.meta.get("source")) or {}
        if "subagent" not in source:
            return None
        return mapping_of(source["subagent"]) or {}


def source_of(name: str, rows: Sequence[Row]) -> Source:
    """Describe a file by its first head; later ones are copies of other sessions' heads."""
    head = next((row for row in rows if row.kind == META), None)
    meta: Mapping[str, Any] = {} if head is None else head.payload
    return Source(name, rows, Notes(name), meta, None if head is None else head.time)


class Survey:
    """Which of two records of one thing is to be used, for one file."""

    def __init__(self, source: Source) -> None:
        """Walk the rows once."""
        self.called: set[str] = set()
        self.answered: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        self.spoken: set[str] = set()
        self.has_reasoning = False
        self.has_searches = False
        self.model: str | None = None
        for row in source.rows:
            if row.kind == ITEM:
                self._item(row)
            elif row.kind == EVENT:
                self._event(row)
            elif row.kind == CONTEXT and self.model is None:
                self.model = text_of(row.payload.get("model"))

    def _item(self, row: Row) -> None:
        kind, call_id = row.type, row.call_id
        if kind in CALL_ITEMS or kind in LOCAL_ITEMS:
            if call_id is not None:
                self.called.add(call_id)
        elif kind in OUTPUT_ITEMS:
            if call_id is not None:
                self.answered.add(call_id)
        elif kind == "message":
            role = text_of(row.payload.get("role"))
            if role is not None and parts_of(row.payload.get("content"), _TEXTS):
                self.spoken.add(role)
        elif kind == "reasoning":
            texts = parts_of(row.payload.get("summary"), SUMMARY_TEXTS)
            self.has_reasoning = self.has_reasoning or bool(texts)
        elif kind in HOSTED_ITEMS:
            self.has_searches = self.has_searches or kind == "web_search_call"
            item_id = text_of(row.payload.get("id"))
            if item_id is not None:
                self.called.add(item_id)

    def _event(self, row: Row) -> None:
        kind, call_id = row.type, row.call_id
        if call_id is not None and kind.endswith(("_end", "_response")):
            known = self.outcomes.get(call_id, Outcome())
            self.outcomes[call_id] = known.merged(outcome_of_event(row.payload))


def spawning_calls(sources: Sequence[Source]) -> dict[str, str]:
    """Find the call that spawned each sub-agent: its end names it, or its output does."""
    found: dict[str, str] = {}
    for source in sources:
        spawning: set[str] = set()
        for row in source.rows:
            call_id = row.call_id
            if call_id is None:
                continue
            agent_id = None
            if row.kind == EVENT and row.type == "collab_agent_spawn_end":
                agent_id = text_of(row.payload.get("new_thread_id"))
            elif row.kind == ITEM and row.payload.get("name") == "spawn_agent":
                spawning.add(call_id)
            elif row.kind == ITEM and row.type in OUTPUT_ITEMS and call_id in spawning:
                agent_id = _agent_named(row.payload.get("output"))
            if agent_id is not None:
                found.setdefault(agent_id, call_id)
    return found


def _agent_named(output: object) -> str | None:
    """Read the agent's id out of what the spawning tool answered, an object or its JSON text."""
    fields = mapping_of(output)
    if fields is None and isinstance(output, str):
        try:
            fields = mapping_of(_json.decode(output.encode("utf-8", "replace")))
        except _json.JsonError:
            return None
    return text_of((fields or {}).get("agent_id"))
