"""One logical session, written as every recording that a collector reads.

Sizes are arithmetic, times are whole seconds, nothing is random, so that two renderings of a run can
differ only in what their formats can say. `RENDERINGS` is the table of what each of them cannot.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from aw_graders._json import compact, pretty
from aw_graders.collectors import SourceFile
from aw_graders.collectors.gh_aw import collect_root
from aw_graders.collectors.registry import COLLECTORS
from aw_graders.flows.evidence import Evidence, Observed, observe, read_evidence
from aw_graders.session import Session
from tests.support import lines_of

Row = dict[str, Any]

BEGIN: Final = datetime(2026, 5, 1, 10, tzinfo=UTC)
BEGIN_MS: Final = int(BEGIN.timestamp() * 1000)
MODEL: Final = "model-a"
PROMPT: Final = "Repair the parser."
ANSWER: Final = "It is repaired."
SHELL: Final = "shell"
SERVER: Final = "docs"
FIND: Final = "find"
REQUEST_SECONDS: Final = 2
CALL_SECONDS: Final = 1

# --- the logical session -------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call of the shell, or of the tool `find` of a server; `succeeded` is None without an end."""

    tool: str
    text: str
    succeeded: bool | None = True

    @property
    def arguments(self) -> Row:
        return {"command" if self.tool == SHELL else "query": self.text}

    @property
    def output(self) -> str:
        return "fine" if self.succeeded else "no such thing"


@dataclass(frozen=True)
class Request:
    """A model request: all tokens that it read, those of them out of the cache, those it wrote."""

    read: int
    cached: int
    written: int
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Run:
    """Requests with the calls that follow each; the last one gives the answer."""

    requests: tuple[Request, ...]
    retries: int = 1
    outputs: int = 1

    @property
    def calls(self) -> list[Call]:
        return [call for request in self.requests for call in request.calls]

    @property
    def is_ended(self) -> bool:
        """Whether no call was left without an end."""
        return all(call.succeeded is not None for call in self.calls)

    @property
    def seconds(self) -> int:
        return REQUEST_SECONDS * len(self.requests) + CALL_SECONDS * len(self.calls)


@dataclass(frozen=True)
class Asked:
    """A request in its place in time, in seconds."""

    number: int
    request: Request
    begin: int
    end: int
    calls: "tuple[Made, ...]"

    @property
    def is_last(self) -> bool:
        return not self.calls

    @property
    def fresh(self) -> int:
        """What was read and did not come out of the cache."""
        return self.request.read - self.request.cached

    @property
    def total(self) -> int:
        return self.request.read + self.request.written


@dataclass(frozen=True)
class Made:
    """A call in its place in time."""

    id: str
    call: Call
    begin: int
    end: int

    @property
    def is_ended(self) -> bool:
        return self.call.succeeded is not None


def schedule(run: Run) -> Iterator[Asked]:
    """Give every request and call its number and its time, one after the other."""
    second = made = 0
    for number, request in enumerate(run.requests, 1):
        begin, second = second, second + REQUEST_SECONDS
        end = second
        calls: list[Made] = []
        for call in request.calls:
            made += 1
            calls.append(Made(f"call-{made}", call, second, second + CALL_SECONDS))
            second += CALL_SECONDS
        yield Asked(number, request, begin, end, tuple(calls))


# A call that succeeds, one that fails, and the same again; then the answer.
PLAIN: Final = Run(
    (
        Request(
            1000,
            600,
            50,
            (
                Call(FIND, "grammar"),
                Call(SHELL, "make test", succeeded=False),
                Call(SHELL, "make test"),
            ),
        ),
        Request(1600, 1000, 30),
    )
)
# The same, and one more call, of other arguments alone, that never ended.
INTERRUPTED: Final = Run(
    (
        Request(
            1000, 600, 50, (*PLAIN.requests[0].calls, Call(SHELL, "make docs", succeeded=None))
        ),
        *PLAIN.requests[1:],
    )
)

# --- spelling --------------------------------------------------------------------------------------


