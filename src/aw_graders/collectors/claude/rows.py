"""What the rows of a Claude recording say about themselves."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.normalise import list_of, mapping_of, text_of
from aw_graders.collectors.records import Record

SYNTHETIC_MODEL: Final = "<synthetic>"
SPAWNING_TOOLS: Final = frozenset({"Task", "Agent"})
TOOL_USES: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})

_OWN_FILE: Final = re.compile(r"(?:.*/)?subagents/agent-([A-Za-z0-9_-]{1,128})\.jsonl", re.ASCII)

# The row's name of a count, and the unified session's.
USAGE_FIELDS: Final = (
    ("input_tokens", "inputTokens"),
    ("output_tokens", "outputTokens"),
    ("cache_read_input_tokens", "cacheReadInputTokens"),
    ("cache_creation_input_tokens", "cacheCreationInputTokens"),
)


class Row(msgspec.Struct, frozen=True):
    """One row: its line, its object, and the sub-agent it belongs to."""

    line: int
    value: Mapping[str, Any]
    agent_id: str | None = None

    @property
    def kind(self) -> str:
        """The row's type, empty when it has none."""
        return text_of(self.value.get("type")) or ""

    @property
    def message(self) -> Mapping[str, Any] | None:
        """The row's message, when it is an object."""
        return mapping_of(self.value.get("message"))

    @property
    def parent_tool_id(self) -> str | None:
        """The tool call that spawned the sub-agent of a stream's row."""
        return text_of(self.value.get("parent_tool_use_id"))

    @property
    def is_nested(self) -> bool:
        """Whether a sub-agent wrote the row."""
        return (
            self.agent_id is not None
            or self.parent_tool_id is not None
            or self.value.get("isSidechain") is True
        )

    @property
    def is_error(self) -> bool:
        """Whether Claude Code wrote the row itself, in place of an answer of the model."""
        message = self.message or {}
        return (
            self.value.get("isApiErrorMessage") is True or message.get("model") == SYNTHETIC_MODEL
        )

    def identity(self) -> tuple[str, bytes] | None:
        """Return what a copy of the row has in common with it; None when nothing tells."""
        uuid = text_of(self.value.get("uuid"))
        if uuid is None:
            return None
        return uuid, _json.sorted_text([self.kind, self.value.get("message")])


def rows_of(records: tuple[Record, ...], name: str) -> list[Row]:
    """Give every row the sub-agent it belongs to: its own, else its file's, else its side chain's."""
    match = _OWN_FILE.fullmatch(name)
    chains = _Sidechains(records, None if match is None else match[1])
    return [Row(record.line, record.value, chains.agent_of(record.value)) for record in records]


class _Sidechains:
    """Names side chains without an agent id after the row that begins them."""

    def __init__(self, records: tuple[Record, ...], of_file: str | None) -> None:
        self._of_file = of_file
        self._parents: dict[str, str | None] = {}
        self._roots: dict[str, str] = {}
        for record in records:
            uuid = text_of(record.value.get("uuid"))
            if uuid is not None and record.value.get("isSidechain") is True:
                self._parents.setdefault(uuid, text_of(record.value.get("parentUuid")))

    def agent_of(self, value: Mapping[str, Any]) -> str | None:
        agent_id = text_of(value.get("agentId")) or self._of_file
        if agent_id is not None or value.get("isSidechain") is not True:
            return agent_id
        uuid = text_of(value.get("uuid"))
        return "sidechain" if uuid is None else f"sidechain-{self._root(uuid)}"

    def _root(self, uuid: str) -> str:
        """Find the row that begins a chain; every row is walked over once."""
        walked: dict[str, None] = {}
        place = uuid
        while place not in self._roots and place not in walked:
            walked[place] = None
            parent = self._parents.get(place)
            if parent is None or parent not in self._parents:
                break
            place = parent
        root = self._roots.get(place, place)
        self._roots.update(dict.fromkeys(walked, root))
        return root


def blocks_of(row: Row) -> Iterator[Any]:
    """Walk the content blocks of a message; text alone is one block."""
    message = row.message
    if message is None:
        return
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from list_of(content)


def is_result(kind: object) -> bool:
    """Tell whether a block's type is that of a tool's result."""
    return isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result"))
