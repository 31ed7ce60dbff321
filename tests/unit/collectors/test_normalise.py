"""Times and numbers as recordings spell them."""

import pytest

from aw_graders.collectors.normalise import metric, time_of, whole_number
from aw_graders.session.timestamps import stamp_ns

INSTANT = 1_769_314_080_000


@pytest.mark.parametrize(
    ("value", "convention"),
    [
        ("2026-01-25T04:08:00Z", None),
        ("2026-01-24T20:08:00-08:00", None),
        ("2026-01-25T04:08:00.000000+00:00", None),
        ("2026-01-25T04:08:00", "time-without-zone"),
        ("1769314080000", "time-as-number-text"),
        ("1769314080", "time-as-number-text"),
        (INSTANT, None),
        (INSTANT // 1000, "time-in-seconds"),
        (1_769_314_080.0, "time-in-seconds"),
    ],
)
def test_every_spelling_of_an_instant_is_that_instant(value: object, convention: str) -> None:
    time = time_of(value)
    assert stamp_ns(time.value) == INSTANT * 1_000_000
    assert time.convention == convention


@pytest.mark.parametrize("value", ["", "soon", "1999-01-01T00:00:00Z", 12345, True, [], -1, 1e300])
def test_what_is_no_time_is_untimed(value: object) -> None:
    assert (time_of(value).value, time_of(value).convention) == (None, "unreadable-time")


def test_a_missing_time_is_no_news() -> None:
    assert (time_of(None).value, time_of(None).convention) == (None, None)


@pytest.mark.parametrize(
    ("value", "number", "convention"),
    [
        (0, 0, None),
        (20.0, 20, None),
        ("20", 20, "number-as-text"),
        (None, None, None),
        (-5, None, "invalid-number"),
        (1.5, None, "invalid-number"),
        (True, None, "invalid-number"),
        ("x", None, "invalid-number"),
        ("9" * 16, None, "invalid-number"),
        (2**53, None, "invalid-number"),
    ],
)
def test_a_count_is_a_whole_number_from_zero(
    value: object, number: int | None, convention: str | None
) -> None:
    read = whole_number(value)
    assert (read.value, read.convention) == (number, convention)


def test_a_metric_is_a_number_from_zero() -> None:
    assert [metric(value) for value in (0, 1.5, -1, True, "1")] == [0, 1.5, None, None, None]
