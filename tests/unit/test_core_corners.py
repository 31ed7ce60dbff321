"""Rare answers of sessions, lookups, graders and reading in parts: one fact each."""

import os
import threading
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.collectors import SourceFile
from aw_graders.flows import streaming
from aw_graders.flows.evidence import companions_of, is_unified, read_evidence
from aw_graders.graders import BUILT_IN
from aw_graders.graders.fence import own
from aw_graders.graders.registry import _by_id
from aw_graders.lookups import Observer, build_lookups, create_session_lookups
from aw_graders.lookups.lazily import Lazily
from aw_graders.lookups.model import Request, ToolCall
from aw_graders.lookups.places import Place
from aw_graders.lookups.rows import TimeSpan, UsageRow
from aw_graders.lookups.spans import needs_times, span_of, total_span_ms
from aw_graders.lookups.tokens import usage_total
from aw_graders.processes import can_share
from aw_graders.session import (
    HEADER,
    Event,
    Problem,
    Session,
    SessionFormatError,
    codec,
    encode_array,
    encode_jsonl,
    event_from,
    read_session,
)
from aw_graders.session.limits import MAX_LINE_BYTES, MAX_SAFE_INTEGER
from aw_graders.session.order import event_time_ns, order_keys, order_problem, write_order
from aw_graders.session.stream import decode_batch, line_of
from aw_graders.session.timestamps import format_utc, iso_ns, ns_to_ms, stamp_ns
from aw_graders.session.validate import validate
from tests.support import lines_of, redacted

_HEADER = HEADER.to_json()
_MIB = 1024 * 1024
_SECOND = 1_000_000_000
# 20,574 days after 1970-01-01 (56 years, 14 leap days, 120 days of 2026), and ten hours.
_TEN = (20_574 * 86_400 + 36_000) * _SECOND


def _event(kind="a.b", index=0, data=None, /, top=None, **source):
    place = {"component": "agent", "phase": "agent", "path": "p", "index": index} | source
    return {"type": kind, **(top or {}), "data": data or {}, "provenance": place}


def _at(second: Any) -> dict[str, Any]:
    """The top-level keys of an event at this second past ten."""
    return {"timestamp": f"2026-05-01T10:00:{second:02}Z"}


def _stats(*events):
    return create_session_lookups(redacted(list(events))).stats


def _lookups(*events):
    return create_session_lookups(redacted(list(events)))


# --- reading ----------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_content_without_a_character_is_empty_even_leniently(content):
    for lenient in (False, True):
        with pytest.raises(SessionFormatError, match="is empty") as refused:
            read_session(content, lenient=lenient)
        assert refused.value.problem == Problem("is empty")


def test_an_array_over_the_limit_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(codec, "MAX_ARRAY_BYTES", _MIB)

    assert len(read_session(b"[" + b" " * (_MIB - 2) + b"]").session) == 1
    with pytest.raises(SessionFormatError, match="the limit of a JSON array is 1 MiB") as refused:
        read_session(b"[" + b" " * (_MIB - 1) + b"]", lenient=True)
    assert refused.value.problem.hint == "use JSON Lines, one event per line"


def test_a_line_one_byte_over_the_limit_is_named_by_its_bytes_and_skipped_leniently():
    long = b'"' + b"a" * (MAX_LINE_BYTES - 1) + b'"'
    content = lines_of([_HEADER]) + long + b"\r\n" + lines_of([_event()])

    with pytest.raises(SessionFormatError) as refused:
        read_session(content)
    read = read_session(content, lenient=True)

    assert refused.value.problem.reason == "the line has 33554433 bytes, the limit is 32 MiB"
    assert (refused.value.problem.line, refused.value.problem.column) == (2, 1)
    assert read.skipped == (refused.value.problem,)
    assert read.numbers == (1, 3)


def test_when_everything_is_skipped_the_first_reason_stops_lenient_reading():
    with pytest.raises(SessionFormatError) as refused:
        read_session(b"\nx\n[1]\n", lenient=True)

    assert (refused.value.problem.line, refused.value.problem.column) == (2, 1)


def test_an_array_of_nothing_is_a_session_of_its_header_alone():
    read = read_session(b"[]", lenient=True)

    assert (read.session.events, read.skipped, read.numbers) == ((HEADER,), (), ())


def test_of_several_executions_lenient_reading_keeps_the_first():
    events = [_event("agent.execution", index, {"exitCode": index}) for index in range(3)]

    for content, column in ((lines_of([_HEADER, *events]), 1), (_json.compact(events), None)):
        read = read_session(content, lenient=True)

        assert [event.data.get("exitCode") for event in read.session][1:] == [0]
        assert [problem.column for problem in read.skipped] == [column] * 2
        assert {problem.reason for problem in read.skipped} == {'a second "agent.execution" event'}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"),
        (True, "a boolean"),
        ("x", "text"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "an array"),
    ],
)
def test_what_is_no_object_is_named_as_what_it_is(value, said):
    with pytest.raises(ValueError, match=f"^an event is a JSON object, this is {said}$"):
        event_from(value)


@pytest.mark.parametrize("index", [3, 3.0, float(2**53 - 1)])
def test_an_index_may_be_written_as_a_whole_fraction(index):
    read = event_from(_event(index=index)).provenance.index

    assert read == index
    assert type(read) is int


@pytest.mark.parametrize("index", [3.5, -1, -1.0, True, None, "3", 2**53, float(2**53)])
def test_an_index_that_is_no_whole_number_from_0_is_refused(index):
    with pytest.raises(ValueError, match='no "index" that is a whole number from 0'):
        event_from(_event(index=index))


@pytest.mark.parametrize("missing", ["component", "phase", "path"])
def test_each_part_of_the_source_is_text(missing):
    with pytest.raises(ValueError, match=f'"provenance" has no text "{missing}"'):
        event_from(_event(**{missing: 1}))


@pytest.mark.parametrize("kind", [None, "", 7])
def test_a_type_is_text_that_is_not_empty(kind):
    with pytest.raises(ValueError, match=r'^"type" is no text$'):
        event_from(_event(kind))


@pytest.mark.parametrize("in_array", [False, True])
def test_a_format_event_of_another_component_is_no_header(in_array):
    native = _event("session.format", 0, {"version": 7})
    content = _json.compact([native]) if in_array else lines_of([native])

    if in_array:
        assert [event.provenance.component for event in read_session(content).session] == [
            "collector",
            "agent",
        ]
    else:
        with pytest.raises(SessionFormatError, match='does not come from the component "collect'):
            read_session(content)


