"""Faults that other readers of recordings had: counted twice, lost, or taken for something else."""

import itertools
import json
import os
import subprocess
import sys

import pytest

from aw_graders.collectors import SourceFile
from aw_graders.flows.evidence import read_evidence
from aw_graders.graders import grade_lookups
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import events as names
from tests.support import redacted


class _Rows:
    def __init__(self):
        self.written = 0

    def row(self, kind, **fields):
        self.written += 1
        return {"type": kind, "uuid": f"row-{self.written}", "sessionId": "s", **fields}

    def answer(self, message_id, *content, usage=(10, 1), cached=(0, 0), **fields):
        counts = {
            "input_tokens": usage[0],
            "output_tokens": usage[1],
            "cache_creation_input_tokens": cached[0],
            "cache_read_input_tokens": cached[1],
        }
        message = {"id": message_id, "role": "assistant", "model": "model-a", "usage": counts}
        message["content"] = list(content) or [{"type": "text", "text": "said"}]
        return self.row("assistant", message=message, **fields)

    def result(self, call_id, content="done", block=None, **fields):
        given = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return self.user([{**given, **(block or {})}], **fields)

    def user(self, content, **fields):
        return self.row("user", message={"role": "user", "content": content}, **fields)


@pytest.fixture
def rows():
    return _Rows()