def stamp(second: int) -> str:
    return (BEGIN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def ms(second: int) -> int:
    return BEGIN_MS + 1000 * second


def lines(*rows: Row) -> bytes:
    return lines_of(list(rows))


def text(value: str) -> Row:
    return {"type": "text", "text": value}


def mcp_name(call: Call, joint: str) -> str:
    return SHELL if call.tool == SHELL else f"{SERVER}{joint}{FIND}"


# --- the unified session -----------------------------------------------------------------------------

_AGENT: Final = ("agent", "agent", "agent-session.jsonl")
_GATEWAY: Final = ("mcp", "agent", "mcp-logs/gateway.jsonl")
_OUTPUTS: Final = ("safe_output", "safe_outputs", "safe-output-items.jsonl")


def agent_events(run: Run) -> Iterator[Row]:
    """What the agent's own session holds, without provenance."""

    def event(kind: str, second: int, **data: Any) -> Row:
        return {"type": kind, "timestamp": stamp(second), "data": data}

    yield event("session.start", 0, sourceEngine="made-up", sessionId="s", model=MODEL)
    yield event("user.message", 0, content=PROMPT)
    for asked in schedule(run):
        usage = {
            "inputTokens": asked.request.read,
            "cacheReadInputTokens": asked.request.cached,
            "outputTokens": asked.request.written,
            "inputTokensIncludeCache": True,
        }
        name = f"request-{asked.number}"
        yield event(
            "usage.report", asked.end, requestId=name, model=MODEL, purpose="agent", usage=usage
        )
        for made in asked.calls:
            named = {"toolCallId": made.id, "toolName": mcp_name(made.call, "-")}
            yield event("tool.execution_start", made.begin, **named, input=made.call.arguments)
            if made.is_ended:
                ended = {"success": made.call.succeeded, "output": made.call.output}
                yield event("tool.execution_complete", made.end, **named, **ended)
    yield event("assistant.message", run.seconds, content=ANSWER)
    result = {"status": "success", "durationMs": 1000 * run.seconds}
    yield event("session.result", run.seconds, **result)


def unified(run: Run) -> bytes:
    """The session with everything that a grader can ask for."""
    header = ("collector", "conclusion", "usage/aw_session.jsonl")
    placed: list[tuple[tuple[str, str, str], Row]] = [
        (header, {"type": "session.format", "data": {"version": 1}}),
        *((_AGENT, event) for event in agent_events(run)),
    ]
    for asked in schedule(run):
        for made in asked.calls:
            if made.call.tool == FIND and made.is_ended:
                seen = {"serverName": SERVER, "toolName": FIND}
                seen["status"] = "success" if made.call.succeeded else "error"
                event = {"type": "mcp.tool_call", "timestamp": stamp(made.end), "data": seen}
                placed.append((_GATEWAY, event))
    retry = {"event": "request", "message": "will retry in 1s", "serverName": SERVER}
    placed += [(_GATEWAY, {"type": "mcp.event", "data": retry})] * run.retries
    result = {"type": "safe_output.result", "data": {"type": "create_issue", "status": "success"}}
    placed += [(_OUTPUTS, result)] * run.outputs
    placed.append((header, _collection()))
    counts: dict[tuple[str, str, str], int] = {}
    events: list[Row] = []
    for place, event in placed:
        index = counts.get(place, 0)
        counts[place] = index + 1
        component, phase, path = place
        provenance = {"component": component, "phase": phase, "path": path, "index": index}
        events.append({**event, "provenance": provenance})
    return lines(*events)


def _collection() -> Row:
    """What was read; a source of which no event came was there all the same."""
    places = (_AGENT, _GATEWAY, _OUTPUTS)
    sources = [
        {"component": component, "phase": phase, "path": path} for component, phase, path in places
    ]
    return {"type": "session.collection", "data": {"sources": sources, "warnings": 0}}


# --- the folder of a workflow's run --------------------------------------------------------------------


def gh_aw(run: Run) -> dict[str, bytes]:
    """The agent's events without its own counts, and what gateway, proxy and outputs' job saw."""
    own = (event for event in agent_events(run) if event["type"] != "usage.report")
    gateway: list[Row] = []
    proxy: list[Row] = []
    for asked in schedule(run):
        proxy.append(
            {
                "timestamp": stamp(asked.end),
                "event": "token_usage",
                "request_id": f"request-{asked.number}",
                "model": MODEL,
                "status": 200,
                "input_tokens": asked.fresh,
                "cache_read_tokens": asked.request.cached,
                "output_tokens": asked.request.written,
                "input_tokens_include_cache": False,
                "duration_ms": 1000 * REQUEST_SECONDS,
            }
        )
        gateway += (
            {
                "timestamp": stamp(made.end),
                "event": "tool_call",
                "server_name": SERVER,
                "tool_name": FIND,
                "status": "success" if made.call.succeeded else "error",
            }
            for made in asked.calls
            if made.call.tool == FIND and made.is_ended
        )
    gateway += [{"event": "request", "message": "will retry in 1s"}] * run.retries
    outputs: list[Row] = [{"type": "create_issue", "status": "success"}] * run.outputs
    return {
        "agent-session.jsonl": lines(*own),
        "mcp-logs/gateway.jsonl": lines(*gateway),
        "sandbox/firewall/logs/api-proxy-logs/token-usage.jsonl": lines(*proxy),
        "safe-output-items.jsonl": lines(*outputs),
    }


# --- Claude Code -------------------------------------------------------------------------------------


def _anthropic_call(made: Made) -> Row:
    return {"type": "tool_use", "id": made.id, "name": made.call.tool, "input": made.call.arguments}


def _anthropic_result(made: Made) -> Row:
    block = {"type": "tool_result", "tool_use_id": made.id, "content": made.call.output}
    return block if made.call.succeeded else {**block, "is_error": True}


def _claude_rows(run: Run) -> Iterator[tuple[int, Row]]:
    yield 0, {"type": "user", "message": {"role": "user", "content": PROMPT}}
    for asked in schedule(run):
        usage = {
            "input_tokens": asked.fresh,
            "cache_read_input_tokens": asked.request.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": asked.request.written,
        }
        blocks = (
            [text(ANSWER)] if asked.is_last else [_anthropic_call(made) for made in asked.calls]
        )
        message = {"id": f"msg-{asked.number}", "role": "assistant", "model": MODEL}
        # A message's rows come one by one, each with a block and the message's usage.
        for block in blocks:
            yield (
                asked.end,
                {"type": "assistant", "message": {**message, "content": [block], "usage": usage}},
            )
        for made in asked.calls:
            if made.is_ended:
                message = {"role": "user", "content": [_anthropic_result(made)]}
                yield made.end, {"type": "user", "message": message}


def claude(run: Run) -> bytes:
    return lines(
        *(
            {**row, "uuid": f"u-{number}", "sessionId": "s", "timestamp": stamp(second)}
            for number, (second, row) in enumerate(_claude_rows(run))
        )
    )


def claude_stream(run: Run) -> bytes:
    rows = [{**row, "session_id": "s"} for second, row in _claude_rows(run) if second]
    result = {"type": "result", "subtype": "success", "session_id": "s", "result": ANSWER}
    return lines(
        {"type": "system", "subtype": "init", "session_id": "s", "model": MODEL, "tools": []},
        *rows,
        {**result, "num_turns": len(run.requests), "duration_ms": 1000 * run.seconds},
    )


# --- Codex ---------------------------------------------------------------------------------------------


def _codex_counts(requests: Sequence[Request]) -> Row:
    read, written = (sum(getattr(r, name) for r in requests) for name in ("read", "written"))
    return {
        "input_tokens": read,
        "cached_input_tokens": sum(request.cached for request in requests),
        "output_tokens": written,
        "reasoning_output_tokens": 0,
        "total_tokens": read + written,
    }


def codex(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, payload: Row) -> None:
        rows.append({"timestamp": stamp(second), "type": kind, "payload": payload})

    def item(second: int, kind: str, **fields: Any) -> None:
        add("response_item", second, {"type": kind, **fields})

    add("session_meta", 0, {"id": "s", "timestamp": stamp(0), "cwd": "/w"})
    add("turn_context", 0, {"model": MODEL})
    item(0, "message", role="user", content=[{"type": "input_text", "text": PROMPT}])
    for asked in schedule(run):
        for made in asked.calls:
            name, given = mcp_name(made.call, "__"), json.dumps(made.call.arguments)
            item(asked.end, "function_call", call_id=made.id, name=name, arguments=given)
        if asked.is_last:
            said = [{"type": "output_text", "text": ANSWER}]
            item(asked.end, "message", role="assistant", content=said)
        info = {
            "total_token_usage": _codex_counts(run.requests[: asked.number]),
            "last_token_usage": _codex_counts([asked.request]),
        }
        add("event_msg", asked.end, {"type": "token_count", "info": info})
        for made in filter(lambda made: made.is_ended, asked.calls):
            output: Any = made.call.output
            if made.call.tool == SHELL:
                metadata = {"exit_code": int(not made.call.succeeded), "duration_seconds": 1.0}
                output = json.dumps({"output": output, "metadata": metadata})
            else:
                ended = {"type": "mcp_tool_call_end", "call_id": made.id}
                invocation = {"server": SERVER, "tool": FIND, "arguments": made.call.arguments}
                result = {"Ok": {"content": []}} if made.call.succeeded else {"Err": output}
                payload = {**ended, "invocation": invocation, "result": result}
                add("event_msg", made.end, payload)
            item(made.end, "function_call_output", call_id=made.id, output=output)
    return lines(*rows)


def codex_stream(run: Run) -> bytes:
    rows: list[Row] = [
        {"type": "thread.started", "thread_id": "s"},
        {"type": "turn.started"},
    ]
    for asked in schedule(run):
        for made in asked.calls:
            item: Row = {"id": made.id}
            if made.call.tool == SHELL:
                item |= {"type": "command_execution", "command": made.call.text}
            else:
                item |= {"type": "mcp_tool_call", "server": SERVER, "tool": FIND}
                item["arguments"] = made.call.arguments
            rows.append({"type": "item.started", "item": {**item, "status": "in_progress"}})
            if not made.is_ended:
                continue
            ended = {**item, "status": "completed" if made.call.succeeded else "failed"}
            if made.call.tool == SHELL:
                ended |= {"exit_code": int(not made.call.succeeded)}
                ended |= {"aggregated_output": made.call.output}
            rows.append({"type": "item.completed", "item": ended})
    answer = {"id": "answer", "type": "agent_message", "text": ANSWER}
    counts = _codex_counts(run.requests)
    usage = {
        name: counts[name] for name in ("input_tokens", "cached_input_tokens", "output_tokens")
    }
    done = {"type": "turn.completed", "usage": usage}
    return lines(*rows, {"type": "item.completed", "item": answer}, done)


def codex_transcript(run: Run) -> bytes:
    def at(second: int) -> str:
        return stamp(second).removesuffix(".000Z")

    rows = [
        f"[{at(0)}] OpenAI Codex v0.27.0 (research preview)\n--------",
        f"workdir: /w\nmodel: {MODEL}\n--------",
        f"[{at(0)}] User instructions:\n{PROMPT}",
    ]
    used = 0
    for asked in schedule(run):
        used += asked.fresh + asked.request.written
        rows.append(f"[{at(asked.end)}] tokens used: {used}")
        for made in asked.calls:
            is_shell = made.call.tool == SHELL
            given = json.dumps(made.call.arguments)
            words = made.call.text if is_shell else f"{SERVER}.{FIND}({given})"
            begun = f"exec {words} in /w" if is_shell else f"tool {words}"
            rows.append(f"[{at(made.begin)}] {begun}")
            if made.is_ended:
                good, bad = ("succeeded", "exited 1") if is_shell else ("success", "failed")
                ended = good if made.call.succeeded else bad
                rows.append(f"[{at(made.end)}] {words} {ended} in 1s:\n{made.call.output}")
    rows.append(f"[{at(run.seconds)}] codex\n{ANSWER}")
    return "".join(f"{row}\n" for row in rows).encode()


# --- Copilot CLI -----------------------------------------------------------------------------------------


def copilot(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, **data: Any) -> None:
        number = len(rows)
        parent = None if not number else f"e-{number - 1}"
        about = {"id": f"e-{number}", "timestamp": stamp(second), "parentId": parent}
        rows.append({"type": kind, "data": data, **about})

    add("session.start", 0, sessionId="s", producer="copilot-agent", selectedModel=MODEL)
    add("user.message", 0, content=PROMPT)
    for asked in schedule(run):
        wanted = [
            {"toolCallId": made.id, "name": made.call.tool, "arguments": made.call.arguments}
            for made in asked.calls
        ]
        said = ANSWER if asked.is_last else ""
        add("assistant.message", asked.end, content=said, toolRequests=wanted)
        for made in asked.calls:
            named = {"toolCallId": made.id, "toolName": made.call.tool}
            add("tool.execution_start", made.begin, **named, arguments=made.call.arguments)
            if made.is_ended:
                result = {"content": made.call.output}
                ended = {"toolCallId": made.id, "success": made.call.succeeded, "result": result}
                add("tool.execution_complete", made.end, **ended)
    counts = _codex_counts(run.requests)
    usage = {
        "inputTokens": counts["input_tokens"],
        "cacheReadTokens": counts["cached_input_tokens"],
        "outputTokens": counts["output_tokens"],
    }
    metrics = {MODEL: {"requests": {"count": len(run.requests)}, "usage": usage}}
    add("session.shutdown", run.seconds, shutdownType="routine", modelMetrics=metrics)
    return lines(*rows)


# --- Factory Droid ---------------------------------------------------------------------------------------


def droid_stream(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, **fields: Any) -> None:
        rows.append({"type": kind, "session_id": "s", "timestamp": ms(second), **fields})

    add("system", 0, subtype="init", model=MODEL, cwd="/w")
    add("message", 0, role="user", text=PROMPT, id="m-0")
    for asked in schedule(run):
        if asked.is_last:
            add("message", asked.end, role="assistant", text=ANSWER, id=f"m-{asked.number}")
        for made in asked.calls:
            named = {"id": made.id, "toolId": made.call.tool, "toolName": made.call.tool}
            add("tool_call", made.begin, **named, parameters=made.call.arguments)
            if made.is_ended:
                ended = {"isError": not made.call.succeeded, "value": made.call.output}
                add("tool_result", made.end, **named, **ended)
    usage = {
        "input_tokens": sum(asked.fresh for asked in schedule(run)),
        "cache_read_input_tokens": sum(request.cached for request in run.requests),
        "output_tokens": sum(request.written for request in run.requests),
    }
    done = {"finalText": ANSWER, "numTurns": 1, "durationMs": 1000 * run.seconds, "usage": usage}
    add("completion", run.seconds, **done)
    return lines(*rows)


def droid_session(run: Run) -> bytes:
    rows: list[Row] = [
        {"type": "session_start", "id": "s", "title": "t", "owner": "o", "cwd": "/w"}
    ]

    def add(role: str, second: int, *blocks: Row) -> None:
        about = {"id": f"m-{len(rows)}", "timestamp": stamp(second)}
        rows.append(
            {"type": "message", **about, "message": {"role": role, "content": list(blocks)}}
        )

    add("user", 0, text(PROMPT))
    for asked in schedule(run):
        add(
            "assistant",
            asked.end,
            *map(_anthropic_call, asked.calls),
            *([text(ANSWER)] * asked.is_last),
        )
        for made in asked.calls:
            if made.is_ended:
                add("user", made.end, _anthropic_result(made))
    return lines(*rows)


# --- Gemini CLI and Qwen Code ----------------------------------------------------------------------------


def _gemini_response(made: Made) -> list[Row]:
    body = {"output" if made.call.succeeded else "error": made.call.output}
    return [{"functionResponse": {"id": made.id, "name": made.call.tool, "response": body}}]


def _gemini_call(made: Made) -> Row:
    row: Row = {"id": made.id, "name": made.call.tool, "args": made.call.arguments}
    row["timestamp"] = stamp(made.end)
    if not made.is_ended:
        return {**row, "status": "executing"}
    status = "success" if made.call.succeeded else "error"
    return {**row, "status": status, "result": _gemini_response(made)}


def gemini(run: Run) -> bytes:
    said = {"id": "m-0", "timestamp": stamp(0), "type": "user", "content": PROMPT}
    messages: list[Row] = [said]
    for asked in schedule(run):
        counts = {"input": asked.request.read, "output": asked.request.written}
        counts |= {"cached": asked.request.cached, "thoughts": 0, "tool": 0, "total": asked.total}
        answer: Row = {"id": f"m-{asked.number}", "timestamp": stamp(asked.end), "type": "gemini"}
        answer |= {"content": ANSWER if asked.is_last else "", "model": MODEL, "tokens": counts}
        if asked.calls:
            answer["toolCalls"] = [_gemini_call(made) for made in asked.calls]
        messages.append(answer)
    head = {"sessionId": "s", "projectHash": "p", "startTime": stamp(0)}
    return pretty({**head, "lastUpdated": stamp(run.seconds), "messages": messages})


def gemini_stream(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, **fields: Any) -> None:
        rows.append({"type": kind, "timestamp": stamp(second), **fields})

    add("init", 0, session_id="s", model=MODEL)
    add("message", 0, role="user", content=PROMPT)
    for asked in schedule(run):
        for made in asked.calls:
            named = {"tool_name": made.call.tool, "tool_id": made.id}
            add("tool_use", made.begin, **named, parameters=made.call.arguments)
            if made.call.succeeded:
                add("tool_result", made.end, tool_id=made.id, status="success", output="fine")
            elif made.is_ended:
                error = {"type": "failed", "message": made.call.output}
                add("tool_result", made.end, tool_id=made.id, status="error", error=error)
    for piece in (ANSWER[:4], ANSWER[4:]):
        add("message", run.seconds, role="assistant", content=piece, delta=True)
    counts = _codex_counts(run.requests)
    stats = {name: counts[name] for name in ("input_tokens", "output_tokens", "total_tokens")}
    stats |= {"cached": counts["cached_input_tokens"], "duration_ms": 1000 * run.seconds}
    add("result", run.seconds, status="success", stats=stats)
    return lines(*rows)


def qwen(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, role: str, parts: list[Row], **rest: Any) -> None:
        number = len(rows)
        parent = None if not number else f"r-{number - 1}"
        about = {"uuid": f"r-{number}", "parentUuid": parent, "sessionId": "s", "cwd": "/w"}
        about |= {"timestamp": stamp(second), "type": kind}
        rows.append({**about, "message": {"role": role, "parts": parts}, **rest})

    add("user", 0, "user", [{"text": PROMPT}])
    for asked in schedule(run):
        parts: list[Row] = [{"text": ANSWER}] if asked.is_last else []
        for made in asked.calls:
            named = {"id": made.id, "name": made.call.tool, "args": made.call.arguments}
            parts.append({"functionCall": named})
        usage = {
            "promptTokenCount": asked.request.read,
            "cachedContentTokenCount": asked.request.cached,
            "candidatesTokenCount": asked.request.written,
            "totalTokenCount": asked.total,
        }
        add("assistant", asked.end, "model", parts, model=MODEL, usageMetadata=usage)
        for made in asked.calls:
            if made.is_ended:
                status = "success" if made.call.succeeded else "error"
                ended = {"callId": made.id, "status": status}
                response = _gemini_response(made)
                add("tool_result", made.end, "user", response, toolCallResult=ended)
    return lines(*rows)


# --- Inspect ---------------------------------------------------------------------------------------------


def _inspect_sample(run: Run) -> Row:
    events: list[Row] = []
    asks: Row = {"id": "p", "role": "user", "content": PROMPT}
    messages: list[Row] = [asks]
    for asked in schedule(run):
        message: Row = {"id": f"m-{asked.number}", "role": "assistant", "content": ""}
        if asked.is_last:
            message["content"] = ANSWER
        else:
            message["tool_calls"] = [
                {
                    "id": made.id,
                    "function": made.call.tool,
                    "arguments": made.call.arguments,
                    "type": "function",
                }
                for made in asked.calls
            ]
        usage = {"input_tokens": asked.request.read, "output_tokens": asked.request.written}
        usage |= {"total_tokens": asked.total, "input_tokens_cache_read": asked.request.cached}
        output = {"model": MODEL, "choices": [{"message": message}], "usage": usage}
        about = {"uuid": f"u-{asked.number}", "event": "model", "model": MODEL}
        times = {"timestamp": stamp(asked.begin), "completed": stamp(asked.end)}
        events.append({**about, **times, "output": output})
        messages.append(message)
        for made in asked.calls:
            event: Row = {"event": "tool", "id": made.id, "function": made.call.tool}
            event |= {"arguments": made.call.arguments, "timestamp": stamp(made.begin)}
            if not made.is_ended:
                events.append({**event, "pending": True})
                continue
            event |= {"result": made.call.output, "completed": stamp(made.end)}
            if not made.call.succeeded:
                event["error"] = {"type": "unknown", "message": made.call.output}
            events.append(event)
    about = {"id": 1, "epoch": 1, "uuid": "s", "input": PROMPT, "target": ANSWER}
    return {**about, "messages": messages, "events": events}


def inspect_log(run: Run) -> bytes:
    head = {"version": 2, "status": "success", "eval": {"model": MODEL}, "plan": {}}
    return compact({**head, "samples": [_inspect_sample(run)]})


def inspect_archive(run: Run) -> bytes:
    buffer = io.BytesIO()
    start = {"version": 2, "eval": {"model": MODEL}}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo("_journal/start.json"), compact(start))
        file.writestr(zipfile.ZipInfo("samples/1_epoch_1.json"), compact(_inspect_sample(run)))
    return buffer.getvalue()


