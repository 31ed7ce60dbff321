"""A session as a readable timeline: one line per event."""

from collections.abc import Mapping
from typing import Any, Final, cast

from aw_graders import _json
from aw_graders.diagnostics import printable
from aw_graders.session import Event, Redacted
from aw_graders.session.order import event_time_ns
from aw_graders.session.timestamps import format_utc

_MAX_TEXT: Final = 100
# As wide as the time of a day: hours, minutes, seconds, milliseconds and zone.
_NO_TIME: Final = "-" * 13
_TOLD: Final = (
    "toolName",
    "content",
    "message",
    "summary",
    "error",
    "status",
    "event",
    "type",
    "id",
)


def timeline_rows(session: Redacted) -> list[dict[str, Any]]:
    """Make one row per event: time, phase, component, type, what happened, and depth.

    `depth` is 1 for events of a sub-agent, else 0.
    """
    rows: list[dict[str, Any]] = []
    for event in session.events:
        time = event_time_ns(event)
        rest, data = event.rest, event.data
        nested = any(
            isinstance(place.get(key), str)
            for place in (rest, data)
            for key in ("agentId", "parentToolUseId", "parentToolCallId", "parent_tool_use_id")
        )
        rows.append(
            {
                "time": None if time is None else format_utc(time),
                "phase": event.provenance.phase,
                "component": event.provenance.component,
                "type": event.type,
                "what": _what(event, data),
                "depth": int(nested),
                "path": event.provenance.path,
                "index": event.provenance.index,
            }
        )
    return rows


def render_timeline(session: Redacted) -> str:
    """Spell the timeline as text; sub-agents are indented, control characters are replaced."""
    rows = timeline_rows(session)
    widths = {key: max(len(row[key]) for row in rows) for key in ("phase", "component", "type")}
    lines = [
        "  ".join(
            (
                row["time"].partition("T")[2] if row["time"] else _NO_TIME,
                *(printable(row[key]).ljust(widths[key]) for key in ("phase", "component", "type")),
                "    " * row["depth"] + printable(row["what"]),
            )
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _what(event: Event, data: Mapping[str, Any]) -> str:
    """Say in one line what happened."""
    if event.type.startswith("tool.execution_"):
        return _tool(data)
    usage = data.get("usage")
    if hasattr(usage, "get"):
        counts = cast("Mapping[str, Any]", usage)
        return f"{data.get('model', '')} in {counts.get('inputTokens')} out {counts.get('outputTokens')}"
    for key in _TOLD:
        value = data.get(key)
        if isinstance(value, str) and value:
            return _cut(value)
    return _cut(_json.compact(data).decode()) if data else ""


def _tool(data: Mapping[str, Any]) -> str:
    parts = [str(data.get(key)) for key in ("toolName", "toolCallId") if data.get(key)]
    if "input" in data:
        parts.append(_json.compact(data["input"]).decode())
    if "success" in data:
        parts.append("succeeded" if data["success"] is True else "failed")
    return _cut(" ".join(parts))


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_TEXT else flat[: _MAX_TEXT - 3] + "..."
