"""Identities that hold for any session."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.graders import grade
from aw_graders.lookups import Observer, merge
from aw_graders.lookups.build import conclude
from aw_graders.session.wire import to_wire
from tests.strategies.sessions import event_lists
from tests.support import redacted


def _values(events):
    return {result.id: (result.status, result.value) for result in grade(redacted(events))}


@given(event_lists())
def test_rate_and_count_agree(events):
    values = _values(events)
    (rate_status, rate), (_, failures) = values["tool-success-rate"], values["tool-failure-count"]

    assert "error" not in {status for status, _ in values.values()}
    if rate_status != "unavailable":
        assert 0 <= rate <= 1
        assert failures >= 0
        assert (rate == 1) == (failures == 0)


@pytest.mark.spec("G-2-19", "G-2-20", "G-8-23")
@given(event_lists())
def test_other_phases_change_nothing(events):
    main = [event for event in events if event["provenance"]["phase"] == "agent"]

    assert _values(events) == _values(main)


@given(event_lists(), st.randoms(use_true_random=False))
def test_the_interleaving_of_sources_changes_nothing(events, random):
    # The first event of each source stays, since it settles the order of sources.
    queues = {}
    for event in events:
        provenance = event["provenance"]
        queues.setdefault((provenance["path"], provenance["phase"]), []).append(event)
    mixed = [queue.pop(0) for queue in queues.values()]
    while any(queues.values()):
        mixed.append(random.choice([queue for queue in queues.values() if queue]).pop(0))

    assert _values(mixed) == _values(events)


def _observed(wires):
    observer = Observer()
    observer.feed(wires)
    return observer.observations


@given(event_lists(disorder=True), st.integers(0, 25), st.integers(0, 25))
def test_a_session_read_in_parts_gives_the_same_lookups(events, first, second):
    wires = [to_wire(event) for event in redacted(events).events]
    cuts = sorted((first, second))
    parts = [wires[: cuts[0]], wires[cuts[0] : cuts[1]], wires[cuts[1] :]]

    assert conclude(merge(map(_observed, parts))) == conclude(_observed(wires))


@given(event_lists(disorder=True))
def test_calls_joined_while_reading_equal_calls_paired_afterwards(events):
    wires = [to_wire(event) for event in redacted(events).events]
    apart = _observed(wires)
    for source in apart.sources:
        source.joined = False

    assert conclude(apart) == conclude(_observed(wires))


@pytest.mark.spec("G-2-25")
@given(event_lists())
def test_a_session_of_other_phases_has_no_number(events):
    others = [event for event in events if event["provenance"]["phase"] != "agent"]

    assert {value for _, value in _values(others).values()} == {None}
