"""Model requests and tokens, from whichever record of a run counts single requests.

In order: the list of requests in the run's metrics or state; the responses that actions carry; the
advances of the cumulative counts, when each is shown to be one request; else the ids of the
responses, of which no tokens are known. Cached tokens are inside the prompt unless they outnumber
it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    list_of,
    mapping_of,
    metric,
    text_of,
    whole_number,
)
from aw_graders.session import events

_FIELDS: Final = (
    ("prompt_tokens", "inputTokens"),
    ("completion_tokens", "outputTokens"),
    ("cache_read_tokens", "cacheReadInputTokens"),
    ("cache_write_tokens", "cacheCreationInputTokens"),
    ("reasoning_tokens", "reasoningOutputTokens"),
)
_PROMPT: Final = "inputTokens"
_ANSWER: Final = "outputTokens"
_CACHED: Final = "cacheReadInputTokens"
_MAIN: Final = frozenset({"agent", "default"})
_STATE_KEYS: Final = frozenset({"stats", "full_state"})


class Request(msgspec.Struct, frozen=True):
    """One model request: its response's id when known, and its counts, None when unknown."""

    response_id: str | None
    model: str | None = None
    counts: dict[str, int] | None = None
    usage_id: str | None = None


class Totals(msgspec.Struct, frozen=True):
    """What a run counts of itself as a whole."""

    counts: dict[str, int] = {}
    cost: int | float | None = None


class Evidence(msgspec.Struct, frozen=True):
    """The requests of a run by list, each in its order, and the totals.

    `at_rows` are requests known by the row that counts them, by its number.
    """

    lists: Sequence[Sequence[Request]] = ()
    at_rows: Mapping[int, Sequence[Request]] = {}
    totals: Totals = Totals()


def gather(
    rows: Sequence[Mapping[str, Any]],
    metrics: Iterable[Mapping[str, Any]],
    notes: Notes,
    line: int,
) -> Evidence:
    """Choose the evidence of requests.

    Takes: the events in order, and the metrics by usage of the run's result or state.
    Cost: linear.
    """
    named = [(usage_id, fields) for item in metrics for usage_id, fields in _by_usage(item)]
    advances, single, counted = _advances(rows)
    totals = _totals(rows, named, counted)
    lists = [_listed(usage_id, fields, notes, line) for usage_id, fields in named]
    if not any(lists):
        lists = [_from_rows(rows, notes, line)]
    if any(lists):
        return Evidence(lists=[found for found in lists if found], totals=totals)
    carried = _carried(rows, notes, line)
    if carried:
        return Evidence(lists=[carried], totals=totals)
    if advances and single:
        return Evidence(at_rows=advances, totals=totals)
    if advances:
        message = "the counts of several requests were added up, so that no request's are known"
        notes.add("requests-aggregated", message, line, lossy=False)
    return Evidence(lists=[_ids_only(rows)], totals=totals)