# --- OpenCode --------------------------------------------------------------------------------------------


def _opencode_tool(made: Made) -> Row:
    # A command that failed is a call that completed, and its exit code says so.
    state: Row = {
        "status": "running",
        "input": made.call.arguments,
        "time": {"start": ms(made.begin)},
    }
    if made.is_ended:
        time = {"start": ms(made.begin), "end": ms(made.end)}
        state |= {"status": "completed", "output": made.call.output, "time": time}
        if made.call.tool == SHELL:
            state["metadata"] = {"exit": int(not made.call.succeeded)}
        elif not made.call.succeeded:
            state |= {"status": "error", "error": state.pop("output")}
    return {"type": "tool", "callID": made.id, "tool": made.call.tool, "state": state}


def _opencode_finish(asked: Asked) -> Row:
    cache = {"read": asked.request.cached, "write": 0}
    tokens = {"input": asked.fresh, "output": asked.request.written, "reasoning": 0}
    tokens |= {"total": asked.total, "cache": cache}
    return {"type": "step-finish", "reason": "stop", "tokens": tokens}


def opencode_stream(run: Run) -> bytes:
    rows: list[Row] = []

    def add(kind: str, second: int, message: int, part: Row) -> None:
        about = {"id": f"p-{len(rows)}", "sessionID": "s", "messageID": f"m-{message}"}
        row = {"type": kind, "timestamp": ms(second), "sessionID": "s", "part": {**about, **part}}
        rows.append(row)

    for asked in schedule(run):
        add("step_start", asked.begin, asked.number, {"type": "step-start"})
        if asked.is_last:
            add("text", asked.end, asked.number, text(ANSWER))
        for made in asked.calls:
            add("tool_use", made.end, asked.number, _opencode_tool(made))
        end = asked.calls[-1].end if asked.calls else asked.end
        add("step_finish", end, asked.number, _opencode_finish(asked))
    return lines(*rows)


