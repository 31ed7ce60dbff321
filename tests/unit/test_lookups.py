"""Lookups: built once, indexed by type, linear."""

import subprocess
import sys
from pathlib import Path

import pytest

from aw_graders.graders import grade, grade_lookups
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import HEADER, Event, Provenance, Session, read_session
from tests.support import ROOT

_EXAMPLE = read_session((ROOT / "examples" / "workflow-run.jsonl").read_bytes()).session


def _calls_of(function, *arguments):
    """Count the Python functions entered while `function` runs, by name."""
    counts = {}

    def count(frame, event, _):
        if event == "call":
            name = frame.f_code.co_name
            counts[name] = counts.get(name, 0) + 1

    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return counts


def _session_of(calls):
    events = [HEADER]
    for number in range(calls):
        ids = b'{"toolCallId":"c%d","toolName":"view","input":{"n":%d}}' % (number, number % 5)
        done = b'{"toolCallId":"c%d","success":true,"exitCode":0}' % number
        for offset, (kind, data) in enumerate(
            (("tool.execution_start", ids), ("tool.execution_complete", done))
        ):
            events.append(Event(kind, Provenance("agent", "agent", "a", 2 * number + offset), data))
    return redact(Session(tuple(events))).session


@pytest.mark.spec("G-2-13")
def test_events_are_indexed_by_type_in_session_order():
    lookups = create_session_lookups(redact(_EXAMPLE).session)
    wanted = tuple(event for event in _EXAMPLE.events if event.type == "eval.result")

    assert lookups.events_of_type("eval.result") == wanted
    assert lookups.events_of_type("no.such") == ()
    with pytest.raises(TypeError):
        lookups.events_by_type["a"] = ()


@pytest.mark.spec("G-2-4", "G-2-16", "G-8-20")
def test_lookups_are_built_once_for_all_graders():
    session = redact(_EXAMPLE).session

    assert _calls_of(grade, session)["conclude"] == 1
    assert grade_lookups(create_session_lookups(session)) == grade(session)


@pytest.mark.spec("G-4-1", "G-8-27")
def test_twice_the_session_takes_twice_the_steps():
    steps = [sum(_calls_of(grade, _session_of(calls)).values()) for calls in (1000, 2000)]

    assert steps[1] / steps[0] <= 2.15


def test_a_hostile_reuse_of_one_id_stays_linear():
    def run(calls):
        events = [HEADER]
        for number in range(calls):
            data = b'{"toolCallId":"c","toolName":"view","input":{"n":%d}}' % number
            events.append(
                Event("tool.execution_start", Provenance("agent", "agent", "a", number), data)
            )
        return sum(_calls_of(grade, redact(Session(tuple(events))).session).values())

    assert run(2000) / run(1000) <= 2.15


@pytest.mark.spec("G-2-7", "G-2-8", "G-2-9")
def test_the_import_contracts_hold():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout[-2000:]