def _by_usage(metrics: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """List the metrics of a run, which are kept apart by what the model was used for, or not."""
    apart = mapping_of(metrics.get("usage_to_metrics"))
    if apart is None:
        yield None, metrics
        return
    for usage_id, fields in apart.items():
        found = mapping_of(fields)
        if found is not None:
            yield usage_id, found


def _counts(fields: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key, name in _FIELDS:
        count = whole_number(fields.get(key)).value
        if count is not None:
            counts[name] = count
    return counts


def _noted_counts(fields: Mapping[str, Any], notes: Notes, line: int) -> dict[str, int]:
    for key, _ in _FIELDS:
        notes.whole(fields.get(key), line)
    return _counts(fields)


def _listed(
    usage_id: str | None, metrics: Mapping[str, Any], notes: Notes, line: int
) -> list[Request]:
    """Read a list of requests; one that is listed again under its response's id counts once."""
    found: dict[str, Request] = {}
    for number, item in enumerate(list_of(metrics.get("token_usages"))):
        fields = mapping_of(item)
        if fields is None:
            message = "the usage of a request is no object and was skipped"
            notes.count("usage-not-an-object", message, line, lossy=True)
            continue
        response_id = text_of(fields.get("response_id"))
        key = f"#{number}" if response_id is None else f"id {response_id}"
        if key in found:
            message = "a request is listed again and counts once, as listed last"
            notes.count("request-again", message, line, lossy=False)
        counts = _noted_counts(fields, notes, line)
        model = text_of(fields.get("model"))
        found[key] = Request(response_id, model, counts, usage_id)
    return list(found.values())


def _from_rows(rows: Sequence[Mapping[str, Any]], notes: Notes, line: int) -> list[Request]:
    """Read the longest list that an event carries, since each repeats the ones before it."""
    longest: Mapping[str, Any] = {}
    for row in rows:
        metrics = mapping_of(row.get("llm_metrics")) or {}
        if len(list_of(metrics.get("token_usages"))) > len(list_of(longest.get("token_usages"))):
            longest = metrics
    return _listed(None, longest, notes, line)


def _carried(rows: Sequence[Mapping[str, Any]], notes: Notes, line: int) -> list[Request]:
    """Read the responses that actions carry; the calls of one response carry the same one."""
    found: dict[str, Request] = {}
    for row in rows:
        response = response_of(row)
        response_id = None if response is None else text_of(response.get("id"))
        if response is None or response_id is None or response_id in found:
            continue
        usage = mapping_of(response.get("usage"))
        counts = None if usage is None else _noted_counts(_flat(usage), notes, line)
        found[response_id] = Request(response_id, text_of(response.get("model")), counts)
    return list(found.values())


def response_of(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the model's response that an action carries."""
    metadata = mapping_of(row.get("tool_call_metadata")) or {}
    return mapping_of(metadata.get("model_response"))


def _flat(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Name the counts of a chat completion as the metrics do."""
    prompt = mapping_of(usage.get("prompt_tokens_details")) or {}
    answer = mapping_of(usage.get("completion_tokens_details")) or {}
    cached = usage.get("cache_read_input_tokens")
    return {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cache_read_tokens": prompt.get("cached_tokens") if cached is None else cached,
        "cache_write_tokens": usage.get("cache_creation_input_tokens"),
        "reasoning_tokens": answer.get("reasoning_tokens"),
    }


def _ids_only(rows: Sequence[Mapping[str, Any]]) -> list[Request]:
    ids = [text_of(row.get("llm_response_id")) for row in rows]
    return [Request(found) for found in dict.fromkeys(ids) if found is not None]


def _advances(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[dict[int, list[Request]], bool, dict[str, int]]:
    """Follow the cumulative counts: each advance, whether each is one request, and the sum.

    A count that falls began anew. An advance is one request when prompt and answer are what the
    last turn is said to have had.
    """
    before: dict[str, dict[str, int]] = {}
    found: dict[int, list[Request]] = {}
    added: dict[str, int] = {}
    single = True
    for number, row in enumerate(rows):
        for usage_id, metrics in _snapshots(row):
            fields = mapping_of(metrics.get("accumulated_token_usage")) or {}
            counts = _counts(fields)
            last = before.get(usage_id, {})
            if any(counts.get(name, 0) < last.get(name, 0) for name in (_PROMPT, _ANSWER)):
                last = {}
            step = {name: count - last.get(name, 0) for name, count in counts.items()}
            before[usage_id] = counts
            if not step.get(_PROMPT, 0) and not step.get(_ANSWER, 0):
                continue
            step = {name: max(count, 0) for name, count in step.items()}
            turn = whole_number(fields.get("per_turn_token")).value
            single = single and turn == step.get(_PROMPT, 0) + step.get(_ANSWER, 0)
            model = text_of(fields.get("model")) or text_of(metrics.get("model_name"))
            found.setdefault(number, []).append(Request(None, model, step, usage_id))
            for name, count in step.items():
                added[name] = added.get(name, 0) + count
    return found, single, added


def _snapshots(row: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """List the cumulative counts that a state event holds."""
    if row.get("kind") != "ConversationStateUpdateEvent":
        return
    key, value = text_of(row.get("key")), mapping_of(row.get("value")) or {}
    if key not in _STATE_KEYS:
        return
    stats = (mapping_of(value.get("stats")) or {}) if key == "full_state" else value
    for usage_id, metrics in (mapping_of(stats.get("usage_to_metrics")) or {}).items():
        fields = mapping_of(metrics)
        if fields is not None:
            yield usage_id, fields


def _totals(
    rows: Sequence[Mapping[str, Any]],
    named: Sequence[tuple[str | None, Mapping[str, Any]]],
    counted: dict[str, int],
) -> Totals:
    """Read the totals: the result's or the state's, else those of the last event that has any."""
    sources = [fields for _, fields in named]
    if not any(mapping_of(fields.get("accumulated_token_usage")) for fields in sources):
        carried = [mapping_of(row.get("llm_metrics")) for row in rows]
        last = next((fields for fields in reversed(carried) if fields), None)
        sources.extend([] if last is None else [last])
    total: dict[str, int] = {}
    for fields in sources:
        for name, count in _counts(mapping_of(fields.get("accumulated_token_usage")) or {}).items():
            total[name] = total.get(name, 0) + count
    costs = [cost for fields in sources if (cost := metric(fields.get("accumulated_cost")))]
    counts = total if any(total.values()) else counted
    return Totals(counts if any(counts.values()) else {}, sum(costs) if costs else None)


class Reporting:
    """Writes the requests of a run beside the events that they belong to."""

    def __init__(self, evidence: Evidence, writer: EventWriter) -> None:
        """Begin with no request reported."""
        self.evidence = evidence
        self.writer = writer
        self.places = [0] * len(evidence.lists)
        self.place_of = {
            request.response_id: (which, at)
            for which, requests in enumerate(evidence.lists)
            for at, request in enumerate(requests)
            if request.response_id is not None
        }
        self.made: set[str] = set()
        self.beside = frozenset(filter_beside(evidence))

    def row(self, number: int, response_id: str | None, rest: Mapping[str, JsonValue]) -> None:
        """Report what is known by a row, and the requests up to the one that it answers."""
        for request in self.evidence.at_rows.get(number, ()):
            self._report(request, rest)
        place = None if response_id is None else self.place_of.get(response_id)
        if place is not None:
            which, at = place
            while self.places[which] <= at:
                self._next(which, rest)

    def finish(self) -> None:
        """Report the requests that no event belongs to, and the totals."""
        for which, requests in enumerate(self.evidence.lists):
            while self.places[which] < len(requests):
                self._next(which, {})
        totals = self.evidence.totals
        data: dict[str, JsonValue] = {}
        if totals.cost is not None:
            data["totalCostUsd"] = totals.cost
        if totals.counts:
            data["usage"] = {**totals.counts, "inputTokensIncludeCache": not self.beside}
        if data:
            self.writer.add(events.SESSION_RESULT, data)

    def _next(self, which: int, rest: Mapping[str, JsonValue]) -> None:
        request = self.evidence.lists[which][self.places[which]]
        self.places[which] += 1
        self._report(request, rest)

    def _report(self, request: Request, rest: Mapping[str, JsonValue]) -> None:
        request_id = request.response_id
        if request_id is None or request_id in self.made:
            request_id = f"{self.writer.path}#{len(self.made) + 1}"
        self.made.add(request_id)
        data: dict[str, JsonValue] = {"requestId": request_id}
        if request.model is not None:
            data["model"] = request.model
        if request.usage_id is None or request.usage_id in _MAIN:
            data["purpose"] = "agent"
        counts = request.counts or {}
        inside = request.model not in self.beside
        usage: dict[str, JsonValue] = {**counts, "inputTokensIncludeCache": inside}
        data["usage"] = usage if any(counts.values()) else None
        self.writer.add(events.USAGE_REPORT, data, rest)


def filter_beside(evidence: Evidence) -> Iterator[str | None]:
    """List the models whose cached tokens cannot be inside the prompt."""
    for requests in (*evidence.lists, *evidence.at_rows.values()):
        for request in requests:
            counts = request.counts or {}
            prompt, cached = counts.get(_PROMPT), counts.get(_CACHED)
            if prompt is not None and cached is not None and cached > prompt:
                yield request.model