def opencode_export(run: Run) -> bytes:
    messages: list[Row] = []

    def add(role: str, times: Row, *parts: Row, **more: Any) -> None:
        name = f"m-{len(messages)}"
        about = {"sessionID": "s", "messageID": name}
        held = [{"id": f"{name}-{n}", **about, **part} for n, part in enumerate(parts)]
        info = {"id": name, "sessionID": "s", "role": role, "time": times, **more}
        messages.append({"info": info, "parts": held})

    add("user", {"created": ms(0)}, text(PROMPT))
    for asked in schedule(run):
        end = asked.calls[-1].end if asked.calls else asked.end
        parts: list[Row] = [_opencode_tool(made) for made in asked.calls]
        if asked.is_last:
            parts.append({**text(ANSWER), "time": {"start": ms(asked.begin), "end": ms(asked.end)}})
        times = {"created": ms(asked.begin), "completed": ms(end)}
        finish = _opencode_finish(asked)
        named = {"modelID": MODEL, "providerID": "p", "tokens": finish["tokens"]}
        add("assistant", times, *parts, finish, **named)
    info = {"id": "s", "directory": "/w", "time": {"created": ms(0), "updated": ms(run.seconds)}}
    return pretty({"info": info, "messages": messages})


# --- OpenTelemetry ---------------------------------------------------------------------------------------


