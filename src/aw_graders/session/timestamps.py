"""Reading times without a clock and without a time zone of this machine."""

import re
from typing import Final

from aw_graders.session.limits import MAX_TIME_MS

_STAMP: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,18}))?"
    r"(?:([Zz])|([+-])(\d{2}):?(\d{2}))?",
    re.ASCII,
)
_NS_PER_SECOND: Final = 1_000_000_000
_NS_PER_MS: Final = 1_000_000
_SECONDS_PER_DAY: Final = 86_400
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY: Final = 2
_LAST_HOUR: Final = 23
_LAST_MINUTE: Final = 59
# RFC 3339 allows a leap second.
_LAST_SECOND: Final = 60


def stamp_ns(value: object) -> int | None:
    """Read an event time of a unified session as nanoseconds since 1970, or None when untimed.

    Takes: a number of milliseconds, or ISO 8601 text with seconds and an explicit zone.
    Returns: None for anything else, also for text without a zone; never raises.
    Source: unified session format 1.8.0, ordering.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if abs(value) > MAX_TIME_MS or value != value:  # noqa: PLR0124 - NaN is the only such value
            return None
        return int(value * _NS_PER_MS) if isinstance(value, float) else value * _NS_PER_MS
    return iso_ns(value, zone_required=True) if isinstance(value, str) else None


def iso_ns(text: str, *, zone_required: bool) -> int | None:
    """Read ISO 8601 text as nanoseconds since 1970.

    With `zone_required` false, text without a zone is read as UTC; the caller has to say so.
    """
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.group(1, 2, 3, 4, 5, 6))
    if not _is_date(year, month, day) or hour > _LAST_HOUR or minute > _LAST_MINUTE:
        return None
    if second > _LAST_SECOND or (zone_required and not match[8] and not match[9]):
        return None
    seconds = _days(year, month, day) * _SECONDS_PER_DAY + hour * 3600 + minute * 60 + second
    if match[9]:
        zone_hours, zone_minutes = int(match[10]), int(match[11])
        if zone_hours > _LAST_HOUR or zone_minutes > _LAST_MINUTE:
            return None
        offset = zone_hours * 3600 + zone_minutes * 60
        seconds += offset if match[9] == "-" else -offset
    fraction = (match[7] or "")[:9].ljust(9, "0")
    return seconds * _NS_PER_SECOND + int(fraction)


def ns_to_ms(nanoseconds: int) -> int | float:
    """Spell nanoseconds as milliseconds: an integer when it is one, else the nearest double."""
    whole, rest = divmod(nanoseconds, _NS_PER_MS)
    return whole if rest == 0 else nanoseconds / _NS_PER_MS


def format_utc(nanoseconds: int) -> str:
    """Spell nanoseconds since 1970 as `YYYY-MM-DDTHH:MM:SS.mmmZ`."""
    days, rest = divmod(nanoseconds // _NS_PER_MS, _SECONDS_PER_DAY * 1000)
    year, month, day = _civil(days)
    seconds, millis = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _is_date(year: int, month: int, day: int) -> bool:
    if not 1 <= month <= len(_MONTH_DAYS):
        return False
    length = _MONTH_DAYS[month - 1] + (month == _FEBRUARY and _is_leap(year))
    return 1 <= day <= length


def _days(year: int, month: int, day: int) -> int:
    """Count days from 1970-01-01 in the proleptic Gregorian calendar."""
    # March-based years put the leap day last, so months have closed-form lengths.
    shifted = year - (month <= _FEBRUARY)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    of_era_days = of_era * 365 + of_era // 4 - of_era // 100 + of_year
    return era * 146_097 + of_era_days - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    """Turn days from 1970-01-01 back into year, month, day."""
    era, of_era_days = divmod(days + 719_468, 146_097)
    of_era = (
        of_era_days - of_era_days // 1460 + of_era_days // 36_524 - of_era_days // 146_096
    ) // 365
    of_year = of_era_days - (365 * of_era + of_era // 4 - of_era // 100)
    shifted_month = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9  # noqa: PLR2004
    return era * 400 + of_era + (month <= _FEBRUARY), month, day