@pytest.mark.parametrize(
    ("data", "shown"),
    [({}, "absent"), ({"version": True}, "true"), ({"version": "1"}, '"1"'), ({"version": 2}, "2")],
)
def test_only_the_number_1_is_a_version(data, shown):
    with pytest.raises(SessionFormatError, match=f"version is {shown}; only 1 is supported"):
        read_session(lines_of([_HEADER | {"data": data}]))


# --- events -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("recorded", "read"),
    [({}, None), ({"native": {}}, None), ({"timestampMs": 1.5}, 1.5), ({"timestampMs": 0}, 0)]
    + [({"timestampMs": value}, None) for value in (True, "1", None, [1])],
)
def test_an_observed_time_is_a_number_of_milliseconds_or_nothing(recorded, read):
    assert event_from(_event(**recorded)).provenance.timestamp_ms == read


def test_a_session_is_walked_in_recorded_order_and_counts_its_header():
    session = read_session(_json.compact([_event("a.b"), _event("a.a")])).session

    assert [event.type for event in session] == ["session.format", "a.b", "a.a"]
    assert len(session) == 3
    assert read_session(encode_array(session)).session == session
    assert read_session(encode_jsonl(session)).session == session


def test_a_native_time_is_given_as_it_was_recorded():
    events = [event_from(_event(top=top)) for top in ({}, {"timestamp": 5}, {"timestamp": "x"})]

    assert [event.timestamp for event in events] == [None, 5, "x"]


def test_a_problem_names_a_line_an_element_or_nothing():
    assert Problem("r").text("f") == "f: r"
    assert Problem("r", 3, hint="h").text("f") == "f:3:1: r; h"
    assert Problem("r", 3, 9).text("f") == "f:3:9: r"
    assert Problem("r", 3, 9, in_array=True).text("f") == "f: event 3: r"


# --- order ------------------------------------------------------------------


def _made(*records):
    return [event_from(record) for record in records]


def _order(events):
    return [f"{event.provenance.path}{event.provenance.index}" for event in events]


def test_a_time_is_the_first_that_is_present_of_five_places():
    places: list[dict[str, Any]] = [
        {"timestamp": 1},
        {"ts": 2},
        {"time": 3},
        {"created_at": 4},
        {"message": {"timestamp": 5}},
    ]
    for first in range(5):
        merged = {key: value for place in places[first:] for key, value in place.items()}
        (event,) = _made(_event(top=merged))

        assert event_time_ns(event) == (first + 1) * 1_000_000
    for message in ({}, "10:00", {"message": "text"}, {"timestamp": None}):
        (event,) = _made(_event(top={"message": message}))
        assert event_time_ns(event) is None


def test_the_first_time_that_is_present_counts_even_when_it_cannot_be_read():
    (event,) = _made(_event(top={"timestamp": "2026-05-01", "ts": 5}))

    assert event_time_ns(event) is None


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (str(_TEN), _TEN),
        ("1", 1),
        ("0" * 21 + "1", 1),
        ("0" * 22 + "1", None),
        ("-1", None),
        ("1.0", None),
        ("", None),
        ("\u0661", None),
        ("2026-05-01T10:00:00Z", _TEN),
    ],
)
def test_otel_counts_nanoseconds_in_at_most_22_decimal_digits(value, time):
    (event,) = _made(_event(top={"timestamp": value}, component="otel"))
    (other,) = _made(_event(top={"timestamp": value}))

    assert event_time_ns(event) == time
    assert event_time_ns(other) == (time if "T" in value else None)


@pytest.mark.parametrize("path", ["audit.jsonl", "sandbox/firewall/logs/audit.jsonl"])
def test_the_audit_of_the_firewall_counts_seconds(path):
    def time(value: Any) -> int | None:
        (event,) = _made(_event(top={"ts": value}, component="firewall", path=path))
        return event_time_ns(event)

    assert time(_TEN // _SECOND) == _TEN
    assert time(_TEN / _SECOND + 0.5) == _TEN + _SECOND // 2
    assert time("2026-05-01T10:00:00Z") == _TEN
    # 8.64e15 milliseconds is the last time there is, whichever unit says it.
    assert time(8.64e12) == 8_640_000_000_000_000 * 1_000_000
    assert time(8.64e12 + 1) is None
    assert time("true") is None
    assert time(value=True) is None


def test_other_files_of_the_firewall_count_milliseconds():
    (event,) = _made(_event(top={"ts": 1000}, component="firewall", path="logs/access.jsonl"))

    assert event_time_ns(event) == _SECOND


def test_a_source_keeps_its_order_and_untimed_events_follow_its_anchor():
    events = _made(
        _event(index=0, path="a"),
        _event(index=1, path="a", top=_at(5)),
        _event(index=2, path="a", top=_at(2)),
        _event(index=3, path="a"),
        _event(index=4, path="a", top=_at(7)),
        _event(index=0, path="b", top=_at(4)),
        _event(index=1, path="b", top=_at(6)),
        _event(index=0, path="c"),
        _event(index=1, path="c"),
        _event(index=0, path="d", top=_at(5)),
    )

    keys = [None if key is None else (key - _TEN) // _SECOND for key in order_keys(events)]

    assert keys == [5, 5, 5, 5, 7, 4, 6, None, None, 5]
    assert _order(write_order(events)) == [
        "b0",
        "a0",
        "a1",
        "a2",
        "a3",
        "d0",
        "b1",
        "a4",
        "c0",
        "c1",
    ]


def test_sources_are_told_apart_by_component_phase_and_path():
    events = _made(
        _event(index=0, top=_at(9)),
        _event(index=1, top=_at(1), component="mcp"),
        _event(index=2, top=_at(2), phase="detection"),
        _event(index=3, top=_at(3)),
    )

    assert _order(write_order(events)) == ["p1", "p2", "p0", "p3"]


def test_events_of_otel_stand_at_their_own_time_and_untimed_ones_at_the_end():
    events = _made(
        _event(index=0, path="o", component="otel", top={"timestamp": str(_TEN + 8 * _SECOND)}),
        _event(index=1, path="o", component="otel"),
        _event(index=2, path="o", component="otel", top={"timestamp": str(_TEN + 3 * _SECOND)}),
        _event(index=0, path="a", top=_at(4)),
        _event(index=0, path="b"),
    )

    written = write_order(events)

    assert _order(written) == ["o2", "a0", "o0", "o1", "b0"]
    assert order_problem(written) is None


def test_times_before_1970_stand_in_front_of_those_after():
    events = _made(
        _event(index=0, path="a", top={"ts": 0}),
        _event(index=0, path="b", top={"ts": -1}),
        _event(index=0, path="c", top={"ts": 1}),
        _event(index=0, path="d"),
    )

    assert _order(write_order(events)) == ["b0", "a0", "c0", "d0"]


def test_the_header_is_pinned_in_front_and_a_native_one_is_not():
    header = event_from(_HEADER | {"timestamp": 9})
    native, early = _made(
        _event("session.format", 0, path="n", top={"ts": 2}), _event(path="e", top={"ts": 1})
    )

    assert write_order([header, native, early]) == (header, early, native)
    assert write_order([native, early]) == (early, native)
    assert write_order([]) == ()
    assert order_problem([header, early, native]) is None


def test_writing_never_adds_a_time_to_an_event():
    events = _made(_event(index=0), _event(index=1, top=_at(1)))

    assert write_order(events) == tuple(events)
    assert events[0].timestamp is None


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([], None),
        ([_event(index=3), _event(index=3), _event(index=4)], None),
        (
            [_event(index=3), _event(index=0, path="q"), _event(index=2)],
            (2, "index 2 comes after index 3 of its source"),
        ),
        (
            [_event(path="a", top=_at(2)), _event(path="b", top=_at(1))],
            (1, "its time is before the time of the event in front of it"),
        ),
        # One source whose clock runs backwards: its key never falls.
        ([_event(index=0, top=_at(2)), _event(index=1, top=_at(1))], None),
        (
            [_event(path="a"), _event(path="b", top=_at(1))],
            (1, "a timed event comes after untimed ones"),
        ),
        # The first event of the source has no time of its own, but the anchor.
        ([_event(index=0), _event(index=1, top=_at(1)), _event(path="b", top=_at(1))], None),
        # Spans are written when they end, so that their indexes may go back; their times may not.
        (
            [
                _event(index=1, component="otel", top=_at(1)),
                _event(index=0, component="otel", top=_at(2)),
            ],
            None,
        ),
        (
            [
                _event(index=0, component="otel", top=_at(2)),
                _event(index=1, component="otel", top=_at(1)),
            ],
            (1, "its time is before the time of the event in front of it"),
        ),
    ],
)
def test_the_first_break_of_the_written_order_is_found(records, problem):
    events = _made(*records)
    behind_header = None if problem is None else (problem[0] + 1, problem[1])

    assert order_problem(events) == problem
    assert order_problem([HEADER, *events]) == behind_header