def _use(call_id, name="Bash", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def _lines(recording):
    return b"".join(json.dumps(row).encode() + b"\n" for row in recording)


def _recorded(*recordings, paths=("main.jsonl", "second.jsonl")):
    files = [
        SourceFile(path, _lines(recording))
        for path, recording in zip(paths, recordings, strict=False)
    ]
    return create_session_lookups(
        redact(read_evidence(files, lenient=False, strict=True).session).session
    )


def _unified(*given):
    places = {}
    events = []
    for kind, data, path, rest in given:
        component = {"proxy.jsonl": "firewall", "gateway.jsonl": "mcp"}.get(path, "agent")
        place = places[path] = places.get(path, -1) + 1
        provenance = {"component": component, "phase": "agent", "path": path, "index": place}
        events.append({"type": kind, "data": data, "provenance": provenance, **rest})
    return create_session_lookups(redacted(events))


def _event(kind, data, path="events.jsonl", **rest):
    return kind, data, path, rest


def _start(call_id, name="read", given=None, **rest):
    data = {"toolCallId": call_id, "toolName": name, "input": given or {}}
    return _event(names.TOOL_START, data, **rest)


def _complete(call_id, agent=None, **data):
    rest = {} if agent is None else {"agentId": agent}
    return _event(names.TOOL_COMPLETE, {"toolCallId": call_id, **data}, **rest)


def _gateway(call_id, status="success", name="get_file"):
    data = {"serverName": "files", "toolName": name, "status": status, "toolCallId": call_id}
    return _event(names.MCP_TOOL_CALL, data, "gateway.jsonl")


def _results(lookups):
    return {result.id: result for result in grade_lookups(lookups)}


def _values(lookups, *ids):
    results = _results(lookups)
    return tuple(results[id_].value for id_ in ids)


def _outcomes(lookups):
    return [(call.tool_call_id, call.success) for call in lookups.tool_calls]


def _tokens(lookups):
    stats = lookups.stats
    return stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens


def _command(*files):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    given = [argument for file in files for argument in ("--session", str(file))]
    command = [sys.executable, "-m", "aw_graders", "graders", "run", "--json", *given]
    run = subprocess.run(command, capture_output=True, env=environment, check=True)
    return {result["id"]: result["value"] for result in json.loads(run.stdout)["results"]}


# --- model requests: one message is one request ------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_rows_without_a_request_id_are_one_request_per_message_in_any_order(rows, order):
    recording = [
        rows.answer("gen-1", usage=(500, 4)),
        rows.answer("gen-1", usage=(500, 30)),
        rows.answer("gen-2", usage=(650, 6)),
        rows.answer("gen-1", usage=(500, 12)),
    ]

    lookups = _recorded([recording[place] for place in order])

    assert _tokens(lookups) == (2, 1150, 36)


def test_rows_without_any_id_of_a_message_or_request_are_requests_of_their_own(rows):
    lookups = _recorded([rows.answer(None, usage=(70, 2)), rows.answer(None, usage=(70, 2))])

    assert _tokens(lookups) == (2, 140, 4)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_count_of_a_request_is_the_largest_of_its_rows_wherever_it_stands(rows, order):
    recording = [
        rows.answer("m", usage=(3, 2), cached=(800, 0)),
        rows.answer("m", usage=(3, 250), cached=(800, 9000)),
        rows.answer("m", usage=(3, 90), cached=(0, 9000)),
    ]

    lookups = _recorded([recording[place] for place in order])

    assert _tokens(lookups) == (1, 3, 250)
    assert [request.cache_tokens for request in lookups.requests] == [9800]
    assert [request.read_tokens for request in lookups.requests] == [9803]


@pytest.mark.parametrize("request_ids", list(itertools.permutations([None, "req-1", "req-2"])))
def test_rows_of_one_message_are_one_request_whatever_request_ids_they_carry(rows, request_ids):
    recording = [
        rows.answer("m", usage=(90, 7), **({} if id_ is None else {"requestId": id_}))
        for id_ in request_ids
    ]
    recording.append(rows.answer("n", usage=(100, 8), requestId="req-1"))

    assert _tokens(_recorded(recording)) == (2, 190, 15)


# --- several files of one recording ------------------------------------------


def _resumed(rows):
    old = [
        rows.user("begin"),
        rows.answer("m-1", _use("t-1", command="make"), usage=(40, 4)),
        rows.result("t-1"),
        rows.answer("m-2", usage=(50, 5)),
    ]
    copies = [{**row, "sessionId": "s-2"} for row in old]
    added = [
        rows.user("go on"),
        rows.answer("m-3", _use("t-2", command="make"), usage=(60, 6)),
        rows.result("t-2"),
    ]
    return old, [*copies, *added]


@pytest.mark.parametrize("given", [("old", "new"), ("new", "old"), ("new",)])
def test_a_resumed_file_and_the_file_it_repeats_are_one_set_of_evidence(rows, given, tmp_path):
    for name, recording in zip(("old", "new"), _resumed(rows), strict=True):
        (tmp_path / f"{name}.jsonl").write_bytes(_lines(recording))

    values = _command(*(tmp_path / f"{name}.jsonl" for name in given))

    assert values["execution-step-count"] == 3
    assert values["working-set-rebuild-factor"] == pytest.approx(150 / 60)
    assert values["context-growth"] == pytest.approx(165 / 44)
    assert (values["tool-success-rate"], values["loops"]) == (1, 1)


def test_copies_under_new_row_ids_are_copies(rows):
    old, new = _resumed(rows)
    renamed = [{**row, "uuid": f"again-{place}"} for place, row in enumerate(new)]

    lookups = _recorded(old, renamed)

    assert _tokens(lookups) == (3, 150, 15)
    assert _outcomes(lookups) == [("t-1", True), ("t-2", True)]


def test_a_message_cut_in_the_first_file_has_the_counts_of_the_second(rows):
    early, final = rows.answer("m", usage=(40, 1)), rows.answer("m", usage=(40, 77))

    assert _tokens(_recorded([early], [early, final])) == (1, 40, 77)


@pytest.mark.parametrize("shorter_first", [True, False])
def test_a_call_open_at_the_end_of_one_copy_is_answered_by_the_longer_copy(rows, shorter_first):
    begun = [rows.user("begin"), rows.answer("m", _use("t", command="make"))]
    recordings = [begun, [*begun, rows.result("t", block={"is_error": True})]]

    lookups = _recorded(*(recordings if shorter_first else reversed(recordings)))

    assert _outcomes(lookups) == [("t", False)]
    assert (lookups.stats.unfinished_tool_calls, lookups.stats.nameless_calls) == (0, 0)


def test_sub_agents_in_files_beside_the_recording_are_part_of_it(rows, tmp_path):
    main = [
        rows.user("begin"),
        rows.answer("m-1", _use("t-1", "Agent", prompt="a"), _use("t-2", "Task", prompt="b")),
        rows.result("t-1", "agentId: one"),
        rows.result("t-2", "agentId: two"),
        rows.answer("m-2", usage=(30, 3)),
    ]
    folder = tmp_path / "run" / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / "run.jsonl").write_bytes(_lines(main))
    alone = _command(tmp_path / "run.jsonl")
    for agent, flag in (("one", False), ("two", True)):
        own = {"isSidechain": True, "agentId": agent}
        said = [
            rows.user("p", **own),
            rows.answer(f"s-{agent}", _use("t-1", command="ls"), usage=(20, 2), **own),
            rows.result("t-1", block={"is_error": flag}, **own),
        ]
        (folder / f"agent-{agent}.jsonl").write_bytes(_lines(said))
    (folder / "notes.jsonl").write_bytes(_lines([rows.answer("other", usage=(1000, 1))]))
    (folder.parent / "agent-three.jsonl").write_bytes(_lines([rows.answer("third")]))

    together = _command(tmp_path / "run.jsonl")

    assert (alone["execution-step-count"], together["execution-step-count"]) == (2, 4)
    assert (alone["tool-failure-count"], together["tool-failure-count"]) == (0, 1)
    assert together["tool-success-rate"] == pytest.approx(3 / 4)
    assert together["working-set-rebuild-factor"] == pytest.approx(80 / 30)
    assert together["context-growth"] == pytest.approx(88 / 11)


