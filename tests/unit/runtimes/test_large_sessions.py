"""Bounds count the script, not the evidence."""

import re

import msgspec
import pytest

from aw_graders.runtimes import node
from aw_graders.runtimes.limits import MAX_CUSTOM_SESSION_BYTES
from aw_graders.runtimes.outcome import Failure
from tests.unit.runtimes.support import grader, script, small

_LOOKUPS = {
    "stats": {},
    "toolCalls": [],
    "toolCallsById": [],
    "eventsByType": [],
    "trace": {"steps": [], "retryEvents": [], "totals": {}, "artifacts": [], "trajectoryIR": {}},
}
_LINE = b'{"type":"assistant.message","data":{"n":%d,"content":"' + b"a word " * 190 + b'"}}\n'
_LINES = 75_000


def test_a_session_of_100_megabytes_is_graded():
    session = node.session_text((_LINE % number for number in range(_LINES)), _LOOKUPS)
    assert session.size > 100_000_000

    # What the session takes is not held against the script.
    answer = script(
        "const held = new Float64Array(20 * 2 ** 20).fill(1);\n"
        "return session.reduce((sum, event) => sum + event.data.n, 0) + held[5];",
        session,
    )

    assert getattr(answer, "value", answer) == _LINES * (_LINES - 1) // 2 + 1


@pytest.mark.spec("G-5-54")
def test_a_script_over_a_large_session_is_still_bounded():
    session = node.session_text((_LINE % number for number in range(20_000)), _LOOKUPS)

    answer = script("return new Uint8Array(280 * 2 ** 20).length;", session)

    assert isinstance(answer, Failure)
    assert re.fullmatch("RangeError: Array buffer allocation failed", answer.error)


def test_a_session_over_the_limit_is_an_error_that_names_it():
    session = msgspec.structs.replace(small(), size=MAX_CUSTOM_SESSION_BYTES + 1)

    answer = node.run_script(grader("return 1;"), session)

    assert answer.answer == Failure(
        "the session has 268,435,457 bytes, and custom JavaScript reads at most 268,435,456"
    )
    assert answer.fences == ()


def test_a_session_at_the_limit_is_not_refused_for_its_size(monkeypatch):
    monkeypatch.setattr(node, "MAX_CUSTOM_SESSION_BYTES", small().size)

    assert script("return session.length;").value == 3


def test_the_limit_leaves_room_for_100_megabytes_and_for_one_text_of_the_engine():
    assert 100_000_000 < MAX_CUSTOM_SESSION_BYTES < 2**29 - 24


def test_an_empty_session_is_an_empty_list():
    assert script("return session.length;", node.session_text([], _LOOKUPS)).value == 0