_TIMES = st.sampled_from([{}, {}, {"ts": -5}, {"ts": 0}, *(_at(second) for second in range(4))])


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["agent", "otel"]), _TIMES),
        max_size=12,
    )
)
def test_whatever_is_written_in_order_keeps_the_rules_of_order(chosen):
    counts: dict[tuple[str, str], int] = {}
    events = [HEADER]
    for path, component, top in chosen:
        index = counts[path, component] = counts.get((path, component), -1) + 1
        events.append(event_from(_event("a.b", index, top=top, path=path, component=component)))

    written = write_order(events)

    assert written[0] == HEADER
    assert sorted(map(repr, written)) == sorted(map(repr, events))
    assert order_problem(written) is None
    assert write_order(written) == written


# --- times ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        (0, 0),
        (-1, -1_000_000),
        (1.5, 1_500_000),
        (8.64e15, 8_640_000_000_000_000_000_000),
        (-8.64e15, -8_640_000_000_000_000_000_000),
        (8_640_000_000_000_001, None),
        (10**400, None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        (None, None),
        ([], None),
        ({}, None),
        ("0", None),
    ],
)
def test_a_number_is_milliseconds_up_to_the_last_time_there_is(value, nanoseconds):
    assert stamp_ns(value) == nanoseconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1969-12-31T23:59:59Z", -1),
        ("2026-05-01T10:00:00Z", _TEN // _SECOND),
        ("2026-05-01T12:00:00+02:00", _TEN // _SECOND),
        ("2026-05-01T04:30:00-05:30", _TEN // _SECOND),
        # 30 years and 7 leap days to 2000, where the 59th day after New Year is a leap day.
        ("2000-02-29T00:00:00Z", (10_957 + 59) * 86_400),
        # 54 years and 13 leap days to 2024.
        ("2024-02-29T00:00:00Z", (19_723 + 59) * 86_400),
        ("2023-02-29T00:00:00Z", None),
        ("1900-02-29T00:00:00Z", None),
        ("2026-00-01T00:00:00Z", None),
        ("2026-13-01T00:00:00Z", None),
        ("2026-04-31T00:00:00Z", None),
        ("2026-05-00T00:00:00Z", None),
        ("2026-05-01T24:00:00Z", None),
        ("2026-05-01T10:60:00Z", None),
        # A leap second is the first second of the next minute: 47 years, 12 leap days.
        ("2016-12-31T23:59:60Z", (47 * 365 + 12) * 86_400),
        ("2026-05-01T10:00:61Z", None),
        ("2026-05-01T10:00:00+24:00", None),
        ("2026-05-01T10:00:00+02:60", None),
        ("2026-05-01T10:00:00+23:59", _TEN // _SECOND - (23 * 3600 + 59 * 60)),
        ("2026-05-01T10:00:00", None),
        ("2026-05-01T10:00Z", None),
        ("2026-05-01", None),
        ("2026-05-01T10:00:00.Z", None),
        (" 2026-05-01T10:00:00Z", None),
        ("2026-05-01T10:00:00Z\n", None),
        ("\u0662026-05-01T10:00:00Z", None),
    ],
)
def test_text_is_a_time_with_seconds_and_zone(text, seconds):
    assert stamp_ns(text) == (None if seconds is None else seconds * _SECOND)


def test_a_fraction_counts_to_the_nanosecond():
    whole = "2026-05-01T10:00:00"

    assert stamp_ns(f"{whole}.1Z") == _TEN + 100_000_000
    assert stamp_ns(f"{whole}.123456789Z") == _TEN + 123_456_789
    assert stamp_ns(f"{whole}.1234567899Z") == _TEN + 123_456_789
    assert stamp_ns(f"{whole}.000000001+00:00") == _TEN + 1


def test_text_without_a_zone_is_utc_only_for_who_asks_for_it():
    text = "2026-05-01T10:00:00"

    assert iso_ns(text, zone_required=True) is None
    assert iso_ns(text, zone_required=False) == _TEN
    assert iso_ns("2026-13-01T10:00:00", zone_required=False) is None


@pytest.mark.parametrize(
    ("nanoseconds", "spelt"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (_TEN + 123_999_999, "2026-05-01T10:00:00.123Z"),
        ((10_957 + 59) * 86_400 * _SECOND, "2000-02-29T00:00:00.000Z"),
        (-62_135_596_800 * _SECOND, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799 * _SECOND, "9999-12-31T23:59:59.000Z"),
    ],
)
def test_nanoseconds_are_spelt_as_utc_with_milliseconds(nanoseconds, spelt):
    assert format_utc(nanoseconds) == spelt
    assert stamp_ns(spelt) == nanoseconds // 1_000_000 * 1_000_000


@pytest.mark.parametrize(
    ("nanoseconds", "milliseconds"), [(2_000_000, 2), (2_500_000, 2.5), (1, 1e-6), (-1, -1e-6)]
)
def test_milliseconds_are_whole_when_they_can_be(nanoseconds, milliseconds):
    spelt = ns_to_ms(nanoseconds)

    assert (spelt, type(spelt)) == (milliseconds, type(milliseconds))


# --- spans of time ----------------------------------------------------------


def _texts(*seconds):
    return [_at(second)["timestamp"] for second in seconds]


@pytest.mark.parametrize(
    ("stamps", "first", "last", "several"),
    [
        (_texts(3, 1, 2), 1, 3, True),
        (_texts(4), 4, 4, False),
        ([None, *_texts(4), None], 4, 4, False),
        # A number beside text, text in another zone, a fraction behind a comma: read one by one.
        ([*_texts(1), _TEN // 1_000_000 + 5000], 1, 5, True),
        ([*_texts(1), "2026-05-01T12:00:02+02:00"], 1, 2, True),
        ([*_texts(2), "2026-05-01T10:00:01,0Z"], 1, 2, True),
        # What cannot be read does not count, wherever it would sort.
        ([*_texts(1), "2026-05-01T10:61:00Z", *_texts(3)], 1, 3, True),
        ([*_texts(1), "2026-13-01T10:00:00Z"], 1, 1, False),
        ([*_texts(1), "0026-13-01T10:00:00Z"], 1, 1, False),
        ([*_texts(1), True, {}, []], 1, 1, False),
        # The last millisecond of 1999 is untimed, the first of 2000 is not.
        ([946_684_799_999, *_texts(2)], 2, 2, False),
        (["1999-12-31T23:59:59Z", *_texts(2, 3)], 2, 3, True),
    ],
)
def test_a_span_reaches_from_the_first_to_the_last_readable_time(stamps, first, last, several):
    span = span_of(stamps)

    assert span == TimeSpan(_TEN + first * _SECOND, _TEN + last * _SECOND, several)


@pytest.mark.parametrize("stamps", [[], [None, None], [946_684_799_999], ["x"], [True, None]])
def test_without_a_readable_time_there_is_no_span(stamps):
    for keep_times in (False, True):
        assert span_of(stamps, keep_times=keep_times) is None


def test_a_span_lists_its_times_when_they_are_asked_for():
    span = span_of([*_texts(3, 1), "x"], keep_times=True)

    assert span is not None
    assert span.times == [_TEN + _SECOND, _TEN + 3 * _SECOND]
    assert span_of([946_684_800_000], keep_times=True) == TimeSpan(
        946_684_800_000_000_000,
        946_684_800_000_000_000,
        several=False,
        times=[946_684_800 * _SECOND],
    )


def test_spans_join_to_the_time_between_their_ends_when_there_are_two_times():
    one = TimeSpan(_TEN, _TEN, several=False)
    other = TimeSpan(_TEN + 1_500_000, _TEN + 1_500_000, several=False)
    same = TimeSpan(_TEN, _TEN, several=True)

    assert total_span_ms([], None) is None
    assert total_span_ms([one], None) is None
    assert total_span_ms([same], None) == 0
    assert total_span_ms([one, other], None) == 1.5
    assert total_span_ms([other, one], None) == 1.5


def test_times_over_a_day_after_the_collection_are_left_out():
    day = 86_400 * _SECOND
    times = [_TEN, _TEN + 2 * _SECOND, _TEN + day, _TEN + day + 1]
    straddling = TimeSpan(times[0], times[-1], several=True)
    listed = TimeSpan(times[0], times[-1], several=True, times=times)
    late = TimeSpan(times[-1], times[-1], several=False)

    assert needs_times([straddling], _TEN)
    assert not needs_times([straddling], None)
    assert not needs_times([straddling], _TEN + 1)
    assert not needs_times([listed, late], _TEN)
    assert total_span_ms([listed, late], _TEN) == 86_400_000
    assert total_span_ms([listed, late], _TEN + 1) == 86_400_000 + 1e-6
    assert total_span_ms([late], _TEN) is None
    # Of the one time that is left, there is no span.
    assert total_span_ms([TimeSpan(_TEN, times[-1], several=True, times=times[::3])], _TEN) is None


@pytest.mark.parametrize("key", ["timestamp", "ts", "time", "created_at", "message"])
def test_the_last_resort_for_the_duration_is_the_span_of_events(key):
    def top(milliseconds):
        return {key: {"timestamp": milliseconds} if key == "message" else milliseconds}

    start = _TEN // 1_000_000
    duration = _stats(
        _event(top=top(start + 750)),
        _event(index=1),
        _event(index=2, top=top(start)),
        _event(index=3, top=top(start + 1000), phase="detection"),
        _event(index=4, top={"message": "text"}),
    ).duration

    assert (duration.value_ms, duration.source) == (750, "span")


def test_when_a_span_straddles_the_latest_time_all_times_are_read_again(monkeypatch):
    collected = _event(
        "session.collection", top=_at(0), component="collector", phase="conclusion", path="c"
    )
    hours = [
        _event(index=hour, top={"ts": _TEN // 1_000_000 + hour * 3_600_000})
        for hour in (3, 20, 24, 25)
    ]
    content = lines_of([_HEADER, collected, *hours])
    reads: list[bool] = []
    read = streaming._read_in_segments  # noqa: SLF001 - which reads happen is the fact

    def counted(*given, keep_times, **more):
        reads.append(keep_times)
        return read(*given, keep_times=keep_times, **more)

    monkeypatch.setattr(streaming, "_read_in_segments", counted)
    streamed = streaming.stream_lookups(content).lookups

    assert reads == [False, True]
    # From hour 3 to hour 24, a day after the collection; hour 25 is later than that.
    assert streamed.stats.duration.value_ms == 21 * 3_600_000
    assert _stats(collected, *hours).duration == streamed.stats.duration


# --- calls and requests -----------------------------------------------------


def _call(**fields):
    return ToolCall(**{"source": "agent", "name": "look", "path": "p", "completed": True} | fields)


@pytest.mark.parametrize(
    ("fields", "status", "failed"),
    [
        ({"success": True}, "success", False),
        ({"success": False}, "error", True),
        # Completed without a word about its outcome: it is not a success.
        ({"success": None}, "error", True),
        ({"completed": False}, None, True),
    ],
)
def test_a_call_that_is_no_known_success_has_failed(fields, status, failed):
    call = _call(**fields)

    assert (call.status, call.failed) == (status, failed)


def test_arguments_are_read_only_at_every_depth_and_none_when_none_were_recorded():
    arguments: Any = _call(arguments_json=b'{"a":[{"b":1}]}').arguments

    assert arguments == {"a": ({"b": 1},)}
    with pytest.raises(TypeError):
        arguments["a"][0]["b"] = 2
    assert _call().arguments is None
    assert _call(arguments_json=b"null").arguments is None


def test_a_call_has_two_names_for_its_name_and_stands_where_it_first_appears():
    assert _call().tool == _call().name == "look"
    assert _call(start_index=2, complete_index=5).place == Place("p", 2)
    assert _call(complete_index=5).place == Place("p", 5)
    assert _call(start_index=0, complete_index=5).place == Place("p", 0)


@pytest.mark.parametrize(
    ("tokens", "cached", "beside", "read"),
    [(None, 5, True, None), (3, None, True, 3), (3, 5, True, 8), (3, 5, False, 3), (0, 5, True, 5)],
)
def test_a_request_read_its_input_and_what_was_cached_beside_it(tokens, cached, beside, read):
    request = Request(
        place=Place("p", 0),
        model=None,
        input_tokens=tokens,
        output_tokens=None,
        total_tokens=None,
        cache_tokens=cached,
        cache_is_beside=beside,
        cache_is_declared=False,
        duration_ms=None,
    )

    assert request.read_tokens == read


def test_statistics_of_requests_are_nothing_without_a_request():
    stats = _stats(_event())

    assert stats.peak_input_tokens is None
    assert stats.cumulative_input_tokens is None
    assert stats.first_request_tokens is None
    assert (stats.requests, stats.tokens.source, stats.duration.value_ms) == (None, None, None)


def _used(index, data, /, kind="firewall.token_usage", **source):
    return _event(kind, index, data, **{"component": "firewall", "path": "proxy.jsonl"} | source)


def _usage(read=None, written=None, **counts):
    named = {"inputTokens": read, "outputTokens": written, **counts}
    return {"usage": {key: count for key, count in named.items() if count is not None}}


def test_requests_that_count_only_what_was_written_have_no_input():
    stats = _stats(_used(0, _usage(written=3)), _used(1, _usage(totalTokens=9)))

    assert (stats.requests, stats.peak_input_tokens, stats.cumulative_input_tokens) == (
        2,
        None,
        None,
    )
    assert stats.first_request_tokens == 3
    assert stats.tokens.total_tokens == 12


def test_the_largest_the_sum_and_the_first_are_those_of_what_was_read():
    # 30 cached tokens cannot be inside 10, so that for this model they stand beside the input.
    stats = _stats(
        _used(0, {"status": 500}),
        _used(1, {"model": "m", **_usage(20, 1, cacheReadInputTokens=5)}),
        _used(2, {"model": "m", **_usage(10, 2, cacheCreationInputTokens=30)}),
        _used(3, {"model": "n", **_usage(12, 3, cacheReadInputTokens=12)}),
        _used(4, {"model": "m", **_usage(50, 4, cacheReadInputTokens=7)}),
    )

    assert stats.requests == 5
    assert stats.peak_input_tokens == 57
    assert stats.cumulative_input_tokens == 25 + 40 + 12 + 57
    assert stats.first_request_tokens == 26
    assert (stats.as_read.cached, stats.as_read.cached_requests) == (42, 3)
    assert (stats.as_recorded.peak_input, stats.as_recorded.cumulative_input) == (50, 92)


def test_of_reports_with_one_request_id_the_last_counts_where_the_first_stands():
    report = {"kind": "usage.report", "component": "usage", "path": "agent_usage.jsonl"}
    lookups = _lookups(
        _used(0, {"requestId": "q1", "durationMs": 7, **_usage(10, 1)}, **report),
        _used(1, _usage(99, 99), **report),
        _used(2, {"requestId": "q2", **_usage(20, 2)}, **report),
        _used(3, {"requestId": "q1", **_usage(12, 3)}, **report),
        _used(4, {"requestId": "", **_usage(99, 99)}, **report),
    )

    assert lookups.requests_source == "report"
    assert [(item.place.index, item.input_tokens) for item in lookups.requests] == [
        (0, 12),
        (2, 20),
    ]
    tokens = lookups.stats.tokens
    assert (tokens.source, tokens.input_tokens, tokens.output_tokens, tokens.total_tokens) == (
        "report",
        32,
        5,
        37,
    )
    assert lookups.stats.duration.source is None


def test_reports_without_a_request_id_are_snapshots_of_which_each_field_is_the_latest():
    report = {"kind": "usage.report", "component": "usage", "path": "agent_usage.jsonl"}
    tokens = _stats(
        _used(0, _usage(10, 1), **report),
        _used(1, {"model": "m"}, **report),
        _used(2, _usage(written=5), **report),
        _used(3, _usage(-1, 1.5), **report),
    ).tokens

    assert (tokens.source, tokens.input_tokens, tokens.output_tokens, tokens.total_tokens) == (
        "report",
        10,
        5,
        15,
    )


def test_results_of_several_root_sessions_are_added_and_nested_ones_are_not():
    def result(index, session, usage, **more):
        return _event("session.result", index, {"sessionId": session, **usage, **more})

    tokens = _stats(
        result(0, "s1", _usage(10, 1)),
        result(1, "s1", _usage(20)),
        result(2, "s2", _usage(5, 5)),
        result(3, "s3", {"usage": None}),
        result(4, "s1", _usage(99, 99), agentId="sub"),
        result(5, "s1", _usage(99, 99), parentToolUseId="c"),
    ).tokens

    # Session s1 ends at 20 and 1, session s2 at 5 and 5.
    assert (tokens.source, tokens.input_tokens, tokens.output_tokens, tokens.total_tokens) == (
        "session",
        25,
        6,
        31,
    )


@pytest.mark.parametrize(
    ("row", "total"),
    [
        (UsageRow(0), None),
        (UsageRow(0, cache_read=5, includes_cache=False), None),
        (UsageRow(0, total_tokens=7, input_tokens=10, output_tokens=1), 7),
        (UsageRow(0, input_tokens=10), 10),
        (UsageRow(0, output_tokens=1), 1),
        (UsageRow(0, input_tokens=10, output_tokens=1, cache_read=5), 11),
        (UsageRow(0, input_tokens=10, output_tokens=1, cache_read=5, includes_cache=True), 11),
        (
            UsageRow(
                0,
                input_tokens=10,
                output_tokens=1,
                cache_read=5,
                cache_creation=6,
                includes_cache=False,
            ),
            22,
        ),
    ],
)
def test_a_record_totals_itself_or_its_parts_with_cache_only_when_declared_beside(row, total):
    assert usage_total(row) == total


@pytest.mark.parametrize("count", [-1, 1.5, "3", True, None, 2**53, float(2**53)])
def test_a_count_that_is_no_safe_whole_number_is_not_recorded(count):
    stats = _stats(_used(0, {"usage": {"inputTokens": count, "outputTokens": 2.0}}))

    assert (stats.peak_input_tokens, stats.tokens.output_tokens) == (None, 2)


def test_the_largest_safe_count_is_a_count():
    assert _stats(_used(0, _usage(MAX_SAFE_INTEGER))).peak_input_tokens == MAX_SAFE_INTEGER


# --- what is observed -------------------------------------------------------


def _started(index, call_id=None, name="look", /, top=None, **data):
    ids = {} if call_id is None else {"toolCallId": call_id}
    return _event("tool.execution_start", index, {"toolName": name, **ids, **data}, top=top)


def _ended(index, call_id=None, /, top=None, **data):
    ids = {} if call_id is None else {"toolCallId": call_id}
    return _event("tool.execution_complete", index, {"success": True, **ids, **data}, top=top)


def test_a_completion_that_names_nothing_closes_the_one_call_that_is_open():
    calls = _lookups(
        _started(0, "a"),
        _started(1, "b", "edit"),
        _ended(2, "b"),
        _ended(3, success=False),
    ).tool_calls

    assert [(call.name, call.success) for call in calls] == [("look", False), ("edit", True)]


def test_a_completion_that_names_nothing_closes_none_of_several_open_calls():
    lookups = _lookups(_started(0, "a"), _started(1, "b"), _ended(2))

    assert [call.completed for call in lookups.tool_calls] == [False, False]
    assert lookups.stats.nameless_calls == 1


@pytest.mark.parametrize("key", ["parent_tool_use_id", "parentToolUseId", "parentToolCallId"])
def test_a_parent_call_may_be_named_on_the_event_or_in_its_data(key):
    inside = _lookups(_started(0, "c", "look", **{key: "t"}), _ended(1, "c"))
    outside = _lookups(_started(0, "c", top={key: "t"}), _ended(1, "c", top={key: "t"}))
    within = _lookups(_started(0, "c", **{key: "t"}), _ended(1, "c", top={key: "t"}))

    assert [call.completed for call in outside.tool_calls] == [True]
    assert [call.completed for call in within.tool_calls] == [True]
    # The root's completion of the same id belongs to another call, which nothing names.
    assert [call.completed for call in inside.tool_calls] == [False]
    assert inside.stats.nameless_calls == 1
    assert inside.tool_calls[0].scope == ("agent", "agent", "p", None, "tool", "t")


def test_a_gateway_event_is_known_among_any_number_of_types():
    many = [_event(f"a.b{index}", index) for index in range(1100)]
    gateway = [_event(f"mcp.x{index}", 1100 + index, {"retry": True}) for index in range(3)]

    assert _stats(*many).retries is None
    assert _stats(*many, *gateway, *gateway[:1]).retries == 4


def test_results_of_safe_outputs_count_in_their_own_phase_alone():
    early = _event("safe_output.result", 0, component="safe_output")
    result = _event("safe_output.result", 1, component="safe_output", phase="safe_outputs")

    assert _stats(early).safe_output_results is None
    assert _stats(early, result).safe_output_results == 1


def test_a_listed_source_counts_as_observed_when_it_names_component_and_phase():
    def stats(*sources):
        listed: list[Any] = list(sources)
        return _stats(
            _event("session.collection", 0, {"sources": listed}, component="collector", phase="x")
        )

    whole = {"component": "mcp", "phase": "agent", "events": 0}

    assert stats(whole).retries == 0
    assert stats(7, None, {"component": "mcp"}, {"component": "mcp", "phase": 1}).retries is None
    assert stats({"component": "mcp"}, whole).retries == 0


def test_rows_that_were_not_redacted_give_no_lookups():
    with pytest.raises(TypeError, match="takes RedactedObservations"):
        build_lookups(Observer().observations)  # type: ignore[arg-type]


# --- the projected trajectory -----------------------------------------------


@pytest.mark.parametrize(
    ("data", "arguments"),
    [
        ({"input": {"b": 1, "a": [2]}}, {"b": 1, "a": (2,)}),
        ({"arguments": {"b": 1, "a": 2}}, {"b": 1, "a": 2}),
        # A bare command is the argument it stands for.
        ({"command": "ls"}, {"command": "ls"}),
        ({"input": None, "command": "ls"}, {"command": "ls"}),
        ({"input": None}, None),
        ({}, None),
    ],
)
def test_a_projected_call_has_its_arguments_in_recorded_order(data, arguments):
    entries: Any = _lookups(_started(0, "c", **data)).trajectory.entries("toolCalls")

    assert [entry["arguments"] for entry in entries] == [arguments]
    assert list(entries[0]["arguments"] or ()) == list(arguments or ())


def _states(*arguments):
    calls = [_started(index, f"c{index}", input=given) for index, given in enumerate(arguments)]
    entries: Any = _lookups(*calls).trajectory.entries("states")
    return [entry["id"] for entry in entries]


def test_a_state_is_the_same_when_only_volatile_members_differ_at_any_depth():
    first, *others = _states(
        {"q": [{"n": 1, "request_id": "a"}, [{"Time-Stamp": 1}]], "ts": 1},
        {"ts": 2, "q": [{"n": 1, "requestId": "b"}, [{"timestamp": [2]}]]},
        {"q": [{"n": 1.0}, [{}]]},
    )

    assert others == [first, first]


def test_a_state_differs_by_order_of_lists_type_and_absence_of_arguments():
    ids = _states(
        {"q": [1, 2]}, {"q": [2, 1]}, {"q": ["1", 2]}, {"q": [1, 2], "times": 1}, {}, None
    )

    assert len(set(ids)) == 6
    assert ids[-1] == "look"


# --- lazy and read-only values ----------------------------------------------


def test_a_lazy_value_is_made_once_at_the_first_call():
    made: list[int] = []
    lazy = Lazily(lambda: made.append(1) or "x")

    assert made == []
    assert (lazy(), lazy(), made) == ("x", "x", [1])


def test_a_lazy_value_cannot_be_changed_and_has_no_hash():
    lazy = Lazily(tuple)

    for change in (
        lambda: setattr(lazy, "_make", list),
        lambda: setattr(lazy, "other", 1),
        lambda: delattr(lazy, "_make"),
    ):
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError):
        hash(lazy)
    assert lazy() == ()


def test_lazy_values_are_equal_when_what_they_make_is():
    assert Lazily(lambda: [1]) == Lazily(lambda: [1])
    assert Lazily(lambda: [1]) != Lazily(lambda: [2])
    assert Lazily(lambda: 1) != 1


def test_a_grader_that_is_not_built_in_gets_its_own_read_only_copy():
    given: list[Any] = [1, [{"a": [2]}]]
    copy: Any = own(given)

    assert copy == (1, (MappingProxyType({"a": (2,)}),))
    with pytest.raises(TypeError):
        copy[1][0]["a"] = 3
    given[1][0]["a"] = 4
    assert copy[1][0]["a"] == (2,)
    assert own({"a": given})["a"] == (1, ({"a": 4},))


def test_what_nobody_knows_how_to_copy_is_never_handed_out():
    for value in (object(), {1}, bytearray(), (1, object()), {"a": object()}):
        with pytest.raises(TypeError, match=r"^cannot copy "):
            own(value)


def test_two_graders_never_share_an_id():
    spec = BUILT_IN["loops"]

    with pytest.raises(ValueError, match="two graders are called 'loops'"):
        _by_id((spec, BUILT_IN["retries"], spec))
    assert tuple(_by_id(BUILT_IN.values())) == tuple(BUILT_IN)


# --- two processes ----------------------------------------------------------


def test_a_process_is_copied_only_where_a_copy_would_run_beside_it(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert can_share()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    assert not can_share()

    monkeypatch.delattr(os, "sched_getaffinity")
    for count, wanted in ((None, False), (1, False), (2, True)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert can_share() is wanted

    monkeypatch.delattr(os, "fork")
    assert not can_share()


def test_a_process_with_another_thread_is_not_copied():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not can_share()
    finally:
        done.set()
        thread.join()


@pytest.fixture
def alternating(monkeypatch):
    """Small segments, of which this process reads the even ones and its "copy" the odd ones."""

    def share(count, work, mine):
        mine(iter(range(0, count, 2)))
        return work(iter(range(1, count, 2)))

    monkeypatch.setattr(streaming, "_SEGMENT_BYTES", 300)
    monkeypatch.setattr(streaming, "_BATCH_BYTES", 120)
    monkeypatch.setattr(streaming, "_SHARE_FROM_BYTES", 0)
    monkeypatch.setattr(streaming, "can_share", lambda: True)
    monkeypatch.setattr(streaming, "share", share)


@pytest.mark.usefixtures("alternating")
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 39), (7, 20), (38, 39)])
def test_the_second_execution_is_refused_at_its_line_whichever_part_it_stands_in(first, second):
    events = [_event(index=index) for index in range(40)]
    events[first]["type"] = events[second]["type"] = "agent.execution"
    content = lines_of([_HEADER, *events])

    with pytest.raises(SessionFormatError) as streamed:
        streaming.stream_lookups(content)
    with pytest.raises(SessionFormatError) as whole:
        read_session(content)

    assert streamed.value.problem == whole.value.problem
    assert streamed.value.problem.line == second + 2


@pytest.mark.usefixtures("alternating")
def test_parts_that_take_turns_give_the_lookups_of_the_whole():
    events = []
    for call in range(30):
        events += [_started(2 * call, f"c{call}", n=call), _ended(2 * call + 1, f"c{call}")]
    content = lines_of([_HEADER, *events])

    streamed = streaming.stream_lookups(content).lookups

    assert streamed.tool_calls == _lookups(_HEADER, *events).tool_calls
    assert streamed.stats == _stats(_HEADER, *events)


@pytest.mark.usefixtures("alternating")
def test_the_newest_stamp_of_several_collections_bounds_the_times():
    place = {"component": "collector", "phase": "conclusion", "path": "c"}
    day = 86_400_000
    start = _TEN // 1_000_000
    collected = [
        _event("session.collection", index, top={"timestamp": stamp}, **place)
        for index, stamp in enumerate((start, start + day, "never"))
    ]
    between = [_event(index=index) for index in range(9)]
    # A day after the newest stamp is the last time that counts.
    timed = [
        _event(index=9 + index, top={"timestamp": start + offset})
        for index, offset in enumerate((0, 2 * day, 2 * day + 1))
    ]

    for first, second in ((0, 1), (1, 0)):
        events = [collected[2], collected[first], *between, collected[second], *timed]
        streamed = streaming.stream_lookups(lines_of([_HEADER, *events])).lookups

        assert streamed.stats.duration.value_ms == 2 * day
        assert _stats(*events).duration == streamed.stats.duration


def test_a_line_over_the_limit_may_be_the_last_one():
    content = lines_of([_HEADER, _event()]) + b'"' + b"a" * (MAX_LINE_BYTES + 1)

    streamed = streaming.stream_lookups(content, lenient=True)
    with pytest.raises(SessionFormatError) as refused:
        streaming.stream_lookups(content)

    assert streamed.lookups.events == 2
    assert streamed.skipped == (refused.value.problem,)
    assert refused.value.problem.line == 3
    assert "the limit is 32 MiB" in refused.value.problem.reason


@pytest.mark.parametrize("output", ["x" * 2000, "\u00e9" * 1000])
def test_a_long_text_that_nobody_reads_is_left_out_of_a_batch(output):
    record = _event("tool.execution_complete", 0, {"output": output, "other": output})

    (event,) = decode_batch([_json.compact(record)])

    assert event.data == {"output": "", "other": output}


def test_a_batch_with_a_line_that_needs_care_is_not_settled():
    plain = _json.compact(_event())
    spoiled = _json.compact(_event(data={"output": "x" * 2000})).replace(b"xx", b"\xff", 1)
    long = b'"' + b"a" * MAX_LINE_BYTES + b'"'

    assert decode_batch([]) == []
    assert decode_batch([plain]) is not None
    for odd in (spoiled, long, b"", b"[]", b"{"):
        assert decode_batch([plain, odd]) is None


def test_the_line_of_a_type_is_its_first_or_none():
    lines = [b"\n", b'"a.b"\n', *(_json.compact(_event(kind)) for kind in ("a.a", "a.b", "a.b"))]

    assert line_of("a.b", lines, 10) == 14
    assert line_of("a.c", lines, 10) is None


# --- what an input is -------------------------------------------------------


def _refused(content: bytes) -> Problem:
    with pytest.raises(SessionFormatError) as refused:
        read_evidence([SourceFile("f", content)], lenient=False, strict=False)
    return refused.value.problem


def test_an_array_that_cannot_be_decoded_is_meant_as_a_session_when_it_names_provenance():
    content = b'[{"type":"a.b",\n"provenance":{} x}]'

    assert is_unified(content)
    assert _refused(content).line == 2
    assert companions_of(content) == ()


@pytest.mark.parametrize("content", [b'[{"provenance":{}}]', b'["provenance", 1]'])
def test_an_array_is_a_session_only_when_one_element_has_type_and_provenance(content):
    assert not is_unified(content)
    assert _refused(content).reason == "is a JSON array of something else than events"
    assert is_unified(content[:-1] + b',{"type":7,"provenance":{}}]')


def test_lines_are_a_session_when_one_of_them_has_type_and_provenance():
    around = b'"provenance"\n{"provenance":[]}\n{"provenance":\n\n'
    event = b'{"type":7,"provenance":{}}\n'

    assert not is_unified(around)
    assert not is_unified(b'{"a":1}\n')
    assert is_unified(around + event)
    assert is_unified(b"\xef\xbb\xbf" + event)


def test_a_thousand_lines_that_mention_provenance_are_enough_to_look_at():
    event = b'{"type":7,"provenance":{}}\n'

    assert is_unified(b'"provenance"\n' * 999 + event)
    assert not is_unified(b'"provenance"\n' * 1000 + event)


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        (b" ", "is empty", None),
        (b"[1,", "expecting value", 1),
        (b"hello\n", "expecting value", 1),
        (b'{"a":1}\n', "is no recording of a kind that is known", None),
        (b'{"a":1}\nx\n', "is no recording of a kind that is known", None),
        # Pretty JSON: the first line is none, the whole is.
        (b'{\n"a":1\n}\n', "is no recording of a kind that is known", None),
        (b'{\n"a":1\n', "expecting property name enclosed in double quotes", 1),
        (b"\xff\xfe" * 10, "holds binary data, not a session", None),
        (b"a\0b", "holds binary data, not a session", None),
        (b'{"run":{}}', "is no recording of a kind that is known", None),
    ],
)
def test_what_is_neither_session_nor_recording_is_said(content, reason, line):
    problem = _refused(content)

    assert (problem.reason, problem.line) == (reason, line)
    assert problem.hint is not None


def test_a_character_that_the_head_of_a_file_cuts_is_still_text():
    for lead in range(4092, 4097):
        assert _refused(b"a" * lead + "\N{COMPASS}".encode()).reason == "expecting value"


def test_a_line_without_end_that_is_no_array_is_named_by_its_length():
    problem = _refused(b"a" * (MAX_LINE_BYTES + 1))

    assert problem.reason == "the line has 33554433 bytes, the limit is 32 MiB"
    assert problem.hint == "split it into one event per line"


@pytest.mark.parametrize(
    ("record", "key"),
    [
        (b'{"toolCalls":[],"schemaVersion":1}', "schemaVersion"),
        (b'{\n"tokenUsageEntries":[]\n}', "tokenUsageEntries"),
    ],
)
def test_a_legacy_trace_is_refused_by_the_key_that_gives_it_away(record, key):
    assert _refused(record).reason == (
        f'is a legacy trace payload (it has "{key}"), which is not accepted'
    )


# --- validating -------------------------------------------------------------


def _said(*parts: Any) -> list[tuple[int | None, str]]:
    content = b"".join(part if isinstance(part, bytes) else lines_of([part]) for part in parts)
    return [(problem.line, problem.reason) for problem in validate(content)]


def test_a_session_in_order_has_no_problem():
    timed = _event(index=1, top=_at(1), timestampMs=1, native=None)

    assert _said(_HEADER, _event(), timed) == []


@pytest.mark.parametrize(
    ("parts", "line", "reason"),
    [
        ([b""], None, "is empty"),
        ([b"[1"], 1, "expecting ',' delimiter"),
        ([_HEADER, b"\n", _event()], 2, "a blank line"),
        ([_HEADER, b" \t\n"], 2, "a blank line"),
        ([_HEADER, lines_of([_event()])[:-1] + b"\r\n"], 2, "line ends are CRLF"),
        ([_HEADER, lines_of([_event()])[:-1]], 2, "the last line has no line end"),
        ([_HEADER, _event("dotless")], 2, 'the type "dotless" holds no dot'),
        *(
            ([_HEADER, _event(path=path)], 2, f'the path "{path}" is not relative to the run')
            for path in ("", "/a", "\\a", "c:a", "C:\\a", "..", "a/../b", "a\\..\\b")
        ),
        *(
            ([_HEADER, _event(**{key: 1})], 2, f'"provenance" has no field "{key}"')
            for key in ("timestampNs", "x")
        ),
        (
            [_HEADER, _event(index=1), _event(index=0)],
            3,
            "index 0 comes after index 1 of its source",
        ),
        (
            [_HEADER, _event(), _event(path="q", top=_at(1))],
            3,
            "a timed event comes after untimed ones",
        ),
        (
            [_HEADER, _event(top=_at(2)), _event(path="q", top=_at(1))],
            3,
            "its time is before the time of the event in front of it",
        ),
        ([_HEADER, _HEADER], 2, "a second header: several sessions stand in one file"),
        (
            [_HEADER, lines_of([_event()]).replace(b'"data":{}', b'"data":{"a":1,"a":2,"a":3}')],
            None,
            "2 duplicate keys; the last one counts",
        ),
        (
            [_HEADER, lines_of([_event()]).replace(b'"data":{}', rb'"data":{"a":"\ud800"}')],
            None,
            "1 lone surrogate, read as U+FFFD",
        ),
    ],
)
def test_each_kind_of_problem_is_found_alone_at_its_line(parts, line, reason):
    assert _said(*parts) == [(line, reason)]


@pytest.mark.parametrize("path", ["a", "a/b", "a..b", "..a/b", "a/...", ".a"])
def test_dots_inside_a_name_leave_the_path_relative(path):
    assert _said(_HEADER, _event(path=path)) == []


def test_several_problems_stand_in_the_order_of_the_file():
    found = _said(
        _HEADER,
        _event("dotless", 1, path="/a", y=1, x=1),
        b"\n",
        b"nope\n",
        lines_of([_event(index=0)]).rstrip(),
    )

    assert found == [
        (2, 'the type "dotless" holds no dot'),
        (2, 'the path "/a" is not relative to the run'),
        (2, '"provenance" has no field "x"'),
        (2, '"provenance" has no field "y"'),
        (3, "a blank line"),
        (4, "expecting value"),
        (5, "the last line has no line end"),
    ]


def test_an_array_has_elements_and_no_lines_or_line_ends():
    events = [_event("dotless"), _event(path="q", top=_at(1))]
    problems = validate(b"\r\n\r\n" + _json.compact(events))

    assert [(item.line, item.in_array, item.reason) for item in problems] == [
        (1, True, 'the type "dotless" holds no dot'),
        (2, True, "a timed event comes after untimed ones"),
    ]
    assert problems[1].text("f").startswith("f: event 2: a timed event")
    assert "they are still graded" in (problems[1].hint or "")


def test_a_session_of_other_makers_gets_a_header_and_keeps_its_events():
    made = Session.of([Event("a.b", HEADER.provenance)])

    assert made.events[0] == HEADER
    assert Session.of(made.events) == made