def test_a_call_id_shared_with_a_sub_agent_is_a_call_of_each(rows):
    own = {"isSidechain": True, "agentId": "one"}
    main = [
        rows.answer("m", _use("t-0", "Agent", prompt="p"), _use("t-1", command="ls")),
        rows.result("t-1"),
        rows.result("t-0", "agentId: one"),
    ]
    sub = [
        rows.user("p", **own),
        rows.answer("s", _use("t-1", command="ls"), **own),
        rows.result("t-1", block={"is_error": True}, **own),
    ]

    lookups = _recorded(main, sub, paths=("run.jsonl", "run/subagents/agent-one.jsonl"))

    assert _outcomes(lookups) == [("t-0", True), ("t-1", True), ("t-1", False)]
    assert [call.agent_id for call in lookups.tool_calls] == [None, None, "one"]


def test_what_a_sub_agents_file_repeats_of_its_parent_counts_once(rows):
    main = [rows.answer("m", _use("t", command="ls"), usage=(30, 3)), rows.result("t")]
    own = {"isSidechain": True, "agentId": "one"}
    repeated = [{**row, "uuid": f"own-{place}", **own} for place, row in enumerate(main)]
    added = rows.answer("s", usage=(40, 4), **own)

    lookups = _recorded(
        main, [*repeated, added], paths=("run.jsonl", "run/subagents/agent-one.jsonl")
    )

    assert _tokens(lookups) == (2, 70, 7)
    assert _outcomes(lookups) == [("t", True)]


# --- one request told by two channels ----------------------------------------


def _stream_result(rows, usage):
    counts = {"input_tokens": usage[0], "output_tokens": usage[1]}
    fields = {"subtype": "success", "num_turns": 2, "duration_ms": 6100, "usage": counts}
    return rows.row("result", session_id="s", **fields)


def test_a_stream_result_neither_adds_to_its_messages_nor_hides_its_sub_agents(rows):
    stream = [
        rows.answer("m-1", _use("t", "Task", prompt="p"), usage=(30, 3)),
        rows.answer("s-1", usage=(700, 70), parent_tool_use_id="t"),
        rows.result("t"),
        rows.answer("m-2", usage=(40, 4)),
        _stream_result(rows, (70, 7)),
    ]

    lookups = _recorded(stream)

    assert _tokens(lookups) == (3, 770, 77)
    assert lookups.stats.duration.value_ms == 6100


def test_a_stream_of_its_result_alone_has_totals_and_no_known_requests(rows):
    begin = rows.row("system", subtype="init", session_id="s", model="model-a")

    lookups = _recorded([begin, _stream_result(rows, (70, 7))])

    assert _tokens(lookups) == (None, 70, 7)
    assert lookups.stats.tokens.source == "session"
    assert _values(lookups, "execution-step-count", "execution-duration") == (None, 6100)


_USED = (
    {"inputTokens": 120, "outputTokens": 12, "cacheReadInputTokens": 0},
    {"inputTokens": 130, "outputTokens": 13, "cacheReadInputTokens": 100},
)
_PROXY = [
    _event(
        names.FIREWALL_TOKEN_USAGE,
        {"model": "m", "requestId": f"r-{place}", "durationMs": 500, "usage": used},
        "proxy.jsonl",
    )
    for place, used in enumerate(_USED)
]
_REPORTS = [
    _event(names.USAGE_REPORT, {"model": "m", "requestId": f"r-{place}", "usage": used})
    for place, used in enumerate(_USED)
]
_RESULT = _event(
    names.SESSION_RESULT,
    {"numTurns": 5, "durationMs": 3000, "usage": {"inputTokens": 250, "outputTokens": 25}},
)


