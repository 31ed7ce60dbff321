"""Packed events are the same events; only where their text stands differs."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders._json import compact
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Event, Session, read_session
from aw_graders.session.order import write_order
from aw_graders.session.packed import Packed, joined, replaced, selected
from tests.strategies.sessions import event_lists


def sessions():
    return event_lists(disorder=True).map(lambda events: read_session(compact(events)).session)


def _packed(events):
    packed = Packed()
    for event in events:
        packed.append(event)
    return packed


@given(sessions())
def test_packed_events_are_those_that_were_added(session):
    packed = _packed(session.events)
    assert list(packed) == list(session.events)
    assert packed == session.events
    assert packed[1:4] == session.events[1:4]
    assert packed[-1] == session.events[-1]
    with pytest.raises(IndexError):
        packed[len(packed)]


@given(sessions())
def test_packed_events_are_ordered_as_objects_are(session):
    assert list(write_order(_packed(session.events))) == list(write_order(session.events))


@given(sessions(), st.randoms(use_true_random=False))
def test_views_of_views_are_the_events_they_say(session, random):
    events = session.events
    cut = random.randint(0, len(events))
    whole = joined(_packed(events[:cut]), list(events[cut:]), joined(_packed(events)))
    assert list(whole) == [*events, *events]
    positions = [random.randrange(len(whole)) for _ in range(5)]
    chosen = selected(whole, positions)
    assert list(chosen) == [whole[position] for position in positions]
    other = Event("a.other", events[0].provenance)
    assert list(replaced(chosen, {1: other})) == [chosen[0], other, *chosen[2:]]
    assert chosen != list(chosen)[:-1]


@given(sessions())
def test_a_packed_session_is_graded_as_any_other(session):
    packed = Session(_packed(session.events))
    mine, its = redact(packed), redact(session)
    assert mine.masked == its.masked
    assert list(mine.session.events) == list(its.session.events)
    found, wanted = create_session_lookups(mine.session), create_session_lookups(its.session)
    assert found.statistics == wanted.statistics
    assert found.events_by_type == wanted.events_by_type


def test_a_large_piece_of_text_is_closed_and_read_again():
    place = Session.of(()).events[0].provenance
    events = [Event("a.b", place, json.dumps({"t": "x" * 1_500_000}).encode()) for _ in range(7)]
    assert list(_packed(events)) == events


# A resource usage would count the largest size of the parent, too, until the child's program began.
_PEAK = """
import pathlib, sys
from aw_graders.cli import main
sys.argv = ["aw", *sys.argv[1:]]
status = main.run()
status_lines = pathlib.Path("/proc/self/status").read_text().splitlines()
peak = next(line for line in status_lines if line.startswith("VmHWM:"))
print(peak.split()[1], file=sys.stderr)
sys.exit(status)
"""


def _peak_bytes(root, manifest):
    command = [sys.executable, "-c", _PEAK, "conclude", "--root", root, "--manifest", manifest]
    ended = subprocess.run(command, capture_output=True, check=True)
    return int(ended.stderr.split()[-1]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_concluding_a_run_takes_little_more_memory_than_its_evidence(tmp_path):
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"version":2,"graders":[]}')
    root = tmp_path / "run"
    (root / "agent").mkdir(parents=True)
    evidence = root / "agent" / "agent-session.jsonl"
    row = {"type": "assistant.message", "data": {"content": "word " * 260}}
    stamp = "2026-01-01T00:00:00Z"
    peaks = []
    for rows in (10, 40_000):
        line = json.dumps({**row, "timestamp": stamp}) + "\n"
        evidence.write_text(line * rows)
        peaks.append(_peak_bytes(root, manifest))
    grown = peaks[1] - peaks[0]
    # As objects the events alone took twice their text.
    assert grown < 1.7 * evidence.stat().st_size
