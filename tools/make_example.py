"""Write the examples, both made up.

`examples/workflow-run.jsonl` is a unified session of a workflow run, with evidence of every phase.
`examples/claude-code.jsonl` is a Claude Code transcript: messages over several rows, a sub-agent on
a side chain, a call that fails and is tried again, and a compaction.

Run `python tools/make_example.py` after a change; tests compare the files with what this makes.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "examples"
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
    """Return the whole workflow run as JSON Lines."""
    run = _Run()
    _activation(run)
    _agent(run)
    _after(run)
    return _lines(run.lines)


_PROMPT = "The last page of the catalogue is missing one entry. Find out why and fix it."
_SEARCH = "List every caller of page_count and say which ones pass a page size of 0."
_CHECK = {"command": "make check", "description": "Run the checks"}
_REMINDER = "<system-reminder>\nThe to-do list is empty.\n</system-reminder>"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "ZXhhbXBsZQ=="}


class _Chat:
    """Collects rows as Claude Code appends them; every row that has a time is 3 s after the last."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.seconds = 0
        self.answers = 0
        self.calls = 0
        self.parent: dict[bool, str | None] = {False: None, True: None}

    def plain(self, kind: str, **fields: Any) -> None:
        """Add a row without time, id and place in the conversation."""
        self.rows.append({"type": kind, **fields})

    def row(self, kind: str, *, aside: bool = False, **fields: Any) -> None:
        """Add a row of the conversation, or of a sub-agent's beside it."""
        uuid = f"00000000-0000-4000-8000-{len(self.rows):012d}"
        minutes, seconds = divmod(self.seconds, 60)
        self.seconds += 3
        self.rows.append(
            {
                "parentUuid": self.parent[aside],
                "isSidechain": aside,
                "userType": "external",
                "cwd": "/project",
                "sessionId": "5e551011-0000-4000-8000-000000000001",
                "version": "2.0.0",
                "gitBranch": "main",
                "type": kind,
                **fields,
                "uuid": uuid,
                "timestamp": f"2026-03-02T14:{minutes:02d}:{seconds:02d}.000Z",
            }
        )
        self.parent[aside] = uuid

    def said(self, text: str, *, aside: bool = False, **fields: Any) -> None:
        """Add a row of the user."""
        self.row("user", aside=aside, message={"role": "user", "content": text}, **fields)

    def use(self, name: str, **given: Any) -> dict[str, Any]:
        """Make a block that calls a tool."""
        self.calls += 1
        return {"type": "tool_use", "id": f"toolu_{self.calls:04d}", "name": name, "input": given}

    def answer(
        self, cached: int, written: int, *blocks: dict[str, Any], aside: bool = False
    ) -> None:
        """Add one answer of the model: a row per block, each with the counts known by then."""
        self.answers += 1
        for number, block in enumerate(blocks, 1):
            usage = {
                "input_tokens": 4,
                "cache_creation_input_tokens": 1_000,
                "cache_read_input_tokens": cached,
                "output_tokens": written * number // len(blocks),
                "service_tier": "standard",
            }
            message = {
                "id": f"msg_{self.answers:04d}",
                "type": "message",
                "role": "assistant",
                "model": "example-large",
                "content": [block],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            }
            self.row("assistant", aside=aside, message=message, requestId=f"req_{self.answers:04d}")

    def result(
        self, call: dict[str, Any], output: str, *, ok: bool = True, aside: bool = False
    ) -> None:
        """Add the row with what a tool returned."""
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": output}
        if not ok:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        self.row("user", aside=aside, message=message, toolUseResult=output)

    def step(self, number: int, call: dict[str, Any], output: str, *before: dict[str, Any]) -> None:
        """Add the answer with this number of the first part, with one call, and its result."""
        self.answer(7_000 + 1_000 * number, 100 + 10 * number, *before, call)
        self.result(call, output)


