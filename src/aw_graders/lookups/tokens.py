"""Model requests and token totals: which evidence counts, and how cached tokens are read.

Source: unified session format, section 1.10; decisions 4, 8, 33, 34 and 38.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from aw_graders.lookups.model import Reading, Request, Tokens
from aw_graders.lookups.places import Place
from aw_graders.lookups.rows import ResultRow, SourceRows, UsageRow

_ROUTER: Final = "routing_classification"
_Placed: TypeAlias = tuple[str, UsageRow]


class Requests(msgspec.Struct, frozen=True):
    """The main agent's model requests in source order, and how many were the router's.

    Cached tokens stand beside the input for the models in `beside`, unless a record says otherwise.
    """

    placed: list[_Placed]
    source: Literal["proxy", "report"] | None
    router: int
    beside: frozenset[str | None]


def model_requests(sources: Sequence[SourceRows]) -> Requests:
    """Choose the per-request evidence: proxy records, else reports that carry a request id.

    Cost: O(records).
    """
    proxy, proxy_router = _without_router(_proxy_records(sources))
    if proxy:
        return Requests(proxy, "proxy", proxy_router, _models_beside(proxy))
    reports, report_router = _without_router(_request_reports(sources))
    router = proxy_router or report_router
    source: Literal["report"] | None = "report" if reports else None
    return Requests(reports, source, router, _models_beside(reports))


def _without_router(placed: Iterable[_Placed]) -> tuple[list[_Placed], int]:
    """Leave out what the router asked before the agent began and about it."""
    every = list(placed)
    kept = [item for item in every if item[1].purpose != _ROUTER]
    return kept, len(every) - len(kept)


def _proxy_records(sources: Sequence[SourceRows]) -> Iterable[_Placed]:
    """List proxy records; a request id seen in an earlier path is a copy, within a path it is not."""
    with_records = [source for source in sources if source.proxy]
    if len({source.path for source in with_records}) < 2:  # noqa: PLR2004 - one path has no copies
        for source in with_records:
            path = source.path
            yield from [(path, row) for row in source.proxy]
        return
    path_of: dict[str, str] = {}
    for source in with_records:
        for row in source.proxy:
            if (
                row.request_id is None
                or path_of.setdefault(row.request_id, source.path) == source.path
            ):
                yield source.path, row


def _request_reports(sources: Sequence[SourceRows]) -> Iterable[_Placed]:
    """List one report per request id, where it first stands, with its last observation."""
    latest: dict[str, _Placed] = {}
    for source in sources:
        for row in source.reports:
            if row.request_id is not None:
                first = latest.get(row.request_id)
                place = (source.path, row.index) if first is None else (first[0], first[1].index)
                latest[row.request_id] = (place[0], msgspec.structs.replace(row, index=place[1]))
    return latest.values()


def _models_beside(placed: Sequence[_Placed]) -> frozenset[str | None]:
    """Find the models whose cached tokens cannot be inside the input, by evidence alone."""
    return frozenset(row.model for _, row in placed if _cannot_be_inside(row))


def _is_beside(row: UsageRow, beside: frozenset[str | None]) -> bool:
    if row.includes_cache is None:
        return row.model in beside
    return not row.includes_cache


def spell_requests(requests: Requests) -> tuple[Request, ...]:
    """Spell the requests as graders see them.

    Cost: O(requests).
    """
    return tuple(
        Request(
            place=Place(path, row.index),
            model=row.model,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            total_tokens=row.total_tokens,
            cache_tokens=_cached(row),
            cache_is_beside=_is_beside(row, requests.beside),
            cache_is_declared=row.includes_cache is not None,
            duration_ms=row.duration_ms,
        )
        for path, row in requests.placed
    )


def readings(requests: Requests) -> tuple[Reading, Reading]:
    """Add up all requests: with the cached tokens beside their input, and as recorded.

    Cost: O(requests).
    """
    rows = [row for _, row in requests.placed]
    recorded = _reading(requests, [row.input_tokens for row in rows])
    added = [
        (_cached(row) or 0) if row.cache_read or row.cache_creation else 0
        for row in rows
        if _is_beside(row, requests.beside)
    ]
    cached_requests = sum(count > 0 for count in added)
    if not cached_requests:
        return recorded, recorded
    inputs = [
        row.input_tokens
        if row.input_tokens is None or not _is_beside(row, requests.beside)
        else row.input_tokens + (_cached(row) or 0)
        for row in rows
    ]
    reading = _reading(requests, inputs)
    return (
        msgspec.structs.replace(reading, cached=sum(added), cached_requests=cached_requests),
        recorded,
    )


def _reading(requests: Requests, inputs: Sequence[int | None]) -> Reading:
    """Add up requests whose inputs have been read as `inputs`."""
    placed = requests.placed
    present = [count for count in inputs if count is not None]
    peak = max(present, default=0)
    peak_at = inputs.index(peak) if present else None
    totals = [_total(count, row) for count, (_, row) in zip(inputs, placed, strict=True)]
    counted = [total for total in totals if total is not None]
    first_at = next((at for at, total in enumerate(totals) if total is not None), None)
    return Reading(
        reads=len(present),
        cumulative_input=sum(present),
        peak_input=peak,
        peak_place=None if peak_at is None else _place(placed[peak_at]),
        counted=len(counted),
        total=sum(counted),
        first=counted[0] if counted else 0,
        first_place=None if first_at is None else _place(placed[first_at]),
    )


def _place(item: _Placed) -> Place:
    return Place(item[0], item[1].index)


def _total(read: int | None, row: UsageRow) -> int | None:
    """Count one request: what the model read and wrote, or its total when that is all there is."""
    if read is None and row.output_tokens is None:
        return row.total_tokens
    return (read or 0) + (row.output_tokens or 0)


def _cached(row: UsageRow) -> int | None:
    if row.cache_read is None and row.cache_creation is None:
        return None
    return (row.cache_read or 0) + (row.cache_creation or 0)


def _cannot_be_inside(row: UsageRow) -> bool:
    """Tell whether the cached tokens outnumber the input that would have to contain them."""
    if row.cache_read is None and row.cache_creation is None:
        return False
    if row.includes_cache is True or row.input_tokens is None:
        return False
    return (_cached(row) or 0) > row.input_tokens


def usage_total(row: UsageRow) -> int | None:
    """Add up one usage record: its own total, else input and output, and cache declared beside."""
    if row.total_tokens is not None:
        return row.total_tokens
    if row.input_tokens is None and row.output_tokens is None:
        return None
    total = (row.input_tokens or 0) + (row.output_tokens or 0)
    return total + (_cached(row) or 0) if row.includes_cache is False else total


def token_totals(sources: Sequence[SourceRows], chosen: Requests, as_read: Reading) -> Tokens:
    """Total the session's tokens from requests, else reports, else session results.

    Snapshots are never summed: per field the latest valid value counts, per root session.
    """
    if chosen.source is not None:
        return Tokens(
            source=chosen.source,
            input_tokens=_sum(row.input_tokens for _, row in chosen.placed),
            output_tokens=_sum(row.output_tokens for _, row in chosen.placed),
            total_tokens=as_read.total if as_read.counted else None,
        )
    aggregates = [row for source in sources for row in source.reports if row.request_id is None]
    latest = _latest(aggregates)
    if latest is not None:
        return _totals_of("report", [latest])
    by_session: dict[str | None, list[UsageRow]] = {}
    for result in _root_results(sources):
        if result.usage is not None:
            by_session.setdefault(result.session_id, []).append(result.usage)
    snapshots = [row for row in map(_latest, by_session.values()) if row is not None]
    return _totals_of("session", snapshots) if snapshots else Tokens()


def _root_results(sources: Sequence[SourceRows]) -> Iterable[ResultRow]:
    return (row for source in sources for row in source.results if not row.nested)


def _totals_of(source: Literal["report", "session"], rows: Sequence[UsageRow]) -> Tokens:
    return Tokens(
        source=source,
        input_tokens=_sum(row.input_tokens for row in rows),
        output_tokens=_sum(row.output_tokens for row in rows),
        total_tokens=_sum(usage_total(row) for row in rows),
    )


def _latest(rows: Sequence[UsageRow]) -> UsageRow | None:
    """Merge snapshots: per field the latest valid value; what a later one omits stays."""
    merged: UsageRow | None = None
    for row in rows:
        if not row.has_usage:
            continue
        if merged is None:
            merged = row
            continue
        changes = {
            field: getattr(row, field)
            for field in _SNAPSHOT_FIELDS
            if getattr(row, field) is not None
        }
        merged = msgspec.structs.replace(merged, **changes)
    return merged


_SNAPSHOT_FIELDS: Final = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_read",
    "cache_creation",
    "includes_cache",
)


def _sum(values: Iterable[int | None]) -> int | None:
    present = [value for value in values if value is not None]
    return sum(present) if present else None
