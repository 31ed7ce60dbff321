"""A session read in parts gives what the same session gives when it is read whole."""

import json
import os

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.flows import streaming
from aw_graders.graders import BUILT_IN, grade_lookups
from aw_graders.lookups import create_session_lookups
from aw_graders.lookups.lazily import Lazily
from aw_graders.lookups.trajectory import Trajectory
from aw_graders.redaction import redact
from aw_graders.session import SessionFormatError, read_session
from aw_graders.session.limits import MAX_LINE_BYTES
from tests.strategies.sessions import event_lists
from tests.support import grader_cases, lines_of, settings_for

_HEADER = {
    "type": "session.format",
    "data": {"version": 1},
    "provenance": {"component": "collector", "phase": "conclusion", "path": "s", "index": 0},
}
_TOKEN = "ghp_" + "a1B2" * 9


def _event(kind="a.b", index=0, data=None, **provenance):
    place = {"component": "agent", "phase": "agent", "path": "p", "index": index} | provenance
    return {"type": kind, "data": {} if data is None else data, "provenance": place}


parts = pytest.mark.usefixtures("small_parts")


@pytest.fixture(params=["one process", "two processes"])
def small_parts(request, monkeypatch):
    """Parts of a few lines, so that small sessions are read as large ones are."""
    monkeypatch.setattr(streaming, "_SEGMENT_BYTES", 300)
    monkeypatch.setattr(streaming, "_BATCH_BYTES", 120)
    monkeypatch.setattr(streaming, "_SHARE_FROM_BYTES", 0)
    monkeypatch.setattr(streaming, "can_share", lambda: request.param == "two processes")


def _of_rows_alone(lookups):
    """Leave out what only events that are held can give."""
    return msgspec.structs.replace(lookups, events_by_type={}, made_trajectory=Lazily(Trajectory))


def _whole(content, *, lenient=False):
    try:
        read = read_session(content, lenient=lenient)
    except SessionFormatError as failure:
        return failure.problem
    lookups = create_session_lookups(redact(read.session).session)
    return (
        _of_rows_alone(lookups),
        read.skipped,
        read.lone_surrogates,
    )


def _streamed(path, content, *, lenient=False):
    path.write_bytes(content)
    try:
        streamed = streaming.stream_lookups(path, lenient=lenient)
    except SessionFormatError as failure:
        return failure.problem
    return _of_rows_alone(streamed.lookups), streamed.skipped, streamed.lone_surrogates


def _assert_same(path, content):
    for lenient in (False, True):
        whole = _whole(content, lenient=lenient)
        streamed = _streamed(path, content, lenient=lenient)
        assert streamed == whole


@parts
def test_every_vector_holds_in_parts(tmp_path):
    asked_for = {id_ for id_, spec in BUILT_IN.items() if not spec.needs_events}
    for number, case in enumerate(grader_cases()):
        path = tmp_path / str(number)
        header = [] if case["session"][0]["type"] == "session.format" else [_HEADER]
        path.write_bytes(lines_of([*header, *case["session"]]))

        lookups = streaming.stream_lookups(path).lookups

        values = {r.id: r.value for r in grade_lookups(lookups, settings_for(case["config"]))}
        for id_ in asked_for & case["expected"].keys():
            want = case["expected"][id_]
            assert values[id_] == (want if want is None else pytest.approx(want, abs=1e-9))


_ODD_LINES = st.sampled_from(
    [
        b"",
        b" \t\r",
        b"{",
        b"[1]",
        b"{}{}",
        b'{"type":"a.b","data":{"x":NaN},"provenance":{}}',
        json.dumps(_event(data={"x": "\ud800", "y": {"\udc00": 1}})).encode(),
        json.dumps(_event(data={"x": 10**400})).encode(),
        json.dumps(_event()).replace("{}", '{"x":1e999}').encode(),
        json.dumps(_event()).replace("{}", '{"x":' + "[" * 600 + "]" * 600 + "}").encode(),
        json.dumps(_event()).replace('"index": 0', '"index": -1').encode(),
        json.dumps(_event()).replace('"index": 0', '"index": 3.0').encode(),
        json.dumps(_event()).replace("{}", '{"output":"' + "\\u00e9" * 900 + '"}').encode(),
        json.dumps(_event()).replace("{}", '{"output":"' + "é" * 900 + '"}').encode(),
        json.dumps(_event()).encode().replace(b"{}", b'{"output":"' + b"\xff" * 900 + b'"}'),
        json.dumps(_event(data={"output": "x" * 2000, "success": True, "n": 10**350})).encode(),
        json.dumps(_event("agent.execution")).encode(),
        json.dumps(_event("agent.execution")).replace("agent.ex", "agent\\u002eex").encode(),
        json.dumps(_HEADER).encode(),
        json.dumps(_HEADER | {"provenance": _event()["provenance"]}).encode(),
        json.dumps(_event("tool.execution_start", data={"toolName": _TOKEN})).encode(),
        json.dumps(_event("mcp.x", data={"message": f"{_TOKEN}retry"})).encode(),
    ]
)