def _look_around(chat: _Chat) -> None:
    chat.plain(
        "summary", summary="Catalogue paging", leafUuid="00000000-0000-4000-8000-999999999999"
    )
    snapshot = {"trackedFileBackups": {}, "timestamp": "2026-03-02T14:00:00.000Z"}
    chat.plain(
        "file-history-snapshot", messageId="first", snapshot=snapshot, isSnapshotUpdate=False
    )
    chat.said(_PROMPT)
    chat.step(
        1,
        chat.use("Grep", pattern="page_count", path="catalogue"),
        "catalogue/paging.py:12\ncatalogue/export.py:40",
        _thinking("An entry is lost at the end: the number of pages may be rounded down."),
        _text("I will look for where pages are counted."),
    )
    files = [chat.use("Read", file_path=f"catalogue/{name}.py") for name in ("paging", "export")]
    chat.answer(9_000, 120, _text("Two files use it."), *files)
    for file in files:
        chat.result(file, "     1\tdef page_count(entries, size): ...")
    check = chat.use("Bash", **_CHECK)
    chat.answer(10_000, 130, _thinking("First see what fails now."), check)
    chat.result(check, "another check is running; try again later", ok=False)
    again = chat.use("Bash", **_CHECK)
    chat.answer(11_000, 140, _text("The checks were locked, so I run them again."), again)
    chat.result(again, "41 passed, 1 failed: test_last_page")
    chat.step(
        5,
        chat.use("Edit", file_path="catalogue/paging.py", old_string="//", new_string="-(-"),
        "The file was changed.",
        _text("The division rounds down. I round up."),
    )


def _ask_a_sub_agent(chat: _Chat) -> None:
    task = chat.use("Task", description="Find callers", prompt=_SEARCH, subagent_type="explore")
    chat.answer(
        13_000,
        160,
        _thinking("A page size of 0 would now divide by zero."),
        _text("I let a sub-agent look for callers."),
        task,
    )
    chat.said(_SEARCH, aside=True)
    looked = (
        chat.use("Grep", pattern="page_count\\(", path="."),
        chat.use("Glob", pattern="**/settings*.py"),
        chat.use("Read", file_path="catalogue/settings.py"),
    )
    for number, call in enumerate(looked, 1):
        chat.answer(1_000 + 500 * number, 40 + number, _text(f"Step {number}."), call, aside=True)
        chat.result(call, f"{number} match", aside=True)
    chat.answer(3_000, 44, _text("No caller passes 0."), aside=True)
    chat.result(task, "No caller passes 0.")
    chat.said(_REMINDER, isMeta=True)


def _change(chat: _Chat) -> None:
    chat.step(7, chat.use("Read", file_path="tests/test_paging.py"), "     1\timport pytest")
    chat.step(
        8,
        chat.use("Edit", file_path="tests/test_paging.py", old_string="3", new_string="4"),
        "The file was changed.",
        _text("The test expects the lost entry as well."),
    )
    # The model's one block is written twice, as an answer that is still growing is.
    check = chat.use("Bash", command="make test", description="Run the tests")
    chat.step(9, check, "42 passed", check)
    todo = {"content": "Describe the change", "status": "pending", "activeForm": "Describing"}
    chat.step(10, chat.use("TodoWrite", todos=[todo]), "The list was changed.")
    chat.step(
        11,
        chat.use("Bash", command="git diff --stat", description="Show what changed"),
        " 2 files changed",
        _text("A last look at the change."),
    )


def _after_compaction(chat: _Chat) -> None:
    compacted = {"trigger": "auto", "preTokens": 19_000}
    chat.row(
        "system",
        subtype="compact_boundary",
        content="Conversation compacted",
        level="info",
        compactMetadata=compacted,
    )
    summary = "This session continues an earlier one. The paging is fixed; a note is missing."
    chat.said(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    note = "docs/changes.md"
    calls = (
        (chat.use("Read", file_path=note), "     1\t# Changes"),
        (chat.use("Edit", file_path=note, old_string="# Changes", new_string="# News"), "Changed."),
        (chat.use("Bash", command="make docs", description="Build the pages"), "done"),
        (
            chat.use("Write", file_path="docs/paging.md", content="Pages are rounded up."),
            "Written.",
        ),
    )
    for number, (call, output) in enumerate(calls, 1):
        chat.answer(2_000 + 1_000 * number, 80 + 10 * number, _text(f"Note {number}."), call)
        chat.result(call, output)
    chat.answer(
        7_000,
        130,
        _thinking("Everything is done."),
        _text("The number of pages was rounded down; it is rounded up now, and a test holds it."),
    )
    chat.row("system", subtype="turn_duration", durationMs=chat.seconds * 1000, isMeta=False)


def make_transcript() -> str:
    """Return the whole transcript as JSON Lines."""
    chat = _Chat()
    _look_around(chat)
    _ask_a_sub_agent(chat)
    _change(chat)
    _after_compaction(chat)
    return _lines(chat.rows)


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


EXAMPLES = {"workflow-run.jsonl": make_example, "claude-code.jsonl": make_transcript}


if __name__ == "__main__":
    for name, make in EXAMPLES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