def _pairs(values: Row) -> list[Row]:
    return [
        {
            "key": key,
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in values.items()
    ]


def otel(run: Run) -> bytes:
    spans: list[Row] = []

    def add(name: str, operation: str, begin: int, end: int | None, **more: Any) -> None:
        attributes = {"gen_ai.operation.name": operation, **more.pop("attributes")}
        nanos = "0" if end is None else f"{ms(end)}000000"
        about = {"traceId": "t", "spanId": name, "name": name, "attributes": _pairs(attributes)}
        times = {"startTimeUnixNano": f"{ms(begin)}000000", "endTimeUnixNano": nanos}
        parent = "" if name == "agent" else "agent"
        spans.append({**about, "parentSpanId": parent, **times, **more})

    for asked in schedule(run):
        usage = {
            "gen_ai.request.model": MODEL,
            "gen_ai.usage.input_tokens": asked.request.read,
            "gen_ai.usage.cache_read.input_tokens": asked.request.cached,
            "gen_ai.usage.output_tokens": asked.request.written,
        }
        add(f"chat-{asked.number}", "chat", asked.begin, asked.end, attributes=usage)
        for made in asked.calls:
            named = {"gen_ai.tool.call.id": made.id, "gen_ai.tool.name": made.call.tool}
            named["gen_ai.tool.call.arguments"] = json.dumps(made.call.arguments)
            status = {"status": {"code": 2}} if made.call.succeeded is False else {}
            end = made.end if made.is_ended else None
            add(made.id, "execute_tool", made.begin, end, attributes=named, **status)
    add("agent", "invoke_agent", 0, run.seconds, attributes={"gen_ai.agent.name": "a"})
    resource = {"attributes": _pairs({"service.name": "demo"})}
    return lines({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]})


