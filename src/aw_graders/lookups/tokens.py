"""Model requests and token totals: which evidence counts, and how cached tokens are read.

Source: unified session format, section 1.10; decisions 4, 8, 33, 34 and 38.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from aw_graders.lookups.model import Place, Request, Tokens
from aw_graders.lookups.rows import ResultRow, SourceRows, UsageRow

_ROUTER: Final = "routing_classification"
_Placed: TypeAlias = tuple[str, UsageRow]


class Requests(msgspec.Struct, frozen=True):
    """The main agent's model requests in source order, and how many were the router's."""

    requests: tuple[Request, ...]
    source: Literal["proxy", "report"] | None
    router: int


def model_requests(sources: Sequence[SourceRows]) -> Requests:
    """Choose the per-request evidence: proxy records, else reports that carry a request id.

    Cost: O(records).
    """
    proxy, proxy_router = _without_router(_proxy_records(sources))
    if proxy:
        return Requests(_read(proxy), "proxy", proxy_router)
    reports, report_router = _without_router(_request_reports(sources))
    router = proxy_router or report_router
    return Requests(_read(reports), "report" if reports else None, router)


def _without_router(placed: Iterable[_Placed]) -> tuple[list[_Placed], int]:
    """Leave out what the router asked before the agent began and about it."""
    every = list(placed)
    kept = [item for item in every if item[1].purpose != _ROUTER]
    return kept, len(every) - len(kept)


def _proxy_records(sources: Sequence[SourceRows]) -> Iterable[_Placed]:
    """List proxy records; a request id seen in an earlier path is a copy, within a path it is not."""
    path_of: dict[str, str] = {}
    for source in sources:
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


def _read(placed: Sequence[_Placed]) -> tuple[Request, ...]:
    """Read input counts with their cached tokens, by evidence and never by a model's name."""
    beside = {row.model for _, row in placed if _cannot_be_inside(row)}
    return tuple(
        Request(
            place=Place(path, row.index),
            model=row.model,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            total_tokens=row.total_tokens,
            cache_tokens=_cached(row),
            cache_is_beside=row.includes_cache is False
            or (row.includes_cache is None and row.model in beside),
            cache_is_declared=row.includes_cache is not None,
            duration_ms=row.duration_ms,
        )
        for path, row in placed
    )


def _cached(row: UsageRow) -> int | None:
    if row.cache_read is None and row.cache_creation is None:
        return None
    return (row.cache_read or 0) + (row.cache_creation or 0)


def _cannot_be_inside(row: UsageRow) -> bool:
    """Tell whether the cached tokens outnumber the input that would have to contain them."""
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


def request_tokens(request: Request, *, recorded: bool = False) -> int | None:
    """Count one request: what the model read and wrote, or its total when that is all there is."""
    read = request.input_tokens if recorded else request.read_tokens
    if read is None and request.output_tokens is None:
        return request.total_tokens
    return (read or 0) + (request.output_tokens or 0)


def token_totals(sources: Sequence[SourceRows], chosen: Requests) -> Tokens:
    """Total the session's tokens from requests, else reports, else session results.

    Snapshots are never summed: per field the latest valid value counts, per root session.
    """
    if chosen.source is not None:
        requests = chosen.requests
        return Tokens(
            source=chosen.source,
            input_tokens=_sum(request.input_tokens for request in requests),
            output_tokens=_sum(request.output_tokens for request in requests),
            total_tokens=_sum(request_tokens(request) for request in requests),
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
