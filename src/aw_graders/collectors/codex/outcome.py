"""How a call ended, where Codex itself says so; the words of an output say nothing."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.codex.rows import parts_of
from aw_graders.collectors.normalise import mapping_of, text_of, whole_number

# Tools of Codex that run a command: only their outputs begin with a head that Codex wrote.
COMMAND_TOOLS: Final = frozenset(
    {
        "apply_patch", "container.exec", "exec", "exec_command", "local_shell", "shell",
        "shell_command", "unified_exec", "write_stdin",
    }
)  # fmt: skip
_WRAPPED: Final = {"output", "metadata"}
_HEADS: Final = (
    re.compile(r"Exit code: (-?[0-9]{1,10})\nWall time: [0-9.]{1,20} seconds?\n", re.ASCII),
    re.compile(
        r"(?:Chunk ID: [0-9A-Za-z_-]{1,64}\n)?Wall time: [0-9.]{1,20} seconds?\n"
        r"Process exited with code (-?[0-9]{1,10})\n",
        re.ASCII,
    ),
)
_TEXTS: Final = frozenset({"input_text", "output_text", "text"})
_NS_PER_MS: Final = 1_000_000
_MS_PER_SECOND: Final = 1000


class Outcome(msgspec.Struct, frozen=True):
    """What a recording says of an ended call; None where it says nothing."""

    success: bool | None = None
    exit_code: int | None = None
    server: str | None = None
    duration_ms: int | float | None = None

    def merged(self, other: "Outcome") -> "Outcome":
        """Add what `other` says; a failure that either of them says wins."""
        said = [value for value in (self.success, other.success) if value is not None]
        return Outcome(
            success=all(said) if said else None,
            exit_code=self.exit_code if self.exit_code is not None else other.exit_code,
            server=self.server or other.server,
            duration_ms=self.duration_ms if self.duration_ms is not None else other.duration_ms,
        )


def outcome_of_code(code: object) -> Outcome:
    """Read an exit code: 0 succeeded, any other failed, anything else says nothing."""
    if not isinstance(code, int) or isinstance(code, bool):
        return Outcome()
    return Outcome(success=code == 0, exit_code=code)


def outcome_of_status(status: object) -> bool | None:
    """Read how an item ended; None for a status that tells of no end."""
    if status == "completed":
        return True
    return False if status in ("failed", "declined") else None


def outcome_of_output(output: object, tool: str | None) -> Outcome:
    """Read what a call's output says of its end.

    Takes: the output as recorded, and the tool's name when it is known.
    Returns: the exit code that Codex wrapped around a command's output, or the success flag that it
        put beside a content. Nothing else is read.
    """
    fields = mapping_of(output)
    if fields is not None and isinstance(fields.get("success"), bool) and "content" in fields:
        return Outcome(success=fields["success"])
    if tool is not None and tool not in COMMAND_TOOLS:
        return Outcome()
    if fields is None:
        text = next(iter(parts_of(output, _TEXTS)), "")
        if text.startswith("{"):
            fields = _wrapped(text)
        elif tool is not None:
            return _outcome_of_head(text)
    if fields is not None and set(fields) == _WRAPPED:
        return _outcome_of_metadata(mapping_of(fields["metadata"]) or {})
    return Outcome()


def _wrapped(text: str) -> Mapping[str, Any] | None:
    # Outputs that are JSON of their own are often long, and are not decoded for nothing.
    if '"metadata"' not in text:
        return None
    try:
        return mapping_of(_json.decode(text.encode("utf-8", "replace")))
    except _json.JsonError:
        return None


def _outcome_of_metadata(metadata: Mapping[str, Any]) -> Outcome:
    outcome = outcome_of_code(metadata.get("exit_code"))
    seconds = metadata.get("duration_seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        return outcome
    return msgspec.structs.replace(outcome, duration_ms=_milliseconds(seconds * _MS_PER_SECOND))


def _outcome_of_head(text: str) -> Outcome:
    for head in _HEADS:
        match = head.match(text)
        if match is not None:
            return outcome_of_code(int(match[1]))
    return Outcome()


def outcome_of_event(payload: Mapping[str, Any]) -> Outcome:
    """Read what an event says that tells of a call's end."""
    kind = text_of(payload.get("type")) or ""
    outcome = Outcome(success=outcome_of_status(payload.get("status")))
    if kind == "exec_command_end":
        outcome = outcome_of_code(payload.get("exit_code")).merged(outcome)
    elif isinstance(payload.get("success"), bool):
        outcome = Outcome(success=payload["success"])
    elif kind == "mcp_tool_call_end":
        outcome = _outcome_of_mcp(payload)
    return msgspec.structs.replace(outcome, duration_ms=_duration(payload.get("duration")))


def _outcome_of_mcp(payload: Mapping[str, Any]) -> Outcome:
    server = text_of((mapping_of(payload.get("invocation")) or {}).get("server"))
    result = mapping_of(payload.get("result")) or {}
    if "Err" in result:
        return Outcome(success=False, server=server)
    if "Ok" not in result:
        return Outcome(server=server)
    fields = mapping_of(result["Ok"]) or {}
    failed = any(fields.get(key) is True for key in ("isError", "is_error"))
    return Outcome(success=not failed, server=server)


def _duration(value: object) -> int | float | None:
    """Read a duration of whole seconds and nanoseconds, as milliseconds."""
    fields = mapping_of(value) or {}
    seconds = whole_number(fields.get("secs")).value
    nanos = whole_number(fields.get("nanos")).value
    if seconds is None or nanos is None:
        return None
    return _milliseconds(seconds * _MS_PER_SECOND + nanos / _NS_PER_MS)


def _milliseconds(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number