@pytest.mark.parametrize("order", list(itertools.permutations([_PROXY, _REPORTS, [_RESULT]])))
def test_requests_told_by_the_proxy_and_by_the_agent_count_once(order):
    lookups = _unified(*itertools.chain(*order))

    assert _tokens(lookups) == (2, 250, 25)
    assert lookups.stats.tokens.source == "proxy"
    assert [request.cache_tokens for request in lookups.requests] == [0, 100]
    assert lookups.stats.duration.value_ms == 1000


def test_without_the_proxy_the_agents_own_requests_count():
    lookups = _unified(*_REPORTS, _RESULT)

    assert _tokens(lookups) == (2, 250, 25)
    assert (lookups.stats.tokens.source, lookups.stats.duration.value_ms) == ("report", 3000)


def test_an_aggregate_alone_gives_totals_and_turns_are_no_requests():
    lookups = _unified(_RESULT, _RESULT)

    assert _tokens(lookups) == (None, 250, 25)
    assert _results(lookups)["execution-step-count"].reason == "no-model-requests"


# --- calls and their results -------------------------------------------------


def test_an_interrupted_tool_without_result_is_an_unfinished_call(rows):
    lookups = _recorded(
        [
            rows.answer("m", _use("t-1", command="a"), _use("t-2", command="b")),
            rows.result("t-2"),
            rows.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        ]
    )

    assert _outcomes(lookups) == [("t-1", None), ("t-2", True)]
    assert (lookups.stats.unfinished_tool_calls, lookups.stats.unknown_outcomes) == (1, 0)
    assert _values(lookups, "tool-success-rate", "tool-failure-count") == (0.5, 1)


def test_an_interrupt_leaves_the_sub_agents_call_and_the_spawning_call_unfinished(rows):
    own = {"isSidechain": True, "agentId": "one"}
    lookups = _recorded(
        [
            rows.answer("m", _use("t-1", "Task", prompt="p")),
            rows.user("p", **own),
            rows.answer("s", _use("t-2", command="a"), **own),
            rows.user("[Request interrupted by user]"),
        ]
    )

    assert (lookups.stats.tool_calls, lookups.stats.unfinished_tool_calls) == (2, 2)
    assert _values(lookups, "tool-success-rate") == (0,)


def test_a_declined_tool_has_a_result_and_failed(rows):
    lookups = _recorded(
        [
            rows.answer("m", _use("t", command="a")),
            rows.result("t", "[Request interrupted by user]", block={"is_error": True}),
        ]
    )

    assert _outcomes(lookups) == [("t", False)]
    assert lookups.stats.unfinished_tool_calls == 0


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_parallel_results_on_other_branches_belong_to_their_calls_in_any_order(rows, order):
    calls = [
        rows.answer(
            "m-1",
            _use(f"t-{place}", "Read", path=str(place)),
            uuid=f"a-{place}",
            parentUuid=f"a-{place - 1}" if place else None,
        )
        for place in range(3)
    ]
    results = [
        rows.result(f"t-{place}", block={"is_error": place == 1}, parentUuid=f"a-{place}")
        for place in range(3)
    ]

    lookups = _recorded([*calls, *(results[place] for place in order), rows.answer("m-2")])

    assert _outcomes(lookups) == [("t-0", True), ("t-1", False), ("t-2", True)]
    assert lookups.stats.requests == 2


def test_calls_of_one_batch_that_share_an_id_close_oldest_first():
    lookups = _unified(
        *(_start("c", given={"part": part}) for part in "abc"),
        *(_complete("c", success=success) for success in (True, False, True)),
    )

    assert [(call.arguments["part"], call.success) for call in lookups.tool_calls] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]
    assert (lookups.stats.reused_ids, _values(lookups, "loops")) == (2, (0,))


def test_calls_of_one_batch_that_share_an_id_and_one_result_leave_the_later_open():
    lookups = _unified(
        _start("c", given={"part": "a"}),
        _start("c", given={"part": "b"}),
        _complete("c", success=True),
    )

    assert [call.completed for call in lookups.tool_calls] == [True, False]
    assert _values(lookups, "tool-success-rate") == (0.5,)