# --- Pi --------------------------------------------------------------------------------------------------


def _pi_messages(run: Run) -> Iterator[tuple[int, Row]]:
    yield 0, {"role": "user", "content": [text(PROMPT)]}
    for asked in schedule(run):
        usage = {"input": asked.fresh, "output": asked.request.written, "cacheWrite": 0}
        usage |= {"cacheRead": asked.request.cached, "totalTokens": asked.total}
        blocks: list[Row] = [text(ANSWER)] if asked.is_last else []
        for made in asked.calls:
            named = {"id": made.id, "name": made.call.tool, "arguments": made.call.arguments}
            blocks.append({"type": "toolCall", **named})
        answer = {"role": "assistant", "content": blocks, "provider": "p", "model": MODEL}
        stop = "stop" if asked.is_last else "toolUse"
        yield asked.end, {**answer, "usage": usage, "stopReason": stop}
        for made in asked.calls:
            if made.is_ended:
                result = {"role": "toolResult", "toolCallId": made.id, "toolName": made.call.tool}
                result |= {"content": [text(made.call.output)], "isError": not made.call.succeeded}
                yield made.end, result


def _pi_head() -> Row:
    return {"type": "session", "version": 3, "id": "s", "timestamp": stamp(0), "cwd": "/w"}


def pi(run: Run) -> bytes:
    rows = (
        {
            "type": "message",
            "id": f"r-{number}",
            "timestamp": stamp(second),
            "message": {**message, "timestamp": ms(second)},
        }
        for number, (second, message) in enumerate(_pi_messages(run))
    )
    return lines(_pi_head(), *rows)


def pi_stream(run: Run) -> bytes:
    rows: list[Row] = [_pi_head(), {"type": "agent_start"}]
    for second, message in _pi_messages(run):
        timed = {**message, "timestamp": ms(second)}
        rows += [
            {"type": "message_start", "message": timed},
            {"type": "message_end", "message": timed},
        ]
    return lines(*rows, {"type": "agent_end", "messages": []})


# --- ATIF ------------------------------------------------------------------------------------------------


def _atif(run: Run, flag: Callable[[Call], Row]) -> bytes:
    said = {"step_id": 1, "timestamp": stamp(0), "source": "user", "message": PROMPT}
    steps: list[Row] = [said]
    for asked in schedule(run):
        metrics = {
            "prompt_tokens": asked.request.read,
            "cached_tokens": asked.request.cached,
            "completion_tokens": asked.request.written,
        }
        step: Row = {"step_id": len(steps) + 1, "timestamp": stamp(asked.end), "source": "agent"}
        step |= {"message": ANSWER if asked.is_last else "", "metrics": metrics}
        if asked.calls:
            step["tool_calls"] = [
                {
                    "tool_call_id": made.id,
                    "function_name": made.call.tool,
                    "arguments": made.call.arguments,
                }
                for made in asked.calls
            ]
            results = [
                {"source_call_id": made.id, "content": made.call.output, **flag(made.call)}
                for made in asked.calls
                if made.is_ended
            ]
            step["observation"] = {"results": results}
        steps.append(step)
    counts = _codex_counts(run.requests)
    final = {
        "total_prompt_tokens": counts["input_tokens"],
        "total_cached_tokens": counts["cached_input_tokens"],
        "total_completion_tokens": counts["output_tokens"],
        "total_steps": len(steps),
    }
    agent = {"name": "made-up", "version": "1", "model_name": MODEL}
    head = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent}
    return pretty({**head, "steps": steps, "final_metrics": final})


def atif(run: Run) -> bytes:
    return _atif(run, lambda _: {})


def atif_flagged(run: Run) -> bytes:
    return _atif(run, lambda call: {"extra": {"is_error": not call.succeeded}})


# --- SWE-agent and mini-SWE-agent ------------------------------------------------------------------------


def _chat_call(made: Made) -> Row:
    function = {"name": made.call.tool, "arguments": json.dumps(made.call.arguments)}
    return {"id": made.id, "type": "function", "function": function}


def swe_agent(run: Run) -> bytes:
    """A step holds one action, so that a request of several calls becomes as many steps."""
    history: list[Row] = [{"role": "user", "content": PROMPT, "agent": "main"}]
    steps: list[Row] = []
    for asked in schedule(run):
        for made in asked.calls:
            said = {"role": "assistant", "content": "next", "agent": "main", "thought": "next"}
            history.append({**said, "action": made.call.text, "tool_calls": [_chat_call(made)]})
            step: Row = {"action": made.call.text, "response": "next", "thought": "next"}
            step |= {"observation": None, "execution_time": 0}
            if made.is_ended:
                step |= {"observation": made.call.output, "execution_time": 1.0}
                result = {"role": "tool", "content": made.call.output, "agent": "main"}
                history.append({**result, "tool_call_ids": [made.id]})
            steps.append(step)
    steps.append({"action": "", "observation": "", "response": ANSWER, "thought": ANSWER})
    counts = _codex_counts(run.requests)
    stats = {"api_calls": len(run.requests), "tokens_sent": counts["input_tokens"]}
    stats["tokens_received"] = counts["output_tokens"]
    info = {"exit_status": "submitted", "model_stats": stats}
    return pretty({"trajectory": steps, "history": history, "info": info})


def mini_swe_agent(run: Run) -> bytes:
    def at(second: int) -> Row:
        return {"timestamp": ms(second) / 1000}

    messages: list[Row] = [{"role": "user", "content": PROMPT, "extra": at(0)}]
    for asked in schedule(run):
        usage = {"prompt_tokens": asked.request.read, "completion_tokens": asked.request.written}
        usage |= {"total_tokens": asked.total}
        details = {"cached_tokens": asked.request.cached}
        counted = {**usage, "prompt_tokens_details": details}
        response = {"id": f"chat-{asked.number}", "model": MODEL, "usage": counted}
        answer: Row = {"role": "assistant", "content": ANSWER if asked.is_last else ""}
        if asked.calls:
            answer["tool_calls"] = [_chat_call(made) for made in asked.calls]
        messages.append({**answer, "extra": {**at(asked.end), "response": response}})
        for made in asked.calls:
            if made.is_ended:
                extra = {**at(made.end), "returncode": int(not made.call.succeeded)}
                result = {"role": "tool", "tool_call_id": made.id, "content": made.call.output}
                messages.append({**result, "extra": extra})
    stats = {"api_calls": len(run.requests)}
    info = {"mini_version": "2.0.0", "exit_status": "Submitted", "model_stats": stats}
    head = {"trajectory_format": "mini-swe-agent-1.1", "info": info}
    return pretty({**head, "messages": messages})


