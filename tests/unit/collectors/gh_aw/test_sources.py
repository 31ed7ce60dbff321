"""Every other source of a run: what is read of it, as which events, and what wins."""

from pathlib import Path

from tests.unit.collectors.gh_aw.runs import (
    INIT,
    PROXY,
    START,
    codes,
    collect,
    complete,
    data_of,
    lines,
    lookups,
    of_type,
    places,
    request,
    start,
)

CALL = {
    "timestamp": START,
    "event": "tool_call",
    "server_name": "atlas",
    "tool_name": "search",
    "duration": 2.5,
    "status": "success",
    "arguments": {"q": "x"},
}


def rpc(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": START, "type": kind, "server_id": "atlas", "payload": payload}


def test_gateway_kinds_become_types_and_lose_arguments_and_bodies(tmp_path: Path) -> None:
    ask = rpc("REQUEST", id=1, method="tools/call", params={"name": "search", "arguments": {}})
    tools = rpc("REQUEST", id=2, method="tools/list", params={"name": "x"})
    failed = rpc("RESPONSE", id=1, error={"code": -1, "message": "no", "data": "body"})
    flagged = rpc("RESPONSE", id=2, result={"isError": True, "content": ["body"]})
    rows = lines(
        CALL,
        ask,
        tools,
        failed,
        flagged,
        {"type": "DIFC_FILTERED", "server_id": "atlas", "tool_name": "t", "reason": "r", "url": 1},
        {"event": "guard_seen", "level": "info", "message": "please retry", "payload": {}},
        {"eventName": "GUARD_POLICY_BLOCKED", "toolName": "t"},
        {"type": "rpc_call", "tool_name": "t", "retry": True, "error": ["x"]},
    )
    collected = collect(tmp_path, {"mcp-logs/gateway.jsonl": rows})
    assert [(event.type, event.to_json()["data"]) for event in collected.events[1:-1]] == [
        (
            "mcp.tool_call",
            {"serverName": "atlas", "toolName": "search", "durationMs": 2.5, "status": "success"},
        ),
        (
            "mcp.rpc.request",
            {"rpcId": 1, "method": "tools/call", "toolName": "search", "serverName": "atlas"},
        ),
        ("mcp.rpc.request", {"rpcId": 2, "method": "tools/list", "serverName": "atlas"}),
        (
            "mcp.rpc.response",
            {"rpcId": 1, "error": {"code": -1, "message": "no"}, "serverName": "atlas"},
        ),
        ("mcp.rpc.response", {"rpcId": 2, "status": "error", "serverName": "atlas"}),
        ("mcp.difc.filtered", {"serverName": "atlas", "toolName": "t", "reason": "r"}),
        ("mcp.event", {"event": "guard_seen", "level": "info", "message": "please retry"}),
        ("mcp.guard.blocked", {"toolName": "t"}),
        ("mcp.tool_call", {"toolName": "t", "error": True, "retry": True}),
    ]
    stats = lookups(collected).stats
    assert (stats.tool_calls, stats.failed_tool_calls, stats.retries) == (2, 1, 2)


def test_messages_count_only_without_call_records(tmp_path: Path) -> None:
    ask = {"id": 1, "method": "tools/call", "params": {"name": "search"}}
    messages = lines(
        rpc("REQUEST", **ask),
        rpc("RESPONSE", id=1, result={"isError": True}),
        rpc("REQUEST", **{**ask, "id": 2}),
    )
    alone = collect(tmp_path / "a", {"mcp-logs/rpc-messages.jsonl": messages})
    stats = lookups(alone).stats
    assert (stats.tool_calls, stats.failed_tool_calls, stats.unfinished_tool_calls) == (2, 2, 1)
    files = {"mcp-logs/rpc-messages.jsonl": messages, "mcp-logs/gateway.jsonl": lines(CALL)}
    both = collect(tmp_path / "b", files)
    assert lookups(both).stats.tool_calls == 1
    assert len(of_type(both, "mcp.rpc.request")) == 2


def test_a_call_seen_by_agent_and_gateway_counts_once(tmp_path: Path) -> None:
    native = lines(INIT, start("c", "mcp__atlas__search"), complete("c"))
    both = {"agent-session.jsonl": native, "mcp-logs/gateway.jsonl": lines(CALL)}
    assert lookups(collect(tmp_path / "a", both)).stats.tool_calls == 1
    gateway = {"mcp-logs/gateway.jsonl": lines(CALL)}
    assert lookups(collect(tmp_path / "b", gateway)).stats.tool_calls == 1


def test_an_empty_gateway_log_is_no_retry_and_a_missing_one_is_unknown(tmp_path: Path) -> None:
    empty = collect(tmp_path / "a", {"mcp-logs/gateway.jsonl": ""})
    assert places(empty) == {("mcp", "agent", "mcp-logs/gateway.jsonl", 0)}
    assert lookups(empty).stats.retries == 0
    missing = collect(tmp_path / "b", {"agent-session.jsonl": lines(INIT)})
    assert lookups(missing).stats.retries is None
    assert "mcp" in data_of(missing, "session.collection")[0]["absentComponents"]
    ruined = collect(tmp_path / "c", {"mcp-logs/gateway.jsonl": "{oops\n"})
    assert places(ruined) == set()
    assert codes(ruined) == [("malformed-jsonl", "mcp-logs/gateway.jsonl", 1, True)]
    assert lookups(ruined).stats.retries is None


def test_requests_of_the_proxy_are_the_token_evidence(tmp_path: Path) -> None:
    rows = lines(
        request("r0", 900, purpose="routing_classification"),
        request("r1", 100, purpose="", cache_read_tokens=4, cache_write_tokens=0, path="/v1"),
        request("r2", 50, 5, steering={"type": "timeout", "threshold": 90, "note": "x"}),
        {"timestamp": START, "event": "token_usage", "request_id": "r3", "status": 429},
        {"timestamp": START, "event": "timeout_steering", "message": "soon", "input_tokens": 7},
    )
    collected = collect(tmp_path, {PROXY: rows})
    found = data_of(collected, "firewall.token_usage")
    assert found[1] == {
        "model": "m",
        "path": "/v1",
        "requestId": "r1",
        "status": 200,
        "durationMs": 100,
        "usage": {
            "inputTokens": 100,
            "outputTokens": 1,
            "cacheReadInputTokens": 4,
            "cacheCreationInputTokens": 0,
        },
    }
    assert found[2]["steering"] == {"type": "timeout", "threshold": 90}
    assert found[3] == {"requestId": "r3", "status": 429}
    assert data_of(collected, "firewall.steering") == [
        {"event": "timeout_steering", "message": "soon"}
    ]
    stats = lookups(collected).stats
    assert (stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens) == (3, 150, 6)
    assert (stats.first_request_tokens, stats.duration.value_ms) == (101, 200)


def test_the_first_copy_of_the_token_log_counts_even_when_it_is_empty(tmp_path: Path) -> None:
    copies = [
        PROXY,
        "sandbox/firewall/audit/token-usage.jsonl",
        "firewall-audit-logs/api-proxy-logs/token-usage.jsonl",
        "firewall-logs/token-usage.jsonl",
        "token-usage.jsonl",
        "usage/agent/token_usage.jsonl",
    ]
    for number, winner in enumerate(copies):
        files = {
            path: lines(*(request(f"r{index}", 1) for index in range(number + 1)))
            if path == winner
            else lines(*(request(f"x{index}", 1) for index in range(20)))
            for path in copies[number:]
        }
        collected = collect(tmp_path / str(number), files)
        assert places(collected) == {("firewall", "agent", winner, number + 1)}
    empty = collect(tmp_path / "empty", {PROXY: "", copies[1]: lines(request("r", 1))})
    assert places(empty) == {("firewall", "agent", PROXY, 0)}
    assert lookups(empty).stats.requests is None


def test_other_firewall_logs_are_joined_by_their_relative_name(tmp_path: Path) -> None:
    seen = lines({"ts": 1777629600.5, "host": "h:443", "status": 200, "decision": "T", "ua": "-"})
    files = {
        "sandbox/firewall/logs/audit.jsonl": seen,
        "firewall-audit-logs/audit.jsonl": seen,
        "firewall-audit-logs/other.jsonl": lines({"event": "started", "detail": "x"}),
        "sandbox/firewall/logs/model-routing.jsonl": lines(
            {"_schema": "v1", "stage": "selection", "selected_model": "m", "prompt": "x"}
        ),
        "sandbox/firewall/logs/access.log": "plain",
    }
    collected = collect(tmp_path, files)
    assert places(collected) == {
        ("firewall", "agent", "sandbox/firewall/logs/audit.jsonl", 1),
        ("firewall", "agent", "sandbox/firewall/logs/model-routing.jsonl", 1),
        ("firewall", "agent", "firewall-audit-logs/other.jsonl", 1),
    }
    access = of_type(collected, "firewall.http_access")[0]
    assert access["data"] == {"host": "h:443", "status": 200, "decision": "T"}
    assert access["timestamp"] == 1777629600.5
    assert access["provenance"]["timestampMs"] == 1777629600500
    assert data_of(collected, "firewall.event") == [{"event": "started"}]
    assert data_of(collected, "firewall.model_routing") == [
        {"schema": "v1", "stage": "selection", "selectedModel": "m"}
    ]


def test_detection_is_never_the_main_agent(tmp_path: Path) -> None:
    files = {
        f"threat-detection/{PROXY}": lines(request("d", 900)),
        "threat-detection/mcp-logs/gateway.jsonl": lines(CALL),
        "threat-detection/otel.jsonl": "",
        "threat-detection/detection_usage.jsonl": lines({"input_tokens": 5}),
        "usage/detection/token_usage.jsonl": lines(request("copy", 1)),
    }
    collected = collect(tmp_path, files)
    assert {phase for _, phase, _, _ in places(collected)} == {"detection"}
    assert ("firewall", "detection", f"threat-detection/{PROXY}", 1) in places(collected)
    stats = lookups(collected).stats
    assert (stats.tool_calls, stats.requests, stats.tokens.input_tokens) == (0, None, None)


def test_the_reason_of_a_verdict_is_kept_of_the_cleared_copy_alone(tmp_path: Path) -> None:
    verdict = {"prompt_injection": True, "secretLeak": False, "reason": "why", "extra": 1}
    kept = {"promptInjection": True, "secretLeak": False}
    usage = "usage/detection/detection_result.json"
    files = {usage: verdict, "detection/detection_result.json": verdict}
    collected = collect(tmp_path / "a", files)
    assert data_of(collected, "detection.result") == [{**kept, "reason": "why"}]
    assert places(collected) == {("detection", "detection", usage, 1)}
    other = collect(tmp_path / "b", {"detection/detection_result.json": verdict})
    assert data_of(other, "detection.result") == [kept]


def test_safe_outputs_keep_no_title_and_no_body(tmp_path: Path) -> None:
    files = {
        "safeoutputs.jsonl": lines({"type": "create_issue", "title": "t", "body": "b"}),
        "safe-output-items.jsonl": lines(
            {"type": "create_issue", "url": "u", "target": {"repo": "o/r", "number": 4}},
            {"type": "add_labels", "number": 5, "labels": ["x"], "timestamp": START},
        ),
        "safe-output-errors.json": {"type": "x", "errors": ["e", {"message": "m", "body": "b"}]},
    }
    collected = collect(tmp_path, files)
    assert data_of(collected, "safe_output.request") == [{"type": "create_issue"}]
    # A source without any time is written behind all others, but its own order stays.
    assert data_of(collected, "safe_output.result") == [
        {"type": "create_issue", "url": "u", "repo": "o/r", "number": 4},
        {"type": "add_labels", "number": 5},
    ]
    assert data_of(collected, "safe_output.error") == [
        {"type": "x", "errors": ["e", {"message": "m"}]}
    ]
    assert lookups(collected).stats.safe_output_results == 2


def test_no_results_and_no_record_of_results_are_different(tmp_path: Path) -> None:
    for name, expected in (("safe-output-items.jsonl", ("safe_output", "safe_outputs")),):
        none = collect(tmp_path / "a", {f"safe-outputs-items/{name}": ""})
        assert places(none) == {(*expected, f"safe-outputs-items/{name}", 0)}
    missing = collect(tmp_path / "b", {"safeoutputs.jsonl": lines({"type": "noop"})})
    assert lookups(none).observed != lookups(missing).observed
    assert ("safe_output", "safe_outputs") in lookups(none).observed
    assert ("safe_output", "safe_outputs") not in lookups(missing).observed


def test_requests_of_older_runs_are_read_from_the_agents_output(tmp_path: Path) -> None:
    old = {"items": [{"type": "noop"}, 5], "errors": []}
    collected = collect(tmp_path / "a", {"agent_output.json": old})
    assert data_of(collected, "safe_output.request") == [{"type": "noop"}]
    assert codes(collected) == [("non-object-record", "agent_output.json", None, True)]
    files = {"agent_output.json": old, "safeoutputs.jsonl": ""}
    assert data_of(collect(tmp_path / "b", files), "safe_output.request") == []


def test_evals_and_experiments(tmp_path: Path) -> None:
    files = {
        "evals/evals.jsonl": lines({"id": "q", "answer": "YES", "question": "?"}),
        "usage/evals.jsonl": lines({"id": "copy", "answer": "NO"}),
        "experiments/state.json": {
            "counts": {"style": {"a": 2}},
            "runs": [{"run_id": "1", "timestamp": START, "assignments": {"style": "a"}}],
        },
        "experiments/assignments.json": {"style": "a"},
        "evals/token_usage.jsonl": lines({"input_tokens": 4}),
        "evals/execution.json": {"outcome": "success", "duration_ms": 5, "log": "x"},
    }
    collected = collect(tmp_path, files)
    assert data_of(collected, "eval.result") == [{"id": "q", "answer": "YES"}]
    assert data_of(collected, "experiment.state") == [
        {"counts": {"style": {"a": 2}}},
        {"runId": "1", "assignments": {"style": "a"}},
    ]
    assert data_of(collected, "experiment.assignment") == [{"assignments": {"style": "a"}}]
    assert data_of(collected, "execution.result") == [{"outcome": "success", "durationMs": 5}]
    context = lookups(collected).context
    assert (context.evals, dict(context.experiments)) == ((("q", "yes"),), {"style": "a"})
    assert lookups(collected).stats.tokens.input_tokens is None


def test_experiments_of_artifacts_with_a_name_of_their_own(tmp_path: Path) -> None:
    for number, folder in enumerate(("experiment", "my-flow-experiment", "usage/experiment")):
        files = {
            f"{folder}/state.jsonl": lines({"run_id": "9", "assignments": {"a": "b"}}),
            f"{folder}/assignments.json": {"assignments": {"a": "b"}},
        }
        collected = collect(tmp_path / str(number), files)
        assert data_of(collected, "experiment.assignment") == [{"assignments": {"a": "b"}}]
        assert data_of(collected, "experiment.state") == [{"runId": "9", "assignments": {"a": "b"}}]


def test_usage_reports_are_sums_that_the_proxy_goes_before(tmp_path: Path) -> None:
    total = {"input_tokens": 70, "output_tokens": 7, "ai_credits": 1.5, "primary_model": "m"}
    alone = collect(tmp_path / "a", {"usage/agent_usage.json": total})
    assert data_of(alone, "usage.report") == [
        {"model": "m", "aic": 1.5, "usage": {"inputTokens": 70, "outputTokens": 7}}
    ]
    stats = lookups(alone).stats
    assert (stats.requests, stats.tokens.input_tokens) == (None, 70)
    both = collect(tmp_path / "b", {"agent_usage.json": total, PROXY: lines(request("r", 60))})
    assert data_of(both, "usage.report") == []
    files = {"agent_usage.jsonl": lines(total), PROXY: lines(request("r", 60))}
    reported = collect(tmp_path / "c", files)
    assert len(of_type(reported, "usage.report")) == 1
    assert lookups(reported).stats.tokens.input_tokens == 60


def test_workflow_info_says_which_run_it_is(tmp_path: Path) -> None:
    info = {
        "engine_id": "pi",
        "event_name": "push",
        "workflow_name": "Task",
        "awmg_version": "",
        "run_id": 5,
        "run_attempt": "2",
        "actor": "somebody",
        "created_at": START,
        "model_routing": {"status": "s", "wire_model": "m", "x": 1},
    }
    files = {"aw_info.json": info, "usage/aw_info.json": {}, "agent/aw_info.json": {}}
    collected = collect(tmp_path, files)
    assert of_type(collected, "workflow.info") == [
        {
            "type": "workflow.info",
            "timestamp": START,
            "data": {
                "engineId": "pi",
                "mcpgVersion": "",
                "modelRouting": {"status": "s", "wireModel": "m"},
                "triggerType": "push",
                "workflow": "Task",
                "runId": 5,
                "runAttempt": "2",
            },
            "provenance": {
                "component": "workflow",
                "phase": "activation",
                "path": "aw_info.json",
                "index": 0,
                "timestampMs": 1777629600000,
            },
        }
    ]
    context = lookups(collected).context
    assert (context.run_id, context.attempt) == ("5", "2")


def test_prompts_and_rate_limits(tmp_path: Path) -> None:
    files = {
        "aw-prompts/system.txt": "be kind",
        "aw-prompts/user.txt": b"do it \xff",
        "aw-prompts/prompt.txt": "both",
        "github_rate_limits.jsonl": lines({"resource": "core", "remaining": 4, "delay_ms": 1}),
    }
    collected = collect(tmp_path / "a", files)
    assert data_of(collected, "prompt.system") == [{"content": "be kind"}]
    assert data_of(collected, "prompt.user") == [{"content": "do it \ufffd"}]
    assert codes(collected) == [("invalid-utf-8", "aw-prompts/user.txt", None, False)]
    assert data_of(collected, "github_api.rate_limit") == [
        {"resource": "core", "remaining": 4, "delayMs": 1}
    ]
    old = collect(tmp_path / "b", {"activation/prompt.txt": "both"})
    assert data_of(old, "prompt.user") == [{"content": "both"}]


def test_telemetry_is_one_event_for_each_span_span_event_and_log(tmp_path: Path) -> None:
    span = {
        "traceId": "t",
        "spanId": "s",
        "name": "chat",
        "startTimeUnixNano": "1777629600000000001",
        "events": [{"name": "e", "timeUnixNano": 1777629600000000002}],
    }
    scope = {"name": "lib"}
    rows = lines(
        {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": scope, "spans": [span]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "0", "body": 1}]}]}]},
        {"resourceSpans": []},
        {**span, "events": None},
        {"something": "else"},
    )
    collected = collect(tmp_path, {"otel.jsonl": rows})
    context = {"resource": {}, "scope": scope}
    found = of_type(collected, "otel.span")[0]
    assert found["data"] == {
        "traceId": "t",
        "spanId": "s",
        "name": "chat",
        "startTimeUnixNano": "1777629600000000001",
        **context,
    }
    assert found["timestamp"] == "1777629600000000001"
    event = of_type(collected, "otel.span_event")[0]
    assert (event["timestamp"], event["data"]["spanId"]) == ("1777629600000000002", "s")
    log = of_type(collected, "otel.log")[0]
    assert log["data"] == {"timeUnixNano": "0", "body": 1}
    assert "timestamp" not in log
    assert len(of_type(collected, "otel.span")) == 2
    assert codes(collected) == [("unrecognized-otel", "otel.jsonl", 5, True)]


def test_results_of_execution_are_of_their_job(tmp_path: Path) -> None:
    files = {
        "agent_execution.json": {"exit_code": 1, "duration_ms": 50},
        "usage/agent/execution.json": {"duration_ms": 51},
        "usage/detection/execution.json": {"duration_ms": 52},
    }
    collected = collect(tmp_path, files)
    assert places(collected) == {
        ("execution", "agent", "agent_execution.json", 1),
        ("execution", "detection", "usage/detection/execution.json", 1),
    }
    assert lookups(collected).stats.duration.value_ms == 50


def test_a_message_may_be_text_and_a_usage_may_be_null(tmp_path: Path) -> None:
    message = '{"id":4,"method":"tools/call","params":{"name":"search"}}'
    rows = [
        {"type": "REQUEST", "payload": message},
        {"type": "REQUEST", "payload": "{oops"},
        {"type": "REQUEST", "payload": 5, "rpc_id": 6},
    ]
    tokens = [
        {"request_id": "r", "usage": None},
        {"request_id": "s", "usage": {"overflowed_tokens": ["x", 1], "inputTokens": 2}},
    ]
    collected = collect(tmp_path, {"mcp-logs/a.jsonl": lines(*rows), PROXY: lines(*tokens)})
    assert data_of(collected, "mcp.rpc.request") == [
        {"rpcId": 4, "method": "tools/call", "toolName": "search"},
        {},
        {"rpcId": 6},
    ]
    assert data_of(collected, "firewall.token_usage") == [
        {"requestId": "r", "usage": None},
        {"requestId": "s", "usage": {"inputTokens": 2, "overflowedTokens": ["x"]}},
    ]


def test_the_proxy_goes_before_the_agents_own_sum_and_detection_stays_out(tmp_path: Path) -> None:
    usage = {"input_tokens": 210, "output_tokens": 21}
    result = {"type": "session.result", "data": {"num_turns": 2, "usage": usage}}
    proxy = lines(request("a", 50, 5, purpose="subagent"), request("b", 160, 16))
    files = {
        "agent-session.jsonl": lines(INIT, result),
        PROXY: proxy,
        f"threat-detection/{PROXY}": lines(request("d", 900, 90)),
    }
    stats = lookups(collect(tmp_path / "a", files)).stats
    assert (stats.requests, stats.tokens.source) == (2, "proxy")
    assert (stats.tokens.input_tokens, stats.tokens.output_tokens) == (210, 21)
    assert stats.first_request_tokens == 55
    del files[PROXY]
    alone = lookups(collect(tmp_path / "b", files)).stats
    assert (alone.requests, alone.tokens.source) == (None, "session")
    assert (alone.tokens.input_tokens, alone.tokens.output_tokens) == (210, 21)