def test_an_id_shared_with_a_sub_agent_is_closed_within_each():
    lookups = _unified(
        _start("c", given={"part": "a"}),
        _start("c", given={"part": "a"}, agentId="one"),
        _complete("c", success=False),
        _complete("c", agent="one", success=True),
    )

    assert [(call.agent_id, call.success) for call in lookups.tool_calls] == [
        (None, False),
        ("one", True),
    ]


def test_a_batch_of_one_message_in_a_transcript_keeps_each_call_of_an_id(rows):
    batch = [_use("c", "Read", part="a"), _use("c", "Read", part="b")]

    lookups = _recorded(
        [rows.answer("m", *batch), rows.result("c"), rows.result("c", block={"is_error": True})]
    )

    assert [(call.arguments["part"], call.success) for call in lookups.tool_calls] == [
        ("a", True),
        ("b", False),
    ]


@pytest.mark.parametrize("repetitions", [2, 3])
def test_an_id_used_again_after_its_result_is_a_new_call_even_with_equal_arguments(
    rows, repetitions
):
    recording = []
    for number in range(repetitions):
        recording.append(rows.answer(f"m-{number}", _use("call_0", "Read", part="a")))
        recording.append(rows.result("call_0", block={"is_error": number > 0}))

    lookups = _recorded(recording)

    assert _values(lookups, "tool-failure-count", "loops") == (repetitions - 1, repetitions - 1)
    assert lookups.stats.reused_ids == repetitions - 1
    assert _recorded(recording, recording).tool_calls == lookups.tool_calls


def test_a_call_shown_again_in_a_later_message_without_a_second_result_is_one_call(rows):
    shown = _use("c", "Read", part="a")

    lookups = _recorded(
        [
            rows.answer("m-1", shown),
            rows.answer("m-2", shown, _use("d", "Read", part="b")),
            rows.result("c"),
            rows.result("d"),
            rows.answer("m-3", shown),
        ]
    )

    assert _outcomes(lookups) == [("c", True), ("d", True)]


# --- what decides an outcome -------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"exitCode": 2},
        {"exit_code": -1},
        {"isError": True},
        {"is_error": True},
        {"status": "error"},
        {"status": "failed"},
        {"error": {"code": 1}},
        {"output": {"exitCode": 1}},
        {"output": {"isError": True}},
        {"output": {"structuredContent": {"exitCode": 127}}},
        {"output": {"structuredContent": {"is_error": True}}},
        {"result": {"exit_code": 1}},
        {"result": {"structuredContent": {"exit_code": 1}}},
        {"output": {"exitCode": 0}, "result": {"exitCode": 1}},
    ],
    ids=json.dumps,
)
def test_an_explicit_failure_anywhere_beats_a_success_flag(said):
    lookups = _unified(_start("c"), _complete("c", success=True, **said))

    assert _outcomes(lookups) == [("c", False)]


@pytest.mark.parametrize(
    "said",
    [
        {"exitCode": 0},
        {"exitCode": None},
        {"isError": False, "status": "completed"},
        {"error": None},
        {"output": "Traceback (most recent call last): exit code 1"},
        {"output": {"content": "FAILED", "structuredContent": {"exit_code": 0}}},
        {"output": {"succeeded": 4, "failed": 0, "error": None}},
        {"output": {"failed": 3, "status": "error", "errors": ["x"]}},
        {"result": {"structuredContent": {"response": {"error": None}}}},
    ],
    ids=json.dumps,
)
def test_words_and_counts_of_a_result_neither_fail_a_call_nor_make_it_succeed(said):
    lookups = _unified(
        *(_start("a"), _complete("a", success=True, **said)),
        *(_start("b"), _complete("b", **said)),
    )

    assert _outcomes(lookups) == [("a", True), ("b", None)]
    assert _values(lookups, "tool-success-rate", "tool-failure-count") == (0.5, 1)
    assert "1 had no recorded outcome" in _results(lookups)["tool-success-rate"].details


