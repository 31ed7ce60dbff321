"""The first and the last time of a batch of events, without reading every stamp."""

from collections.abc import Sequence
from typing import Any, Final, cast

from aw_graders.lookups.rows import TimeSpan
from aw_graders.session.limits import EARLIEST_TIME_MS, LATEST_AFTER_COLLECTION_MS
from aw_graders.session.timestamps import ns_to_ms, stamp_ns

_NS_PER_MS: Final = 1_000_000
_EARLIEST_NS: Final = EARLIEST_TIME_MS * _NS_PER_MS
_DAY_NS: Final = LATEST_AFTER_COLLECTION_MS * _NS_PER_MS
_UTC: Final = "Z"
# A span of a single time lists it twice.
_ENDS_OF_ONE: Final = 2


def span_of(stamps: Sequence[Any], *, keep_times: bool = False) -> TimeSpan | None:
    """Find the smallest and the largest readable time among `stamps`; None entries are untimed.

    Text of one length that ends in Z sorts like the times it spells, so that only the two ends
    have to be read; anything else is read one by one, with the same answer.
    """
    present = [stamp for stamp in stamps if stamp is not None]
    if not present:
        return None
    ends = None if keep_times else _sorted_ends(present)
    if ends is not None:
        return TimeSpan(ends[0], ends[1], len(present) > 1)
    times = sorted(
        time for time in map(stamp_ns, present) if time is not None and time >= _EARLIEST_NS
    )
    if not times:
        return None
    return TimeSpan(times[0], times[-1], len(times) > 1, times if keep_times else None)


def _sorted_ends(present: list[Any]) -> tuple[int, int] | None:
    """Read only the ends of stamps that sort as text, or answer None when they may not."""
    try:
        joined = "".join(present)
    except TypeError:
        return None
    texts = cast("list[str]", present)
    length = len(texts[0])
    # A comma may stand where others have a point, and sorts before it.
    if (
        joined.count("T") != len(texts)
        or "," in joined
        or any(len(text) != length or text[-1] != _UTC for text in texts)
    ):
        return None
    first, last = stamp_ns(min(texts)), stamp_ns(max(texts))
    if first is None or last is None or first < _EARLIEST_NS:
        return None
    return first, last


def needs_times(spans: Sequence[TimeSpan], collection_ns: int | None) -> bool:
    """Tell whether the ends of the spans do not settle which times come too late to count.

    That is so when one span begins before and ends after the latest time there may be.
    """
    if collection_ns is None:
        return False
    latest = collection_ns + _DAY_NS
    return any(span.first_ns <= latest < span.last_ns and span.times is None for span in spans)


def total_span_ms(spans: Sequence[TimeSpan], collection_ns: int | None) -> int | float | None:
    """Join the spans of all batches: milliseconds from the first to the last time, if two exist.

    Times more than a day after the newest collection stamp are left out.
    Source: decisions 35 and 41.
    """
    latest = None if collection_ns is None else collection_ns + _DAY_NS
    ends: list[int] = []
    several = False
    for span in spans:
        if latest is None or span.last_ns <= latest:
            ends += (span.first_ns, span.last_ns)
            several = several or span.several
        elif span.first_ns <= latest:
            kept = [time for time in span.times or (span.first_ns,) if time <= latest]
            ends += (kept[0], kept[-1])
            several = several or len(kept) > 1
    if not ends or not (several or len(ends) > _ENDS_OF_ONE):
        return None
    return ns_to_ms(max(ends) - min(ends))