@st.composite
def _contents(draw):
    events = draw(event_lists(disorder=True))
    lines = [json.dumps(event).encode() for event in events]
    for line in draw(st.lists(_ODD_LINES, max_size=3)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    content = json.dumps(_HEADER).encode() + b"\n" + b"".join(line + end for line in lines)
    # The header stays: without one, a session is never read in parts.
    header = content.index(b"\n") + 1
    return content[: max(header, len(content) - draw(st.sampled_from([0, 0, 0, 1, 7])))]


@given(_contents())
def test_any_session_reads_alike_whole_and_in_parts(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "session.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "_SEGMENT_BYTES", 300)
        patch.setattr(streaming, "_BATCH_BYTES", 120)
        _assert_same(path, content)


@parts
def test_what_a_long_text_hides_is_still_refused(tmp_path):
    long = "x" * 5000
    good = lines_of([_HEADER, _event(data={"output": long}), _event(index=1)])
    spoiled = {
        "is too large": f'{{"output":"{long}","n":1e999}}',
        "too large": f'{{"output":"{long}","n":{"9" * 400}}}',
        "nested too deeply": f'{{"output":"{long}","n":{"[" * 600}{"]" * 600}}}',
        "NaN": f'{{"output":"{long}","n":NaN}}',
    }

    assert _streamed(tmp_path / "s", good)[0].events == 3
    for reason, data in spoiled.items():
        content = good + json.dumps(_event(index=2)).replace("{}", data).encode() + b"\n"
        problem = _streamed(tmp_path / "s", content)
        assert reason in problem.reason
        assert problem == _whole(content)


@parts
def test_an_outcome_beside_a_long_output_counts(tmp_path):
    long = "x" * 5000
    events = [_HEADER]
    for index, result in enumerate(
        (
            {"output": long, "exitCode": 1},
            {"output": {"isError": True, "text": long}},
            {"output": long},
        )
    ):
        data = {"toolCallId": f"c{index}", "toolName": "t", "success": True, **result}
        events.append(_event("tool.execution_complete", index, data))

    lookups, _, _ = _streamed(tmp_path / "s", lines_of(events))

    assert (lookups.stats.tool_calls, lookups.stats.failed_tool_calls) == (3, 2)


@parts
def test_the_first_bad_line_is_named_wherever_it_stands(tmp_path):
    good = [json.dumps(_event(index=index)).encode() for index in range(40)]
    for bad in (0, 1, 19, 20, 39):
        lines = [json.dumps(_HEADER).encode(), *good[:bad], b"{", *good[bad:], b"[]"]
        problem = _streamed(tmp_path / "s", b"\n".join(lines) + b"\n")

        assert problem.line == bad + 2
        assert problem == _whole(b"\n".join(lines) + b"\n")


@parts
def test_the_second_execution_is_named_in_whichever_part_it_stands(tmp_path):
    good = [_event(index=index) for index in range(40)]
    for first, second in ((0, 1), (0, 39), (20, 21), (38, 39)):
        events = [dict(event) for event in good]
        events[first]["type"] = events[second]["type"] = "agent.execution"
        content = lines_of([_HEADER, *events])

        assert _streamed(tmp_path / "s", content) == _whole(content)
        assert _streamed(tmp_path / "s", content).line == second + 2


def test_a_line_over_the_limit_is_refused_and_skipped_leniently(tmp_path):
    path = tmp_path / "s"
    with path.open("wb") as file:
        file.write(lines_of([_HEADER, _event()]))
        file.write(b'{"type":"' + b"a" * MAX_LINE_BYTES + b'"}\n')
        file.write(lines_of([_event(index=1)]))

    with pytest.raises(SessionFormatError) as strict:
        streaming.stream_lookups(path)
    lenient = streaming.stream_lookups(path, lenient=True)

    assert strict.value.problem.line == 3
    assert "the limit is 32 MiB" in strict.value.problem.reason
    assert lenient.lookups.events == 3
    assert [problem.line for problem in lenient.skipped] == [3]


@parts
def test_secrets_are_masked_in_every_row_and_equal_ones_stay_equal(tmp_path):
    events = [_HEADER]
    for index in range(30):
        data = {"toolCallId": f"{_TOKEN}-{index}", "toolName": _TOKEN, "input": {_TOKEN: [_TOKEN]}}
        events.append(_event("tool.execution_start", index, data, path=_TOKEN))
    usage = {"model": _TOKEN, "requestId": _TOKEN, "inputTokens": 1}
    events += [
        _event("firewall.token_usage", 31, usage),
        _event("experiment.assignment", 32, {"assignments": {_TOKEN: _TOKEN}}),
        _event("workflow.info", 33, {"runId": _TOKEN}),
    ]

    lookups, _, _ = _streamed(tmp_path / "s", lines_of(events))

    said = [lookups.statistics, lookups.tool_calls, lookups.requests, lookups.context.run_id]
    assert _TOKEN not in repr(said) + repr(dict(lookups.context.experiments))
    assert lookups.stats.consecutive_repeats == 29
    assert lookups == _whole(lines_of(events))[0]


@parts
def test_times_too_late_are_left_out_whichever_part_they_stand_in(tmp_path):
    collected = {"sources": []}
    place = {"component": "collector", "phase": "conclusion"}
    events = [_HEADER, _event("session.collection", 0, collected, **place)]
    events[1]["timestamp"] = "2026-01-01T00:00:00Z"
    for index, hour in enumerate((1, 2, 23, 24, 25, 30)):
        event = _event(index=index)
        event["timestamp"] = f"2026-01-0{1 + hour // 24}T{hour % 24:02}:00:00Z"
        events.append(event)

    lookups, _, _ = _streamed(tmp_path / "s", lines_of(events))

    assert lookups.stats.duration.value_ms == 23 * 3_600_000
    assert lookups == _whole(lines_of(events))[0]


def test_a_copy_that_dies_costs_time_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_SEGMENT_BYTES", 300)
    monkeypatch.setattr(streaming, "_SHARE_FROM_BYTES", 0)
    monkeypatch.setattr(streaming, "can_share", lambda: True)
    monkeypatch.setattr(streaming, "_packed", lambda found: os._exit(7) if list(found) else b"\x90")
    content = lines_of([_HEADER, *(_event(index=index) for index in range(200))])

    assert _streamed(tmp_path / "s", content) == _whole(content)


def test_only_large_sessions_in_lines_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "STREAM_FROM_BYTES", 200)
    session = lines_of([_HEADER, *(_event(index=index) for index in range(9))])
    contents = {
        "session": (session, True),
        "with a byte order mark": (b"\xef\xbb\xbf" + session, True),
        "small": (lines_of([_HEADER]), False),
        "array": (b"[" + b",".join(session.splitlines()) + b"]", False),
        "no header": (session[session.index(b"\n") + 1 :], False),
        "version 2": (session.replace(b'"version":1', b'"version":2'), False),
        "legacy": (b'{"toolCalls":[],"x":"session.format"}' + b" " * 300, False),
        "binary": (bytes(range(256)) * 4, False),
    }
    for name, (content, wanted) in contents.items():
        (tmp_path / name).write_bytes(content)

        assert streaming.is_streamable(tmp_path / name) is wanted, name
    assert not streaming.is_streamable(tmp_path)


def test_the_garbage_collector_is_left_as_it_was(tmp_path):
    import gc  # noqa: PLC0415

    path = tmp_path / "s"
    path.write_bytes(lines_of([_HEADER]))
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            streaming.stream_lookups(path)
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


def test_shapes_forget_nothing_that_counts_when_there_are_endless_ones(tmp_path):
    events = [_HEADER]
    for index in range(3000):
        data = {f"k{index}": 1, "toolCallId": f"c{index}", "toolName": "t", "input": {}}
        events.append(_event("tool.execution_start", index, data))

    lookups, _, _ = _streamed(tmp_path / "s", lines_of(events))

    assert lookups.stats.tool_calls == 3000


@parts
def test_content_that_is_held_reads_like_a_file(tmp_path):
    content = lines_of([_HEADER, *(_event(index=index) for index in range(50))])
    (tmp_path / "s").write_bytes(content)

    assert streaming.stream_lookups(content) == streaming.stream_lookups(tmp_path / "s")


@parts
@pytest.mark.parametrize("behind", [b"{\n", lines_of([_HEADER])])
def test_a_second_execution_comes_before_what_is_wrong_behind_it(tmp_path, behind):
    events = [_event(index=index) for index in range(20)]
    events[0]["type"] = events[19]["type"] = "agent.execution"
    content = lines_of([_HEADER, *events]) + behind

    assert _streamed(tmp_path / "s", content) == _whole(content)
    assert _whole(content).line == 21
