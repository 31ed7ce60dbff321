"""A small session, custom graders over it, and what a run of one leaves behind."""

import json
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from aw_graders import _json
from aw_graders.config.custom import INLINE, OPERATIONAL_VALUE
from aw_graders.config.executable import Executable, executable
from aw_graders.graders.settings import GraderSettings
from aw_graders.lookups import create_session_lookups
from aw_graders.runtimes.bash import run_evaluator
from aw_graders.runtimes.node import SessionText, run_script, session_text
from aw_graders.runtimes.outcome import Answer, Failure, result_of
from aw_graders.runtimes.snapshot import lookups_snapshot
from tests.support import VECTORS, redacted

# The processors that these tests can count on.
THREADS = 2

EVENTS: list[dict[str, Any]] = [
    {
        "type": "session.format",
        "data": {"version": 1},
        "provenance": {
            "component": "collector",
            "phase": "conclusion",
            "path": "usage/aw_session.jsonl",
            "index": 0,
        },
    },
    {
        "type": "tool.execution_start",
        "timestamp": "2026-05-01T10:00:01.000Z",
        "data": {
            "toolCallId": "c1",
            "toolName": "read",
            "input": {"__proto__": {"polluted": True}},
        },
        "provenance": {"component": "agent", "phase": "agent", "path": "e", "index": 1},
    },
    {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "c1", "success": True},
        "provenance": {"component": "agent", "phase": "agent", "path": "e", "index": 2},
    },
]


def vectors(name: str) -> Any:
    """Return a file of vectors for the runtimes."""
    return json.loads((VECTORS / "runtimes" / name).read_text("utf-8"))


def lines(events: list[dict[str, Any]] | None = None) -> list[bytes]:
    """Return the lines of a redacted session, as a file has them."""
    session = redacted(EVENTS if events is None else events)
    return [_json.compact(event.to_json()) + b"\n" for event in session.events]


def text_of(events: list[dict[str, Any]]) -> SessionText:
    """Return a session with its lookups as scripts get it."""
    session = redacted(events)
    found = lookups_snapshot(session, create_session_lookups(session))
    return session_text(lines(events), found)


@cache
def small() -> SessionText:
    """Return the session that `EVENTS` make."""
    return text_of(EVENTS)


def grader(code: str | bytes, source: Any = INLINE, **settings: Any) -> Executable:
    """Return a custom grader with this code; lone surrogates are spelled as bytes."""
    raw = code if isinstance(code, bytes) else code.encode("utf-8", "surrogatepass")
    return executable(GraderSettings(id="custom", **settings), source, raw)


def script(
    code: str | bytes,
    session: SessionText | None = None,
    config: Mapping[str, Any] | None = None,
) -> Answer | Failure:
    """Run one script."""
    return run_script(grader(code, config=config or {}), session or small()).answer


def evaluator(code: str, config: Mapping[str, Any] | None = None) -> Answer | Failure:
    """Run one evaluator; its first line is added."""
    given = grader(f"#!/bin/bash\n{code}", OPERATIONAL_VALUE, config=config or {})
    return run_evaluator(given, lines()).answer


def evaluator_file(
    code: bytes, events: list[dict[str, Any]], config: Mapping[str, Any] | None = None
) -> Answer | Failure:
    """Run a whole evaluator over a session."""
    given = grader(code, OPERATIONAL_VALUE, config=config or {})
    return run_evaluator(given, lines(events)).answer


def result_text(given: Executable, answer: Answer | Failure) -> str:
    """Return everything that a result says, as text."""
    return msgspec.json.encode(result_of(given, answer), enc_hook=dict).decode()


def problem(case: dict[str, Any], answer: Answer | Failure) -> str | None:
    """Say how an answer differs from what a vector expects."""
    said = answer.error if isinstance(answer, Failure) else answer.message or ""
    found = {
        "outcome": "error" if isinstance(answer, Failure) else "value",
        "value": getattr(answer, "value", None),
        "line": getattr(answer, "line", None),
        "column": getattr(answer, "column", None),
    }
    wanted = {key: case[key] for key in found if key in case}
    is_said = "says" not in case or re.fullmatch(case["says"], said, re.DOTALL)
    diagnostics = getattr(answer, "diagnostics", None)
    is_told = "diagnostics" not in case or plain(diagnostics) == case["diagnostics"]
    if {key: found[key] for key in wanted} == wanted and is_said and is_told:
        return None
    return f"{case['name']}: {str(answer)[:400]}"


def plain(value: Any) -> Any:
    """Return frozen data as lists and dictionaries."""
    return json.loads(msgspec.json.encode(value, enc_hook=dict))


def in_parallel(function: Any, items: list[Any]) -> list[Any]:
    """Call a function for each item, a few at a time."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(function, items))


def processes_with(mark: str) -> list[str]:
    """Return the command lines of running processes that hold a text, after a little patience."""
    for _ in range(100):
        found = [line for line in _command_lines() if mark in line]
        if not found:
            return []
        time.sleep(0.01)
    return found


def _command_lines() -> list[str]:
    found: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                raw = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            found.append(raw.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
