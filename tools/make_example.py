"""Write `examples/workflow-run.jsonl`: a made-up workflow run with evidence of every phase.

Run `python tools/make_example.py` after a change; a test compares the file with what this makes.
"""

import json
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "examples" / "workflow-run.jsonl"
_AGENT = ("agent", "agent", "agent-session.jsonl")
_GATEWAY = ("mcp", "agent", "mcp-logs/gateway.jsonl")
_PROXY = ("firewall", "agent", "sandbox/firewall/logs/api-proxy-logs/token-usage.jsonl")
_FILES = ("src/parser.py", "src/lexer.py", "tests/test_parser.py", "docs/grammar.md", "README.md")


class _Run:
    """Collects events; each source counts its own index, one clock ticks for all."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.next_index: dict[tuple[str, str, str], int] = {}
        self.second = 0

    def add(
        self, source: tuple[str, str, str], kind: str, data: dict[str, Any], **top: Any
    ) -> None:
        component, phase, path = source
        index = self.next_index.get(source, 0)
        self.next_index[source] = index + 1
        self.second += 1
        stamp = f"2026-03-02T09:{self.second // 60:02d}:{self.second % 60:02d}.000Z"
        provenance = {"component": component, "phase": phase, "path": path, "index": index}
        event = {"type": kind, **top, "timestamp": stamp, "data": data, "provenance": provenance}
        self.lines.append(event)

    def untimed(self, source: tuple[str, str, str], kind: str, data: dict[str, Any]) -> None:
        self.add(source, kind, data)
        del self.lines[-1]["timestamp"]

    def call(
        self, call_id: str, name: str, given: dict[str, Any], *, ok: bool = True, **top: Any
    ) -> None:
        start = {"toolCallId": call_id, "toolName": name, "input": given}
        self.add(_AGENT, "tool.execution_start", start, **top)
        end = {"toolCallId": call_id, "toolName": name, "success": ok, "durationMs": 120}
        end["output"] = "done" if ok else "the file does not exist"
        self.add(_AGENT, "tool.execution_complete", end, **top)

    def request(self, number: int, read: int, written: int, purpose: str = "agent") -> None:
        usage = {"inputTokens": read, "outputTokens": written, "inputTokensIncludeCache": True}
        usage["cacheReadInputTokens"] = read // 2
        data = {"provider": "example", "model": "example-large", "requestId": f"req-{number:03d}"}
        data |= {"status": 200, "durationMs": 900 + 10 * number, "purpose": purpose, "usage": usage}
        self.add(_PROXY, "firewall.token_usage", data)


def _activation(run: _Run) -> None:
    run.untimed(
        ("collector", "conclusion", "usage/aw_session.jsonl"), "session.format", {"version": 1}
    )
    info = {"engineId": "copilot", "workflow": "Fix parser issues", "repository": "example/parser"}
    info |= {"runId": "7001", "attempt": 1, "model": "example-large", "triggerType": "issues"}
    run.add(("workflow", "activation", "aw_info.json"), "workflow.info", info)
    prompts = ("prompt", "activation", "aw-prompts/user.txt")
    run.add(prompts, "prompt.user", {"content": "Fix the reported parser error."})
    experiment = ("experiment", "activation", "experiments/assignments.json")
    run.add(experiment, "experiment.assignment", {"assignments": {"prompt-style": "short"}})


def _agent(run: _Run) -> None:
    started = {"sourceEngine": "copilot", "sessionId": "s-7001", "model": "example-large"}
    run.add(_AGENT, "session.start", started)
    run.add(_AGENT, "user.message", {"content": "Fix the reported parser error."})
    run.request(0, 700, 12, "routing_classification")
    for number in range(1, 21):
        run.request(number, 9_000 + 1_500 * number, 180 + number)
        run.add(
            _AGENT, "assistant.message", {"content": f"Step {number}", "messageId": f"m-{number}"}
        )
        path = _FILES[number % len(_FILES)]
        run.call(f"call-{number}", "view", {"path": path, "line": number}, ok=number != 4)
        if number in {6, 7}:
            run.call(f"test-{number}", "bash", {"command": "pytest -q"})
            run.call(f"again-{number}", "bash", {"command": "pytest -q"}, ok=number == 7)
        if number % 5 == 0:
            run.call(f"issue-{number}", "github-get_issue", {"number": 42})
            seen = {"serverName": "github", "toolName": "get_issue", "status": "success"}
            run.add(_GATEWAY, "mcp.tool_call", seen | {"durationMs": 80})
    retry = {"event": "request", "level": "warn", "message": "rate limited, will retry in 1s"}
    run.add(_GATEWAY, "mcp.event", retry | {"serverName": "github"})
    own = {"serverName": "github", "toolName": "search_code", "status": "success"}
    run.add(_GATEWAY, "mcp.tool_call", own)
    _subagent(run)
    for host in ("api.example.com", "files.example.com"):
        access = {"host": host, "method": "GET", "status": 200, "decision": "allowed"}
        run.add(
            ("firewall", "agent", "sandbox/firewall/logs/access.jsonl"),
            "firewall.http_access",
            access,
        )
    result = {"numTurns": 20, "durationMs": 61_000, "status": "success"}
    run.add(
        _AGENT,
        "session.result",
        result | {"usage": {"inputTokens": 500_000, "outputTokens": 3_900}},
    )
    run.add(
        ("safe_output", "agent", "safeoutputs.jsonl"),
        "safe_output.request",
        {"type": "create_pull_request"},
    )
    done = {"outcome": "success", "exitCode": 0, "durationMs": 64_000}
    run.add(("execution", "agent", "agent_execution.json"), "execution.result", done)


def _subagent(run: _Run) -> None:
    run.add(
        _AGENT,
        "tool.execution_start",
        {"toolCallId": "task-1", "toolName": "task", "input": {"goal": "find callers"}},
    )
    run.add(
        _AGENT,
        "subagent.started",
        {"toolCallId": "task-1", "agentName": "explore"},
        agentId="explore-1",
    )
    for number in range(1, 8):
        run.request(100 + number, 2_000 + 300 * number, 60, "subagent")
        run.call(f"sub-{number}", "grep", {"pattern": f"parse_{number}"}, agentId="explore-1")
    run.add(_AGENT, "subagent.completed", {"toolCallId": "task-1"}, agentId="explore-1")
    run.add(
        _AGENT,
        "tool.execution_complete",
        {"toolCallId": "task-1", "toolName": "task", "success": True},
    )


def _after(run: _Run) -> None:
    detection = ("firewall", "detection", "threat-detection/token-usage.jsonl")
    for number in range(1, 9):
        usage = {"inputTokens": 40_000, "outputTokens": 90}
        run.add(
            detection,
            "firewall.token_usage",
            {"requestId": f"det-{number}", "durationMs": 2_000, "usage": usage},
        )
    native = ("agent", "detection", "threat-detection/agent-session.jsonl")
    run.add(
        native,
        "tool.execution_start",
        {"toolCallId": "d-1", "toolName": "view", "input": {"path": "patch"}},
    )
    verdict = {"jobResult": "success", "promptInjection": False, "secretLeak": False}
    run.add(
        ("detection", "detection", "usage/detection/detection_result.json"),
        "detection.result",
        verdict,
    )
    items = ("safe_output", "safe_outputs", "safe-output-items.jsonl")
    run.add(
        items,
        "safe_output.result",
        {"type": "create_pull_request", "number": 43, "status": "success"},
    )
    for number, answer in enumerate(("yes", "no", "yes"), 1):
        run.add(
            ("eval", "evals", "evals/evals.jsonl"),
            "eval.result",
            {"id": f"question-{number}", "answer": answer},
        )
        report = {"requestId": f"eval-{number}", "usage": {"inputTokens": 5_000, "outputTokens": 5}}
        run.add(("usage", "evals", "evals_token_usage.jsonl"), "usage.report", report)
    sources = [
        {"component": c, "phase": p, "path": path, "events": count}
        for (c, p, path), count in run.next_index.items()
        if c != "collector"
    ]
    data = {"sources": sources, "warnings": 0, "untimedEvents": 1, "absentComponents": ["grader"]}
    run.untimed(("collector", "conclusion", "usage/aw_session.jsonl"), "session.collection", data)


def make_example() -> str:
    """Return the whole example as JSON Lines."""
    run = _Run()
    _activation(run)
    _agent(run)
    _after(run)
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in run.lines)


if __name__ == "__main__":
    TARGET.write_text(make_example(), encoding="utf-8")