# --- OpenHands -------------------------------------------------------------------------------------------


def _naive(second: int) -> str:
    return stamp(second).removesuffix(".000Z")


def openhands(run: Run) -> bytes:
    """The result of one run: its events, and its requests in a list beside them."""
    history: list[Row] = []
    usages: list[Row] = []

    def add(kind: str, second: int, source: str, **fields: Any) -> None:
        about = {"id": f"e-{len(history)}", "timestamp": _naive(second), "source": source}
        history.append({"kind": kind, **about, **fields})

    add("MessageEvent", 0, "user", llm_message={"role": "user", "content": [text(PROMPT)]})
    for asked in schedule(run):
        answered = {"llm_response_id": f"chat-{asked.number}"}
        counts = {"prompt_tokens": asked.request.read, "completion_tokens": asked.request.written}
        counts["cache_read_tokens"] = asked.request.cached
        usages.append({"model": MODEL, "response_id": f"chat-{asked.number}", **counts})
        if asked.is_last:
            message = {"role": "assistant", "content": [text(ANSWER)]}
            add("MessageEvent", asked.end, "agent", llm_message=message, **answered)
        actions: dict[str, str] = {}
        for made in asked.calls:
            actions[made.id] = f"e-{len(history)}"
            named = {"tool_name": made.call.tool, "tool_call_id": made.id, **answered}
            action = {"kind": "MadeUpAction", **made.call.arguments}
            add("ActionEvent", asked.end, "agent", **named, action=action)
        for made in asked.calls:
            if made.is_ended:
                seen: Row = {"content": [text(made.call.output)], "is_error": False}
                if made.call.tool == SHELL:
                    seen["exit_code"] = int(not made.call.succeeded)
                else:
                    seen["is_error"] = not made.call.succeeded
                named = {"tool_name": made.call.tool, "tool_call_id": made.id}
                named["action_id"] = actions[made.id]
                add("ObservationEvent", made.end, "environment", **named, observation=seen)
    return lines({"instance_id": "i", "history": history, "metrics": {"token_usages": usages}})


def openhands_legacy(run: Run) -> bytes:
    """Events of the first generation, in which an action carries the response that asked for it."""
    rows: list[Row] = []

    def add(second: int, source: str, **fields: Any) -> None:
        about = {"id": len(rows), "timestamp": _naive(second), "source": source, "message": ""}
        rows.append({**about, **fields})

    add(0, "user", action="message", args={"content": PROMPT})
    for asked in schedule(run):
        usage = {"prompt_tokens": asked.request.read, "completion_tokens": asked.request.written}
        details = {"cached_tokens": asked.request.cached}
        response = {"id": f"chat-{asked.number}", "model": MODEL, "choices": []}
        response["usage"] = {**usage, "prompt_tokens_details": details}
        if asked.is_last:
            called = {"function_name": "finish", "tool_call_id": "finish"}
            done = {"final_thought": ANSWER, "task_completed": "true"}
            metadata = {**called, "model_response": response}
            add(asked.end, "agent", action="finish", args=done, tool_call_metadata=metadata)
        for made in asked.calls:
            called = {"function_name": made.call.tool, "tool_call_id": made.id}
            metadata = {**called, "model_response": response}
            kind = "run" if made.call.tool == SHELL else "browse_interactive"
            cause = len(rows)
            given = made.call.arguments
            add(made.begin, "agent", action=kind, args=given, tool_call_metadata=metadata)
            if made.is_ended:
                extras: Row = {"error": not made.call.succeeded}
                if made.call.tool == SHELL:
                    extras = {"metadata": {"exit_code": int(not made.call.succeeded)}}
                seen = {"content": made.call.output, "extras": extras, "cause": cause}
                seen["observation"] = "run" if made.call.tool == SHELL else "browse"
                add(made.end, "agent", **seen, tool_call_metadata=called)
    return pretty(rows)


# --- what each format cannot say -------------------------------------------------------------------------

SUCCESS, FAILURES, LOOPS, EFFICIENCY = (
    "tool-success-rate",
    "tool-failure-count",
    "loops",
    "trajectory-efficiency",
)
RETRIES, ARTIFACTS = "retries", "artifact-production"
STEPS, DURATION = "execution-step-count", "execution-duration"
REBUILD, GROWTH = "working-set-rebuild-factor", "context-growth"


# What a duration rests on, as the lookups name it. A run begins with its first event and ends with
# its last, so that the span and the session's own result agree; the proxy's durations do not.
SESSION, SPAN, PROXY = "session", "span", "proxy"


@dataclass(frozen=True)
class Lack:
    """Evidence that a format does not have: the result's reason, and what is missing in few words.

    `holds` tells of which runs the evidence is missing.
    """

    reason: str
    words: str
    holds: Callable[[Run], bool] = lambda _: True


@dataclass(frozen=True)
class Other:
    """A number that rests on other evidence than the unified session's, and why.

    It is None of a run of which the number is the unified session's all the same.
    """

    value: Callable[[Run], int | float | None]
    why: str


@dataclass(frozen=True)
class Rendering:
    """A format: its collector, how a run is written in it, what it lacks or has otherwise.

    `duration` is what the duration rests on; `notes` are the codes of all notes that reading gives;
    `also` are collectors that would take the content, too, if they were asked first.
    """

    id: str
    kind: str
    title: str
    render: Callable[[Run], bytes | dict[str, bytes]]
    duration: str | None
    lacks: Mapping[str, Lack] = field(default_factory=dict)
    others: Mapping[str, Other] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


