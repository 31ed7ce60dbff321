"""Records out of lines, glued and pretty-printed objects, arrays and logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.collectors import SourceFile
from aw_graders.collectors.records import Records, read_records
from aw_graders.session import limits


def read(content: bytes) -> Records:
    return read_records(SourceFile("a.jsonl", content))


def values(content: bytes) -> list[tuple[int, object]]:
    return [(record.line, record.value) for record in read(content).records]


def codes(content: bytes) -> list[tuple[str, int | None, bool]]:
    return [(note.code, note.line, note.lossy) for note in read(content).notes]


def test_a_byte_order_mark_crlf_and_blank_lines_are_no_news() -> None:
    content = b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n{"a":2}'
    assert values(content) == [(1, {"a": 1}), (4, {"a": 2})]
    assert codes(content) == []


def test_glued_objects_are_read_one_by_one() -> None:
    assert values(b'{"a":1}{"a":2} {"a":3}\n{"a":4}') == [
        (1, {"a": 1}),
        (1, {"a": 2}),
        (1, {"a": 3}),
        (2, {"a": 4}),
    ]


def test_what_is_glued_to_a_record_without_being_one_is_noted() -> None:
    assert values(b'{"a":1}{"a":\n{"a":2}') == [(1, {"a": 1}), (2, {"a": 2})]
    assert codes(b'{"a":1} x\n{"a":2}') == [("not-json", 1, True)]


def test_pretty_printed_objects_and_arrays_keep_their_lines() -> None:
    expected = [(1, {"a": {"b": 1}}), (6, {"a": 2})]
    assert values(b'{\n "a": {\n  "b": 1\n }\n}\n{\n "a": 2\n}\n') == expected
    assert values(b'[\n {\n  "a": 1\n },\n {"a": 2}\n]\n') == [(2, {"a": 1}), (5, {"a": 2})]
    assert codes(b'[\n {\n  "a": 1\n },\n {"a": 2}\n]\n') == []


def test_an_array_that_is_cut_off_gives_what_came_before() -> None:
    content = b'[{"a":1},{"a":2},{"a'
    assert values(content) == [(1, {"a": 1}), (1, {"a": 2})]
    assert codes(content) == [("cut-line", 1, True)]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b'{"a":', "not-json"),
        (b'{"a":NaN}', "not-json"),
        (b'{"a":"\xff"}', "not-json"),
        (b"nonsense", "not-json"),
        (b"[1,2]", "not-an-object"),
        (b"42", "not-an-object"),
        (b"null", "not-an-object"),
        (b"\0\0", "nul-bytes"),
        (b'{"a":' + b"[" * 600 + b"]" * 600 + b"}", "nested-too-deeply"),
    ],
)
def test_a_bad_line_is_skipped_and_named(bad: bytes, code: str) -> None:
    content = b'{"a":1}\n' + bad + b'\n{"a":2}\n'
    assert values(content) == [(1, {"a": 1}), (3, {"a": 2})]
    assert codes(content) == [(code, 2, True)]


def test_leading_nul_bytes_are_removed_with_a_note() -> None:
    assert values(b'\0\0{"a":1}') == [(1, {"a": 1})]
    assert codes(b'\0\0{"a":1}') == [("nul-bytes", 1, False)]


def test_nul_bytes_within_a_line_part_its_records() -> None:
    assert values(b'{"a":1}\0\0\n{"a":2}\0{"a":3}\n{"a\0{"a":4}\n') == [
        (1, {"a": 1}),
        (2, {"a": 2}),
        (2, {"a": 3}),
        (3, {"a": 4}),
    ]
    assert codes(b'{"a\0{"a":4}\n') == [("not-json", 1, True), ("nul-bytes", 1, False)]


def test_a_line_over_the_limit_is_skipped_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aw_graders.collectors.records.MAX_LINE_BYTES", 1024 * 1024)
    note = read(b'{"a":"' + b"x" * 2_000_000 + b'"}\n{"a":1}').notes[0]
    assert (note.code, note.line) == ("line-too-long", 1)
    assert "1.9 MiB" in note.message
    assert limits.MAX_LINE_BYTES > 1024 * 1024


def test_the_plain_text_of_a_log_is_one_note() -> None:
    content = b'[DEBUG] start\nnpm warn\n[10:00] tick\n12ab: pulling\n[{"a":1},{"a":2}]\ndone\n'
    assert values(content) == [(5, {"a": 1}), (5, {"a": 2})]
    assert codes(content) == [("plain-text-lines", 1, False)]


def test_the_tail_of_a_record_at_the_head_of_a_file_is_a_loss() -> None:
    assert codes(b'xt":"abc"}\n{"a":1}\n') == [("not-json", 1, True)]


def test_repeated_keys_and_halves_of_pairs_are_counted() -> None:
    content = b'{"a":1,"a":2}\n{"a":"\\ud83d"}\n'
    assert values(content) == [(1, {"a": 2}), (2, {"a": "\ufffd"})]
    assert codes(content) == [("duplicate-keys", 1, False), ("lone-surrogates", 2, False)]


@pytest.mark.parametrize(
    "content",
    [
        b'{"a":1}' * 20_000,
        b"[" + b'{"a":1},' * 20_000,
        b'{"a":1,\n' * 20_000,
        b'{"a":\n' * 20_000,
        b"[\n" * 40_000,
        b'[{"a":1}' + b"," * 200_000,
        b"[" * 200_000,
    ],
)
def test_hostile_content_costs_no_more_than_its_length(content: bytes) -> None:
    read(content)


def test_notes_hold_nothing_of_the_content() -> None:
    content = (
        b'{"hunter2":}\nhunter2\n{"n":hunter2}\n{"a":1}{"hunter2"\n{"n":' + b"1" * 400 + b"}\n"
    )
    texts = [note.text() for note in read(content).notes]
    assert texts
    assert not [text for text in texts if "hunter2" in text or "1111" in text]


def test_a_prefix_says_where_it_ends() -> None:
    decoded, end = _json.decode_prefix('..{"a":1}{"b"', 2)
    assert (decoded.value, end) == ({"a": 1}, 9)
    long = '{"a":"' + "x" * 100_000 + '","a":12}'
    decoded, end = _json.decode_prefix(long + "tail", 0)
    assert (end, decoded.duplicate_keys) == (len(long), 1)


@pytest.mark.parametrize("text", ["", "{", '{"a":NaN}', '{"a":1e999}', "[" * 600 + "]" * 600])
def test_a_prefix_keeps_the_strict_rules(text: str) -> None:
    with pytest.raises(_json.JsonError):
        _json.decode_prefix(text, 0)


@given(st.text(alphabet='{}[]",:\\ua1 \n\r\0é-', max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    read(text.encode())


def test_nuls_inside_an_array_lose_no_record_after_them() -> None:
    nuls = b'[\n{"a":1},\nx\n\0\0,{"a":2},\n{"a":3}\n]\n'

    assert [value for _, value in values(nuls)] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert values(nuls) == values(nuls.replace(b"\0", b""))


@pytest.mark.parametrize("content", [b'[{"a":1},{"a":2}', b'[{"a":1},\n{"a":2},\n'])
def test_a_list_without_end_is_noted(content: bytes) -> None:
    assert [value for _, value in values(content)] == [{"a": 1}, {"a": 2}]
    assert [(code, lossy) for code, _, lossy in codes(content)] == [("cut-list", True)]
