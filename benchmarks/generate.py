"""Large made-up sessions: deterministic, of a stated size and mix of events."""

import random
from pathlib import Path
from typing import Any

from aw_graders._json import compact

_WORDS = ("alpha", "error", "file", "line", "src/main.py", "ok", "test", "value", "\n", '"quoted"')
_PATHS = {
    "agent": "agent-session.jsonl",
    "firewall": "token-usage.jsonl",
    "mcp": "mcp-logs/gateway.jsonl",
}


def _text(source: random.Random, words: int) -> str:
    return " ".join(source.choices(_WORDS, k=words))


def write_session(path: Path, size: int, *, output_words: int, deltas: int) -> int:
    """Write a session of about `size` bytes and return the number of its events.

    Each round is one tool call with an output of up to `output_words` words, one model request, one
    gateway event and `deltas` short message deltas.
    """
    source = random.Random(7)  # noqa: S311 - made-up data has to be the same each time
    index = dict.fromkeys(_PATHS, 0)
    events = 1
    with path.open("wb") as file:
        file.write(
            b'{"type":"session.format","data":{"version":1},"provenance":{"component":"collector","phase":"conclusion","path":"usage/aw_session.jsonl","index":0}}\n'
        )

        def write(component: str, kind: str, data: dict[str, Any]) -> None:
            place = {
                "component": component,
                "phase": "agent",
                "path": _PATHS[component],
                "index": index[component],
            }
            index[component] += 1
            file.write(compact({"type": kind, "data": data, "provenance": place}) + b"\n")

        number = 0
        while file.tell() < size:
            number += 1
            name = source.choice(("bash", "view", "edit", "grep"))
            write(
                "agent",
                "tool.execution_start",
                {
                    "toolCallId": f"c{number}",
                    "toolName": name,
                    "input": {"n": source.randrange(40)},
                },
            )
            output = _text(source, source.randrange(1, output_words + 1))
            write(
                "agent",
                "tool.execution_complete",
                {"toolCallId": f"c{number}", "success": source.random() > 0.1, "output": output},
            )
            usage = {"inputTokens": 1000 + number, "outputTokens": 50}
            write(
                "firewall",
                "firewall.token_usage",
                {"model": "m", "requestId": f"r{number}", "durationMs": 900, "usage": usage},
            )
            write("mcp", "mcp.event", {"event": "request", "level": "info", "message": "served"})
            for delta in range(deltas):
                write(
                    "agent",
                    "assistant.message_delta",
                    {"messageId": f"m{number}", "deltaContent": _text(source, 1 + delta % 2)},
                )
            events += 4 + deltas
    return events
