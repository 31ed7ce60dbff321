"""What has to be known of all files before the first event is written.

Requests are merged over all rows of a message, and sub-agents are linked to the calls that spawned
them, wherever either stands.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders.collectors.claude.rows import (
    SPAWNING_TOOLS,
    TOOL_USES,
    USAGE_FIELDS,
    Row,
    blocks_of,
    is_result,
)
from aw_graders.collectors.normalise import Notes, list_of, mapping_of, text_of

_AGENT_ID: Final = re.compile(r"\bagentId: ?([A-Za-z0-9_-]{1,128})", re.ASCII)


class Source(msgspec.Struct, frozen=True):
    """One file, read: its rows and where its notes go."""

    name: str
    rows: list[Row]
    notes: Notes


class Survey:
    """Requests and sub-agent links of a set of files."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Walk all rows once."""
        self.usage: dict[str, dict[str, int]] = {}
        self.spawned_by: dict[str, str] = {}
        self.has_rows: set[str] = set()
        self.last_answers: dict[tuple[str, str], int] = {}
        self._prompts: dict[str, list[str]] = {}
        self._beginnings: list[tuple[str, str]] = []
        self._spawning: set[str] = set()
        self._reported: dict[str, str] = {}
        for source in sources:
            for row in source.rows:
                self._look(source, row)
        for agent_id, call_id in self._reported.items():
            self.spawned_by.setdefault(agent_id, call_id)
        self._link_by_prompt()
        self._agents: dict[str, list[str]] = {}
        for agent_id, call_id in self.spawned_by.items():
            self._agents.setdefault(call_id, []).append(agent_id)

    def _look(self, source: Source, row: Row) -> None:
        if row.agent_id is not None and row.message is not None:
            if row.agent_id not in self.has_rows and row.kind == "user":
                self._begin(row.agent_id, row)
            self.has_rows.add(row.agent_id)
        if row.kind == "progress":
            self._report(row)
        if row.kind == "assistant":
            key = request_key(source.name, row)
            if key is not None:
                self._merge(key, source, row)
        for block in blocks_of(row):
            fields = mapping_of(block)
            if fields is not None:
                self._look_at_block(source, row, fields)

    def _report(self, row: Row) -> None:
        """Take from a progress row which call the sub-agent that it reports on belongs to."""
        agent_id = text_of((mapping_of(row.value.get("data")) or {}).get("agentId"))
        call_id = text_of(row.value.get("parentToolUseID"))
        if agent_id is not None and call_id is not None:
            self._reported.setdefault(agent_id, call_id)

    def _begin(self, agent_id: str, row: Row) -> None:
        prompt = "".join(
            text
            for block in blocks_of(row)
            if isinstance(text := (mapping_of(block) or {}).get("text"), str)
        )
        self._beginnings.append((agent_id, prompt))

    def _merge(self, key: str, source: Source, row: Row) -> None:
        """Keep the largest value of every field: early rows of a message hold early counts."""
        merged = self.usage.setdefault(key, {})
        for name, count in counts_of((row.message or {}).get("usage"), source.notes, row.line):
            merged[name] = max(count, merged.get(name, 0))

    def _look_at_block(self, source: Source, row: Row, block: Mapping[str, Any]) -> None:
        kind = block.get("type")
        if isinstance(kind, str) and kind in TOOL_USES:
            call_id = text_of(block.get("id"))
            if call_id is not None and text_of(block.get("name")) in SPAWNING_TOOLS:
                self._spawning.add(call_id)
                prompt = (mapping_of(block.get("input")) or {}).get("prompt")
                if isinstance(prompt, str) and prompt:
                    calls = self._prompts.setdefault(prompt, [])
                    if call_id not in calls:
                        calls.append(call_id)
        elif is_result(kind):
            call_id = text_of(block.get("tool_use_id"))
            if call_id is not None:
                self.last_answers[source.name, call_id] = row.line
            if call_id is not None and call_id in self._spawning:
                agent_id = _agent_named(row, block)
                if agent_id is not None:
                    self.spawned_by.setdefault(agent_id, call_id)

    def _link_by_prompt(self) -> None:
        """Link an agent that no result names to the one call whose prompt it was given."""
        linked = set(self.spawned_by.values())
        given = Counter(prompt for _, prompt in self._beginnings)
        for agent_id, prompt in self._beginnings:
            calls = self._prompts.get(prompt, ())
            if agent_id in self.spawned_by or len(calls) != 1 or given[prompt] != 1:
                continue
            if calls[0] not in linked:
                self.spawned_by[agent_id] = calls[0]

    def agents_of(self, call_id: str | None) -> Sequence[str]:
        """List the sub-agents that a call spawned."""
        return self._agents.get(call_id, ()) if call_id is not None else ()


def request_key(name: str, row: Row) -> str | None:
    """Name the model request of an assistant row; None when the row accounts for none."""
    message = row.message
    usage = None if message is None else message.get("usage")
    if message is None or row.is_error or usage is None:
        return None
    message_id = text_of(message.get("id"))
    # A message with an id was a request, even when its counts cannot be read.
    if message_id is not None or mapping_of(usage) is None:
        return message_id
    for value in (row.value.get("requestId"), row.value.get("uuid")):
        key = text_of(value)
        if key is not None:
            return key
    return f"{name}:{row.line}"


def counts_of(usage: object, notes: Notes, line: int) -> list[tuple[str, int]]:
    """Read the valid counts of a usage object, under their names in a unified session."""
    fields = mapping_of(usage) or {}
    found = ((name, notes.whole(fields.get(key), line)) for key, name in USAGE_FIELDS)
    return [(name, count) for name, count in found if count is not None]


def _agent_named(row: Row, block: Mapping[str, Any]) -> str | None:
    """Find the sub-agent that a spawning call's result names, in its fields or in its text."""
    result = mapping_of(row.value.get("toolUseResult")) or {}
    agent_id = text_of(result.get("agentId"))
    if agent_id is not None:
        return agent_id
    content = block.get("content")
    parts = (mapping_of(part) or {} for part in list_of(content))
    for text in (content, *(part.get("text") for part in parts)):
        match = _AGENT_ID.search(text) if isinstance(text, str) else None
        if match is not None:
            return match[1]
    return None
