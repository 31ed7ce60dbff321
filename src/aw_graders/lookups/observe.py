"""One pass over the events of a session, keeping the rows that statistics need.

The loop runs once per event and is the part of grading that grows with the session, so it does no
more than find the source and, for the few types that matter, call their handler.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, cast

from aw_graders.lookups.handlers import Handler, OpenSource, join
from aw_graders.lookups.rows import NativeRow, Observations, SourceRows
from aw_graders.lookups.shapes import Shapes
from aw_graders.lookups.spans import span_of
from aw_graders.session.wire import WireEvent, WireProvenance

_index_of: Final = attrgetter("index")
_first_of: Final = itemgetter(0)


def _unchanged(text: str) -> str:
    """Leave the text of an event alone that was masked before it came here."""
    return text


class Observer:
    """Collects rows, batch by batch. Batches may be any slices of the session, in order."""

    def __init__(
        self, *, mask: Callable[[str], str] = _unchanged, keep_times: bool = False
    ) -> None:
        """Start with nothing observed.

        Takes: `mask`, applied to the one text that is searched for a word here, when events come as
            they were recorded; `keep_times`, to keep the time of every event and not only the ends.
        """
        self.observations = Observations()
        self._by_path: dict[str, OpenSource] = {}
        self._shapes = Shapes()
        self._mask = mask
        self._keep_times = keep_times

    def feed(self, batch: Sequence[WireEvent]) -> None:
        """Take the next events of the session.

        Cost: O(events) with a small constant. Raises nothing for any decoded event.
        """
        by_path = self._by_path
        stamps: list[Any] = []
        # Neighbours mostly have one source, whose parts are cheaper to compare than to look up.
        source: OpenSource | None = None
        path = phase = component = None
        handlers: dict[str, Handler | None] = {}
        is_main = False
        for event in batch:
            provenance = event.provenance
            if (
                source is None
                or provenance.path != path
                or provenance.phase != phase
                or provenance.component != component
            ):
                path, phase, component = provenance.path, provenance.phase, provenance.component
                source = by_path.get(path)
                if source is None or source.phase != phase or source.component != component:
                    source = self._open(provenance)
                handlers, is_main = source.handlers, source.is_main
            handler = handlers[event.type]
            if handler is not None:
                handler(source, event)
            if is_main:
                stamp = event.timestamp
                if stamp is not None:
                    stamps.append(stamp)
                elif not (
                    event.ts is None
                    and event.time is None
                    and event.created_at is None
                    and event.message is None
                ):
                    stamps.append(_other_stamp(event))
        self.observations.events += len(batch)
        if stamps:
            span = span_of(stamps, keep_times=self._keep_times)
            if span is not None:
                self.observations.spans.append(span)

    def _open(self, provenance: WireProvenance) -> OpenSource:
        """Find or start the source of an event; sources that share a path are told apart."""
        path = provenance.path
        head = self._by_path.get(path)
        source = head
        while source is not None:
            if source.phase == provenance.phase and source.component == provenance.component:
                return source
            source = source.next
        rows = SourceRows(provenance.component, provenance.phase, path)
        self.observations.sources.append(rows)
        source = OpenSource(rows, self.observations, self._shapes, self._mask, head)
        self._by_path[path] = source
        return source


def _other_stamp(event: WireEvent) -> Any:
    """Read the time of an event that has no `timestamp`."""
    for value in (event.ts, event.time, event.created_at):
        if value is not None:
            return value
    message = event.message
    if isinstance(message, dict):
        return cast("dict[str, Any]", message).get("timestamp")
    return None


def merge(parts: Iterable[Observations]) -> Observations:
    """Join observations of consecutive parts of one session into those of the whole.

    Returns: the first part, changed; the same as one observer would have made of all events, but
        for the number of time spans.
    Cost: O(rows).
    """
    remaining = iter(parts)
    whole = next(remaining)
    joiners = {_key(rows): _Joiner(rows) for rows in whole.sources}
    for part in remaining:
        for rows in part.sources:
            joiner = joiners.get(_key(rows))
            if joiner is None:
                joiners[_key(rows)] = _Joiner(rows)
                whole.sources.append(rows)
            else:
                joiner.add(rows)
        _join_totals(whole, part)
    return whole


def _key(rows: SourceRows) -> tuple[str, str, str]:
    return rows.component, rows.phase, rows.path


class _Joiner:
    """Puts the rows of one source's later parts behind those of its first."""

    __slots__ = ("_ids", "_rows")

    def __init__(self, rows: SourceRows) -> None:
        self._rows = rows
        self._ids: dict[str, NativeRow] | None = None

    def add(self, part: SourceRows) -> None:
        rows = self._rows
        rows.joined = rows.joined and part.joined
        if part.native:
            self._add_native(part)
        rows.saw_gateway = rows.saw_gateway or part.saw_gateway
        rows.gateway += part.gateway
        rows.proxy += part.proxy
        rows.reports += part.reports
        rows.results += part.results
        rows.execution_ms += part.execution_ms
        rows.retries += part.retries
        rows.safe_results += part.safe_results

    def _add_native(self, part: SourceRows) -> None:
        rows = self._rows
        if not rows.joined:
            rows.native += part.native
        else:
            if self._ids is None:
                self._ids = {row.call_id: row for row in rows.native if row.call_id is not None}
            for row in part.native:
                join(rows, self._ids, row)
        rows.native_top = max(rows.native_top, part.native_top)


def _join_totals(whole: Observations, part: Observations) -> None:
    whole.spans += part.spans
    whole.listed += part.listed
    whole.experiments += part.experiments
    whole.evals += part.evals
    whole.workflow.update(part.workflow)
    if part.collection_ns is not None:
        known = whole.collection_ns
        whole.collection_ns = (
            part.collection_ns if known is None else max(part.collection_ns, known)
        )
    whole.safe_requests += part.safe_requests
    whole.safe_errors += part.safe_errors
    whole.executions += part.executions
    whole.headers += part.headers
    whole.warnings += part.warnings
    whole.events += part.events


def in_source_order(observations: Observations) -> list[SourceRows]:
    """Put the rows of every source back into the order of `provenance.index`.

    Sources keep the order of their first event. Ties keep session order. Native rows of a source
    that is not joined are put in order when they are paired.
    Cost: O(rows) when they are in order already, as in nearly every session.
    Source: unified session format 1.8.0; decisions 19 and 41.
    """
    for rows in observations.sources:
        for listed in (rows.gateway, rows.proxy, rows.reports, rows.results):
            cast("list[Any]", listed).sort(key=_index_of)
        rows.execution_ms.sort(key=_first_of)
        rows.retries.sort()
        rows.safe_results.sort()
    return observations.sources
