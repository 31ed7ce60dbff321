"""Small run folders, and what the collector makes of them."""

import json
from pathlib import Path
from typing import Any

from aw_graders.collectors import Collected
from aw_graders.collectors.gh_aw import collect_root
from aw_graders.lookups import SessionLookups, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session

START = "2026-05-01T10:00:00Z"
PROXY = "sandbox/firewall/logs/api-proxy-logs/token-usage.jsonl"


def lines(*rows: Any) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(root: Path, files: dict[str, Any]) -> Path:
    """Write files below a root: text as it is, bytes as they are, anything else as a document."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return root


def collect(root: Path, files: dict[str, Any]) -> Collected:
    """Write a run and collect it."""
    return collect_root(write(root, files))


def of_type(collected: Collected, kind: str) -> list[dict[str, Any]]:
    """The events of a type."""
    return [event.to_json() for event in collected.events if event.type == kind]


def data_of(collected: Collected, kind: str) -> list[Any]:
    """The data of the events of a type."""
    return [event["data"] for event in of_type(collected, kind)]


def places(collected: Collected) -> set[tuple[str, str, str, int]]:
    """What the last event says was read: component, phase, path and number of events."""
    sources = data_of(collected, "session.collection")[0]["sources"]
    return {(item["component"], item["phase"], item["path"], item["events"]) for item in sources}


def codes(collected: Collected) -> list[tuple[str, str, int | None, bool]]:
    """Every note: code, file, line, and whether evidence was left out."""
    return [(note.code, note.name, note.line, note.lossy) for note in collected.notes]


def lookups(collected: Collected) -> SessionLookups:
    """Lookups of what was collected, redacted."""
    return create_session_lookups(redact(Session.of(collected.events)).session)


def start(call_id: str, name: str = "sh", **rest: Any) -> dict[str, Any]:
    """A row of a normalised session: a call begins."""
    data = {"toolCallId": call_id, "toolName": name, "input": {"of": call_id}}
    return {"type": "tool.execution_start", "data": data, **rest}


def complete(call_id: str, *, success: bool = True, **rest: Any) -> dict[str, Any]:
    """A row of a normalised session: a call ended."""
    data = {"toolCallId": call_id, "success": success, "output": "done"}
    return {"type": "tool.execution_complete", "data": data, **rest}


def request(request_id: str, read: int, wrote: int = 1, **rest: Any) -> dict[str, Any]:
    """A row of the proxy's token log."""
    return {
        "timestamp": START,
        "event": "token_usage",
        "request_id": request_id,
        "model": "m",
        "status": 200,
        "input_tokens": read,
        "output_tokens": wrote,
        "duration_ms": 100,
        **rest,
    }


INIT = {"type": "session.init", "timestamp": START, "data": {"sessionId": "s"}}
