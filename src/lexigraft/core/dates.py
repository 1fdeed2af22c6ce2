"""Dates as ISO 8601 writes them, as periods of time: 2024, 2024-03, 2024-03-01, 2024-03-01T12:30:00+01:00.

A date is as long as it is precise: 2024-03 is all of March. So `published <= 2024-03` includes its last day, and
`published = 2024-03-01` whatever happened on that day. What names no zone is UTC. Times are counted in microseconds
from the beginning of 1970, which 64 bits hold exactly.
"""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

_ZONE = r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?"
_TIME = rf"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{{1,6}})\d*)?)?{_ZONE})?"
_DATE = re.compile(rf"(?P<year>\d{{4}})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d){_TIME})?)?", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_DAY, _MINUTE, _SECOND = 86_400_000_000, 60_000_000, 1_000_000
_FIRST, _LAST = (date.min.toordinal() - _EPOCH) * _DAY, (date.max.toordinal() - _EPOCH) * _DAY


class Period(NamedTuple):
    """From `start` to before `end`."""

    start: int
    end: int


def read_period(text: str) -> Period | None:
    """The period that a date names; None where `text` is no date."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(match[name] or 1) for name in ("year", "month", "day"))
    try:
        start = (date(year, month, day).toordinal() - _EPOCH) * _DAY
    except ValueError:  # the 30th of February
        return None
    if match["month"] is None:
        return Period(start, start + (366 if calendar.isleap(year) else 365) * _DAY)
    if match["day"] is None:
        return Period(start, start + calendar.monthrange(year, month)[1] * _DAY)
    if match["hour"] is None:
        return Period(start, start + _DAY)
    return _within_a_day(start, match)


def _within_a_day(start: int, match: re.Match[str]) -> Period | None:
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    part = int((match["part"] or "").ljust(6, "0"))
    start += (hour * 60 + minute) * _MINUTE + second * _SECOND + part - _offset(match["zone"])
    if not _FIRST <= start < _LAST:  # a zone may lead out of the years that there are
        return None
    if match["second"] is None:
        return Period(start, start + _MINUTE)
    return Period(start, start + (_SECOND if match["part"] is None else 1))


def _offset(zone: str | None) -> int:
    """How far a zone is ahead of UTC."""
    if zone in (None, "Z"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = (int(digits[:2]) * 60 + int(digits[2:])) * _MINUTE
    return -ahead if zone[0] == "-" else ahead


def is_moment(microseconds: int) -> bool:
    """Whether it lies in the years that there are, so that `written` can write it."""
    return _FIRST <= microseconds < _LAST


def written(microseconds: int) -> str:
    """A moment as a date that reads as the same one again: the day alone where that begins then."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat()