def _no_requests(words: str) -> dict[str, Lack]:
    return {
        STEPS: Lack("no-model-requests", words),
        REBUILD: Lack("no-input-tokens", words),
        GROWTH: Lack("no-token-usage", words),
    }


UNIFIED_ID: Final = "unified"
GH_AW_ID: Final = "gh_aw"
# No recording of an agent alone tells what the gateway and the job after the agent did.
_ALONE: Final = {
    RETRIES: Lack("gateway-not-observed", "gateway log"),
    ARTIFACTS: Lack("results-not-observed", "safe-output results"),
}
_PER_RUN: Final = _ALONE | _no_requests("tokens are per run")
_PER_TURN: Final = _ALONE | _no_requests("tokens are per turn")
_NO_TOKENS: Final = _ALONE | _no_requests("tokens")
_UNSPLIT: Final = _ALONE | _no_requests("tokens are one sum")
_NO_OUTCOMES: Final = {
    id_: Lack(
        "no-outcome-recorded", "outcome of calls", lambda run: bool(run.calls) and run.is_ended
    )
    for id_ in (SUCCESS, FAILURES)
}
_UNENDED: Final = "a call without an end is a known outcome, and calls of unknown outcome fail, too"
_UNKNOWN_FAIL: Final = {
    SUCCESS: Other(lambda run: None if run.is_ended else 0, _UNENDED),
    FAILURES: Other(lambda run: None if run.is_ended else len(run.calls), _UNENDED),
}
_NO_TIMES: Final = {DURATION: Lack("no-duration", "times")}
_PROXY_TIME: Final = {
    DURATION: Other(
        lambda run: 1000 * REQUEST_SECONDS * len(run.requests),
        "the proxy's durations go before the session's result and leave out the time of calls",
    )
}
# Droid's stream begins with a row that Claude Code's could begin with, too: it must be asked first.
_SHARED_HEAD: Final = ("claude",)

_ALL: Final = (
    Rendering(UNIFIED_ID, UNIFIED_ID, "JSON Lines", unified, SESSION),
    Rendering(GH_AW_ID, GH_AW_ID, "folder of a run", gh_aw, PROXY, others=_PROXY_TIME),
    Rendering("claude", "claude", "session", claude, SPAN, _ALONE),
    Rendering("claude-stream", "claude", "`stream-json`", claude_stream, SESSION, _ALONE),
    Rendering("codex", "codex", "rollout", codex, SPAN, _ALONE),
    Rendering("codex-stream", "codex", "`exec --json`", codex_stream, None, _PER_TURN | _NO_TIMES),
    Rendering(
        "codex-transcript",
        "codex",
        "transcript",
        codex_transcript,
        SPAN,
        _UNSPLIT,
        # It writes its times without a zone and counts tokens in one sum.
        notes=("time-without-zone", "usage-not-split"),
    ),
    Rendering("copilot", "copilot", "session state", copilot, SPAN, _PER_RUN),
    Rendering("droid", "droid", "session", droid_session, SPAN, _NO_TOKENS),
    Rendering(
        "droid-stream", "droid", "`stream-json`", droid_stream, SESSION, _PER_RUN, also=_SHARED_HEAD
    ),
    Rendering("gemini", "gemini", "session", gemini, SPAN, _ALONE),
    Rendering("gemini-stream", "gemini", "`stream-json`", gemini_stream, SESSION, _PER_RUN),
    Rendering("qwen", "gemini", "Qwen Code session", qwen, SPAN, _ALONE),
    Rendering("inspect", "inspect_ai", "JSON log", inspect_log, SPAN, _ALONE),
    Rendering("inspect-archive", "inspect_ai", "archive", inspect_archive, SPAN, _ALONE),
    Rendering("opencode", "opencode", "export", opencode_export, SPAN, _ALONE),
    Rendering(
        "opencode-stream",
        "opencode",
        "`run --format json`",
        opencode_stream,
        SPAN,
        _ALONE,
    ),
    Rendering("otel", "otel", "OTLP JSON", otel, SESSION, _ALONE),
    Rendering("pi", "pi", "session", pi, SPAN, _ALONE),
    Rendering("pi-stream", "pi", "`--mode json`", pi_stream, SPAN, _ALONE),
    Rendering(
        "atif",
        "atif",
        "results without a flag",
        atif,
        SPAN,
        _ALONE | _NO_OUTCOMES,
        _UNKNOWN_FAIL,
    ),
    Rendering("atif-flagged", "atif", "results with `is_error`", atif_flagged, SPAN, _ALONE),
    Rendering(
        "swe-agent",
        "swe_agent",
        "trajectory",
        swe_agent,
        None,
        _PER_RUN | _NO_OUTCOMES | _NO_TIMES,
        _UNKNOWN_FAIL,
    ),
    Rendering(
        "mini-swe-agent",
        "swe_agent",
        "mini-SWE-agent trajectory",
        mini_swe_agent,
        SPAN,
        _ALONE,
        # Its times are seconds since 1970.
        notes=("time-in-seconds",),
    ),
    Rendering(
        "openhands", "openhands", "result", openhands, SPAN, _ALONE, notes=("time-without-zone",)
    ),
    Rendering(
        "openhands-legacy",
        "openhands",
        "events of the first generation",
        openhands_legacy,
        SPAN,
        _ALONE,
        notes=("time-without-zone",),
    ),
)
_KNOWN: Final = {UNIFIED_ID, GH_AW_ID, *(collector.id for collector in COLLECTORS)}
# A rendering counts as soon as its collector is registered.
RENDERINGS: Final = tuple(rendering for rendering in _ALL if rendering.kind in _KNOWN)


def evidence_of(rendering: Rendering, run: Run) -> Evidence:
    """Read a rendering of a run as the command would."""
    written = rendering.render(run)
    if isinstance(written, bytes):
        # A name says nothing, and must not.
        return read_evidence([SourceFile("recording", written)], lenient=False, strict=False)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, content in written.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        collected = collect_root(root)
    session = Session.of(collected.events)
    return Evidence(session=session, kind=rendering.kind, is_unified=False, notes=collected.notes)


def observed(rendering: Rendering, run: Run) -> Observed:
    """Redact what was read and build its lookups."""
    return observe(evidence_of(rendering, run))
