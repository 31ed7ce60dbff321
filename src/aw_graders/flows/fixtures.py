"""Fixtures: small sessions with the exact answer that a grader has to give, each tried twice.

Source: Operational Value Designer, section on fixtures; decisions 16, 57 and 61.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue, freeze, thaw
from aw_graders.config.custom import INLINE
from aw_graders.config.executable import Executable
from aw_graders.diagnostics import quoted
from aw_graders.flows.custom import CustomRun, run_custom
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.redaction.named import known_in
from aw_graders.runtimes.bash import read_metrics
from aw_graders.runtimes.outcome import Failure
from aw_graders.session import SessionFormatError, read_session

_FIELDS: Final = ("config", "expected", "name", "session")
# What every set has to show, each told by the first word of a fixture's name.
REQUIRED_KINDS: Final = ("attained", "missed", "unavailable", "malformed")
_WITHOUT_VALUE: Final = frozenset({"unavailable", "malformed"})

Direction: TypeAlias = Literal["higher_is_better", "lower_is_better"]


class FixtureError(Exception):
    """A file of fixtures that is none; the message is one line."""


class Fixture(msgspec.Struct, frozen=True):
    """One fixture. `expected` is a number or None for a script, the metrics for an evaluator."""

    name: str
    session: bytes
    config: Mapping[str, JsonValue]
    expected: JsonValue

    @property
    def kind(self) -> str:
        """The letters with which the name begins."""
        return "".join(itertools.takewhile(str.isalpha, self.name)).lower()

    @property
    def value(self) -> int | float | None:
        """The value that is expected of the grader."""
        expected = self.expected
        if isinstance(expected, list | tuple):
            first = cast("Mapping[str, JsonValue]", expected[0])
            return cast("int | float | None", first["value"])
        return cast("int | float | None", expected)


class Verified(msgspec.Struct, frozen=True):
    """What trying one fixture twice gave; `problem` is None when both answers were right."""

    fixture: Fixture
    expected: JsonValue
    answers: tuple[JsonValue, ...]
    problem: str | None


def read_fixtures(content: bytes, *, is_script: bool) -> tuple[Fixture, ...]:
    """Read a file of fixtures.

    Takes: the JSON text of an array of `{name, session, config, expected}`, and whether the grader
        is a script, whose answer is a number or null, or an evaluator, whose answer is metrics.
    Raises: FixtureError for the first thing that is not as it has to be. A session whose envelope
        is invalid is no malformed case, which is malformed evidence inside valid events.
    """
    try:
        rows = _json.decode(content)
    except _json.JsonError as failure:
        msg = f"is no JSON: {failure.reason} (column {failure.column})"
        raise FixtureError(msg) from failure
    if not isinstance(rows, list) or not rows:
        msg = "is no array of fixtures, each with name, session, config and expected"
        raise FixtureError(msg)
    fixtures = [_read(number, row, is_script=is_script) for number, row in enumerate(rows)]
    names = [fixture.name for fixture in fixtures]
    for name in names:
        if names.count(name) > 1:
            msg = f"fixture {quoted(name)} stands twice"
            raise FixtureError(msg)
    if not is_script:
        _check_ids(fixtures)
    return tuple(fixtures)


def _read(number: int, row: JsonValue, *, is_script: bool) -> Fixture:
    place = f"fixture {number + 1}"
    if not isinstance(row, dict) or tuple(sorted(row)) != _FIELDS:
        msg = f"{place} is no object of exactly name, session, config and expected"
        raise FixtureError(msg)
    config, expected, name, session = (row[key] for key in _FIELDS)
    if not isinstance(name, str) or not name.strip():
        msg = f"{place} has no name"
        raise FixtureError(msg)
    place = f"fixture {quoted(name)}"
    if not isinstance(config, dict):
        msg = f'{place}: "config" is an object'
        raise FixtureError(msg)
    if not isinstance(session, list):
        msg = f'{place}: "session" is an array of events'
        raise FixtureError(msg)
    encoded = _json.compact(thaw(session))
    try:
        read_session(encoded)
    except SessionFormatError as failure:
        msg = f"{place}: {failure.problem.text('session')}; put malformed evidence inside valid events"
        raise FixtureError(msg) from failure
    problem = _expected_problem(expected, is_script=is_script)
    if problem is not None:
        msg = f'{place}: "expected" {problem}'
        raise FixtureError(msg)
    frozen = cast("Mapping[str, JsonValue]", freeze(config))
    return Fixture(name, encoded, frozen, freeze(expected))


def _expected_problem(expected: JsonValue, *, is_script: bool) -> str | None:
    if not is_script:
        answer = read_metrics(_json.compact(thaw(expected)))
        return f"is no array of metrics: {answer.error}" if isinstance(answer, Failure) else None
    is_number = isinstance(expected, int | float) and not isinstance(expected, bool)
    return None if expected is None or is_number else "of a script is a number or null"


def _check_ids(fixtures: Sequence[Fixture]) -> None:
    first = _ids(fixtures[0])
    for fixture in fixtures[1:]:
        if _ids(fixture) != first:
            msg = (
                f"fixture {quoted(fixture.name)} has the metrics {', '.join(_ids(fixture))}, and "
                f"{quoted(fixtures[0].name)} has {', '.join(first)}; ids and order stay the same"
            )
            raise FixtureError(msg)


def _ids(fixture: Fixture) -> list[str]:
    metrics = cast("Sequence[Mapping[str, JsonValue]]", fixture.expected)
    return [str(metric["id"]) for metric in metrics]


def gaps(fixtures: Sequence[Fixture], direction: Direction) -> tuple[str, ...]:
    """Say what a set of fixtures does not show.

    Takes: fixtures as read; which values are better.
    Returns: a sentence for each kind that is missing, each fixture without evidence that expects a
        value, and an attained case that is not better than every missed one.
    """
    kinds = {fixture.kind for fixture in fixtures}
    found = [
        f'no fixture has a name that begins with "{kind}"'
        for kind in REQUIRED_KINDS
        if kind not in kinds
    ]
    found += [
        f"fixture {quoted(fixture.name)} expects {fixture.value}, and a case of that kind has none"
        for fixture in fixtures
        if fixture.kind in _WITHOUT_VALUE and fixture.value is not None
    ]
    attained, missed = (_valued(fixtures, kind) for kind in ("attained", "missed"))
    found += [
        f"fixture {quoted(fixture.name)} expects null, and a case of that kind has a value"
        for fixture in fixtures
        if fixture.kind in {"attained", "missed"} and fixture.value is None
    ]
    sign = 1 if direction == "higher_is_better" else -1
    found += [
        f"fixture {quoted(good)} ({value}) is not better than {quoted(bad)} ({other}): {direction}"
        for good, value in attained
        for bad, other in missed
        if sign * value <= sign * other
    ]
    return tuple(found)


def _valued(fixtures: Sequence[Fixture], kind: str) -> list[tuple[str, int | float]]:
    return [
        (fixture.name, fixture.value)
        for fixture in fixtures
        if fixture.kind == kind and fixture.value is not None
    ]


def verify(grader: Executable, fixture: Fixture) -> Verified:
    """Run a grader twice over one fixture, in the runtime that a workflow has, and compare exactly.

    Raises: OSError when the session cannot be staged.
    """
    settings = msgspec.structs.replace(grader.settings, enabled=True, config=fixture.config)
    one = msgspec.structs.replace(grader, settings=settings)
    answers = tuple(_answer(run) for run in (_run(one, fixture), _run(one, fixture)))
    expected = thaw(fixture.expected)
    problem = None
    if answers[0] != answers[1]:
        problem = "two runs gave different answers"
    elif not _same(answers[0], expected):
        problem = "the answer is another"
    return Verified(fixture, expected, answers, problem)


def _run(grader: Executable, fixture: Fixture) -> CustomRun:
    session = read_session(fixture.session).session
    redaction = redact(session, known_in(session))
    lookups = create_session_lookups(redaction.session)
    (run,) = run_custom([grader], redaction, lookups)
    return run


def _answer(run: CustomRun) -> JsonValue:
    """Return what is compared: an error as its text, which no expectation can be equal to."""
    result = run.result
    if result.error is not None:
        return {"error": result.error}
    if run.grader.source == INLINE:
        return result.value
    return [thaw(metric) for metric in result.metrics or ()]


def _same(answer: JsonValue, expected: JsonValue) -> bool:
    """Compare as JSON values: 1 and 1.0 are one number."""
    return _json.canonical(answer) == _json.canonical(expected)


def difference(verified: Verified, spell: Callable[[str], str]) -> Mapping[str, Any]:
    """Spell what differs as data, every text through `spell`."""
    return {
        "name": spell(verified.fixture.name),
        "problem": verified.problem,
        "expected": verified.expected,
        "answers": list(verified.answers),
    }