@pytest.mark.parametrize(
    "content",
    ["Exit code 1", '{"succeeded": 4, "failed": 0}', [{"type": "text", "text": "error: null"}], []],
    ids=json.dumps,
)
@pytest.mark.parametrize(("flag", "success"), [({}, True), ({"is_error": True}, False)])
def test_the_error_flag_of_a_transcript_alone_decides(rows, content, flag, success):
    lookups = _recorded(
        [rows.answer("m", _use("t", command="a")), rows.result("t", content, block=flag)]
    )

    assert _outcomes(lookups) == [("t", success)]


_FINE = _event(names.SESSION_RESULT, {"status": "success", "numTurns": 2})


@pytest.mark.parametrize(
    "calls",
    [
        [_start("a"), _complete("a", success=False), _start("b"), _complete("b", error="x")],
        [_start("a"), _start("b", given={"n": 1})],
        [
            _start("a", agentId="one"),
            _complete("a", agent="one", success=False),
            _start("a", agentId="two"),
        ],
        [_gateway("a", "error"), _gateway("b", "failure")],
    ],
    ids=["told", "unfinished", "sub-agents", "gateway"],
)
def test_a_run_whose_every_call_failed_has_a_measured_rate_of_zero(calls):
    results = _results(_unified(*calls, _FINE))
    rate, count = results["tool-success-rate"], results["tool-failure-count"]

    assert (rate.value, rate.status, rate.passed) == (0, "fail", False)
    assert count.value == 2


def test_a_run_without_calls_has_no_rate_and_no_failures():
    results = _results(_unified(_FINE))
    rate, count = results["tool-success-rate"], results["tool-failure-count"]

    assert (rate.value, rate.status, rate.reason) == (None, "unavailable", "no-tool-calls")
    assert (count.value, count.status) == (0, "pass")


# --- what is no turn and no second call --------------------------------------


def test_rows_of_tool_results_and_injected_text_are_no_turns_and_no_requests(rows):
    lookups = _recorded(
        [
            rows.user("mend the gate"),
            rows.answer("m-1", _use("t-1", "Read", path="a"), _use("t-2", "Read", path="b")),
            rows.result("t-1", "<system-reminder>read</system-reminder>"),
            rows.result("t-2"),
            rows.user("<system-reminder>note</system-reminder>"),
            rows.user([{"type": "text", "text": "<command-name>/clear</command-name>"}]),
            rows.user("carry on", isMeta=True),
            rows.user("what is a <system-reminder>?"),
            rows.answer("m-2"),
            rows.answer("m-2", usage=(10, 2)),
        ]
    )

    said = [event.data for event in lookups.events_of_type(names.USER_MESSAGE)]
    turns = [data["content"] for data in said if data.get("channel") != "injected"]
    assert turns == ["mend the gate", "what is a <system-reminder>?"]
    assert _values(lookups, "execution-step-count", "tool-failure-count") == (2, 0)
    assert lookups.stats.tool_calls == 2


_ASKED = _event(
    names.ASSISTANT_MESSAGE, {"toolRequests": [{"toolCallId": "c-1", "name": "get_file"}]}
)


@pytest.mark.parametrize("agent", [None, "one"])
@pytest.mark.parametrize("gateway_first", [True, False])
def test_a_call_seen_in_messages_by_the_agent_and_by_the_gateway_is_one_call(agent, gateway_first):
    rest = {} if agent is None else {"agentId": agent}
    native = [
        _ASKED,
        _start("c-1", "get_file", {"path": "a"}, **rest),
        _complete("c-1", agent, success=True),
    ]
    seen = [_gateway("c-1", "error")]

    lookups = _unified(*(seen + native if gateway_first else native + seen))

    assert [(call.source, call.success) for call in lookups.tool_calls] == [("agent", True)]
    assert len(lookups.events_of_type(names.MCP_TOOL_CALL)) == 1


@pytest.mark.parametrize(("status", "success"), [("success", True), ("error", False)])
def test_without_the_agents_own_events_the_gateways_record_is_the_call(status, success):
    lookups = _unified(_ASKED, _gateway("c-1", status))

    assert [(call.source, call.success) for call in lookups.tool_calls] == [("gateway", success)]
    assert _values(lookups, "tool-success-rate", "retries") == (int(success), 0)


def test_a_gateway_record_of_another_id_is_a_second_call():
    lookups = _unified(
        _start("c-1", "get_file"), _complete("c-1", success=True), _gateway("c-2", "error")
    )

    assert [(call.source, call.success) for call in lookups.tool_calls] == [
        ("agent", True),
        ("gateway", False),
    ]
