"""One run, written in every format, is graded alike, as far as each format can say what happened."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.collectors.registry import COLLECTORS, detect
from aw_graders.flows.evidence import UNIFIED, is_unified
from aw_graders.graders import DEFAULT_IDS, grade_lookups
from tests.renderings import (
    ARTIFACTS,
    DURATION,
    EFFICIENCY,
    FAILURES,
    FIND,
    GH_AW_ID,
    GROWTH,
    INTERRUPTED,
    LOOPS,
    PLAIN,
    REBUILD,
    RENDERINGS,
    RETRIES,
    SHELL,
    STEPS,
    SUCCESS,
    UNIFIED_ID,
    Call,
    Request,
    Run,
    observed,
)
from tests.support import ROOT

NAMES = {rendering.id: rendering for rendering in RENDERINGS}
FILES = [rendering for rendering in RENDERINGS if rendering.id != GH_AW_ID]
RUNS = {"plain": PLAIN, "interrupted": INTERRUPTED}

calls = st.builds(
    Call,
    st.sampled_from([SHELL, FIND]),
    st.sampled_from("ab"),
    st.sampled_from([True, False, None]),
)
readings = st.integers(1, 5000).flatmap(lambda read: st.tuples(st.just(read), st.integers(0, read)))


@st.composite
def runs(draw):
    asked = draw(st.lists(st.lists(calls, min_size=1, max_size=3), max_size=3))
    requests = [
        Request(*draw(readings), draw(st.integers(1, 500)), tuple(made)) for made in [*asked, []]
    ]
    return Run(tuple(requests), draw(st.integers(0, 2)), draw(st.integers(0, 2)))


def arithmetic(run):
    """What the graders' definitions give, straight from the logical session."""
    made = run.calls
    read = [request.read for request in run.requests]
    total = [request.read + request.written for request in run.requests]
    succeeded = sum(call.succeeded is True for call in made)
    same = [(one.tool, one.text) == (two.tool, two.text) for one, two in pairwise(made)]
    values = {
        SUCCESS: succeeded / len(made) if made else "no-tool-calls",
        FAILURES: len(made) - succeeded,
        RETRIES: run.retries,
        LOOPS: sum(same),
        EFFICIENCY: len({call.tool for call in made}) / len(made) if made else "no-tool-calls",
        STEPS: len(run.requests),
        DURATION: 1000 * run.seconds,
        REBUILD: sum(read) / max(read),
        GROWTH: sum(total) / total[0],
        ARTIFACTS: run.outputs,
    }
    assert set(values) == set(DEFAULT_IDS)
    return values


def graded(rendering, run):
    """The value of each grader, or the reason why there is none."""
    results = grade_lookups(observed(rendering, run).lookups)
    assert [result.id for result in results] == [*DEFAULT_IDS]
    return {
        result.id: result.reason if result.status == "unavailable" else result.value
        for result in results
    }


def told(rendering, run):
    """What the table says that a rendering's grades are, given those of the unified session."""
    expected = graded(NAMES[UNIFIED_ID], run)
    for id_, other in rendering.others.items():
        value = other.value(run)
        expected[id_] = expected[id_] if value is None else value
    missing = {id_: lack.reason for id_, lack in rendering.lacks.items() if lack.holds(run)}
    return {**expected, **missing}


def test_every_collector_has_a_rendering_and_every_rendering_a_collector():
    kinds = {rendering.kind for rendering in RENDERINGS}

    assert kinds == {UNIFIED_ID, GH_AW_ID, *(collector.id for collector in COLLECTORS)}
    assert len(NAMES) == len(RENDERINGS)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("rendering", FILES, ids=lambda rendering: rendering.id)
def test_a_rendering_is_of_its_own_kind_and_of_no_other(rendering, run):
    content = rendering.render(run)
    takers = {collector.id for collector in COLLECTORS if collector.detect(content)}

    if rendering.id == UNIFIED_ID:
        assert (is_unified(content), takers) == (True, set())
    else:
        assert takers == {rendering.kind, *rendering.also}
        assert not is_unified(content)
        assert detect(content).id == rendering.kind


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.id)
def test_a_rendering_is_read_without_a_note_that_the_table_does_not_name(rendering, run):
    read = observed(rendering, run)

    assert tuple(note.code for note in read.notes) == rendering.notes
    assert (read.problems, read.warnings) == ((), ())
    assert read.is_unified == (rendering.id == UNIFIED_ID)
    assert read.kind in {UNIFIED, GH_AW_ID, *(collector.title for collector in COLLECTORS)}
    assert read.lookups.statistics.duration.source == rendering.duration


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_unified_session_is_graded_as_arithmetic_has_it(run):
    assert graded(NAMES[UNIFIED_ID], run) == arithmetic(run)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.id)
def test_a_rendering_is_graded_like_the_unified_session(rendering, run):
    assert graded(rendering, run) == told(rendering, run)


@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.id)
def test_tokens_are_the_same_wherever_requests_are_known(rendering):
    whole = observed(NAMES[UNIFIED_ID], PLAIN).lookups.statistics
    found = observed(rendering, PLAIN).lookups.statistics

    assert whole.as_read.cumulative_input == 2600
    if STEPS not in rendering.lacks:
        for name in ("cumulative_input", "peak_input", "total", "first", "counted"):
            assert getattr(found.as_read, name) == getattr(whole.as_read, name), name


@given(runs())
def test_any_run_is_graded_alike_in_every_format(run):
    assert graded(NAMES[UNIFIED_ID], run) == arithmetic(run)
    for rendering in RENDERINGS:
        assert (rendering.id, graded(rendering, run)) == (rendering.id, told(rendering, run))


def turned(value):
    """The value with the keys of every object in reverse."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


def rows_of(content):
    """The documents of a rendering: one, or one in each line."""
    try:
        return [json.loads(content)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in content.splitlines()]


def written(rows, **options):
    return "\n".join(json.dumps(row, **options) for row in rows).encode()


SPELLINGS = {
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "line ends of two characters": lambda content: content.replace(b"\n", b"\r\n"),
    "no last line end": lambda content: content.rstrip(b"\n"),
    "sorted keys": lambda content: written(rows_of(content), sort_keys=True),
    "reversed keys": lambda content: written(turned(rows_of(content))),
}
RESPELT = [
    (rendering.id, spelling)
    for rendering in FILES
    for spelling in SPELLINGS
    # An archive is no text, and plain text has no keys.
    if rendering.id != "inspect-archive"
    and not (rendering.id == "codex-transcript" and spelling.endswith("keys"))
]


@pytest.mark.parametrize(("name", "spelling"), RESPELT)
def test_how_a_rendering_is_spelt_changes_nothing(name, spelling):
    rendering = NAMES[name]
    content = SPELLINGS[spelling](rendering.render(INTERRUPTED))
    respelt = replace(rendering, render=lambda _: content)

    assert graded(respelt, INTERRUPTED) == graded(rendering, INTERRUPTED)
    assert observed(respelt, INTERRUPTED).kind == observed(rendering, INTERRUPTED).kind


def test_the_coverage_table_is_fresh():
    command = [sys.executable, str(ROOT / "tools" / "make_coverage.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr
