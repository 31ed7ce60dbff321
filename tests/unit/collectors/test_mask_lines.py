"""Commands that mask a value are found in any text, however it is written."""

import io
import json

import pytest

from aw_graders.collectors.mask_lines import mask_lines, pieces_of
from aw_graders.redaction.known import values_of_lines


def _values(content):
    return values_of_lines(mask_lines(pieces_of(io.BytesIO(content))))


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"", ()),
        (b"nothing here\n", ()),
        (b"::add-mask::plain-value\n", ("plain-value",)),
        (b"2026-01-01T00:00:00Z ::add-mask::after a stamp\r\nnext\n", ("after a stamp",)),
        (b"::add-mask::no-line-end", ("no-line-end",)),
        (b"::add-mask::one%0Atwo%25\n", ("one\ntwo%",)),
        (b"::add-mask::$TOKEN\n", ()),
        (b"::add-mask::first::add-mask::second\n", ("first", "second")),
        (b"\xff\xfe ::add-mask::in-no-text\n", ("in-no-text",)),
        (json.dumps({"a": ["x\n::add-mask::in-json\ny"]}).encode(), ("in-json",)),
        (json.dumps({"::add-mask::in-a-key": 1}).encode(), ("in-a-key",)),
        (json.dumps({"a": "::add-mask::\u00e9t\u00e9-\u00e9t\u00e9"}).encode(), ("été-été",)),
        (b'{"a":"::add-mask::in-a-cut-line', ("in-a-cut-line",)),
        (
            json.dumps({"a": [{"b": "::add-mask::in-a-document"}]}, indent=1).encode(),
            ("in-a-document",),
        ),
    ],
)
def test_a_value_is_found_wherever_the_command_stands(content, values):
    assert _values(content) == values


def test_commands_are_found_far_into_a_file_and_over_the_ends_of_pieces():
    filler = b"x" * 99 + b"\n"
    line = b"::add-mask::value-%06d\n"
    content = b"".join(filler * 500 + line % number for number in range(40))
    assert _values(content) == tuple(f"value-{number:06d}" for number in range(40))


def test_many_commands_are_bounded():
    content = b"".join(b"::add-mask::value-%06d\n" % number for number in range(10_100))
    assert len(mask_lines([content])) == 10_000
