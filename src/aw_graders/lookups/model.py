"""What graders may ask about a session. Everything here is read-only."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.lookups.lazily import Lazily
from aw_graders.lookups.places import Evidence, Place
from aw_graders.lookups.trajectory import Trajectory
from aw_graders.session.model import Event

UsageSource = Literal["proxy", "report", "session"]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One tool call of the main agent.

    `source` is `agent` for what the agent recorded and `gateway` for a call that only the gateway
    saw. `success` is None when the call did not complete or its completion says nothing.
    `arguments_json` is JSON text with sorted keys, None when no arguments were recorded.
    `start_index` and `complete_index` are places in the source `path`; `duration_ms` is in
    milliseconds. `scope` is (component, phase, path, session id, owner kind, owner id).
    """

    source: Literal["agent", "gateway"]
    name: str
    path: str
    completed: bool
    success: bool | None = None
    arguments_json: bytes | None = None
    tool_call_id: str | None = None
    mcp_server_name: str | None = None
    duration_ms: int | float | None = None
    session_id: str | None = None
    agent_id: str | None = None
    start_index: int | None = None
    complete_index: int | None = None
    scope: tuple[str | None, ...] = ()

    @property
    def tool(self) -> str:
        """The tool's name, under its second public name."""
        return self.name

    @property
    def arguments(self) -> JsonValue:
        """The recorded arguments, decoded now and deeply read-only; None when there are none."""
        if self.arguments_json is None:
            return None
        return _json.freeze(_json.decode(self.arguments_json))

    @property
    def failed(self) -> bool:
        """True unless the call completed and its outcome is known to be a success."""
        return self.success is not True

    @property
    def status(self) -> str | None:
        """`success`, `error`, or None for a call that never completed."""
        if not self.completed:
            return None
        return "success" if self.success else "error"

    @property
    def place(self) -> Place:
        """Where the call first appears."""
        index = self.start_index if self.start_index is not None else self.complete_index
        return Place(self.path, index or 0)


class Request(msgspec.Struct, frozen=True, gc=False):
    """One model request of the main agent. Counts are tokens, None when not recorded or invalid."""

    place: Place
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cache_tokens: int | None
    cache_is_beside: bool
    cache_is_declared: bool
    duration_ms: int | float | None

    @property
    def read_tokens(self) -> int | None:
        """What the model read: input, with the cached tokens that were counted beside it."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_tokens or 0 if self.cache_is_beside else 0)


class Reading(msgspec.Struct, frozen=True, gc=False):
    """All model requests added up, in tokens, under one reading of cached tokens.

    `reads` requests have an input count, `cumulative_input` in all and `peak_input` in the one at
    `peak_place`. `counted` requests have any count, `total` in all and `first` in the one at
    `first_place`. `cached` tokens of `cached_requests` requests were added to the input.
    """

    reads: int = 0
    cumulative_input: int = 0
    peak_input: int = 0
    peak_place: Place | None = None
    counted: int = 0
    total: int = 0
    first: int = 0
    first_place: Place | None = None
    cached: int = 0
    cached_requests: int = 0


class Tokens(msgspec.Struct, frozen=True):
    """The session's totals from the best source; None when nothing was recorded."""

    source: UsageSource | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class Duration(msgspec.Struct, frozen=True):
    """Milliseconds, and which evidence they come from."""

    value_ms: int | float | None = None
    source: Literal["proxy", "session", "execution", "span"] | None = None
    records: int = 0


class Statistics(msgspec.Struct, frozen=True):
    """Numbers about the main agent, each None when it was not observed.

    Counts are whole numbers from 0, durations milliseconds, tokens whole numbers.
    `failures_by_tool` lists tool names with their failed calls, most first. `as_read` counts cached
    tokens that stand beside the input with it, `as_recorded` takes input counts as they stand.
    """

    tool_calls: int
    successful_tool_calls: int
    failed_tool_calls: int
    unfinished_tool_calls: int
    unknown_outcomes: int
    distinct_tool_names: int
    consecutive_repeats: int
    repeated_observations: int
    reused_ids: int
    nameless_calls: int
    retries: int | None
    requests: int | None
    router_requests: int
    duration: Duration
    tokens: Tokens
    as_read: Reading
    as_recorded: Reading
    safe_output_requests: int
    safe_output_results: int | None
    safe_output_errors: int
    failures: Evidence
    failures_by_tool: tuple[tuple[str, int], ...]
    repeats: Evidence
    observed_again: Evidence
    retry_records: Evidence
    safe_results: Evidence

    @property
    def peak_input_tokens(self) -> int | None:
        """The largest input of one request, None when no request has a valid count."""
        return self.as_read.peak_input if self.as_read.reads else None

    @property
    def cumulative_input_tokens(self) -> int | None:
        """The input of all requests, None when no request has a valid count."""
        return self.as_read.cumulative_input if self.as_read.reads else None

    @property
    def first_request_tokens(self) -> int | None:
        """The tokens of the first request that has any count, None when none has."""
        return self.as_read.first if self.as_read.counted else None


class RunContext(msgspec.Struct, frozen=True):
    """What the session says about the run it belongs to.

    `warnings` counts what its collector could not use.
    """

    run_id: str | None = None
    attempt: int | str | None = None
    experiments: Mapping[str, JsonValue] = msgspec.field(default_factory=dict[str, JsonValue])
    evals: tuple[tuple[str, str], ...] = ()
    warnings: int = 0


class SessionLookups(msgspec.Struct, frozen=True):
    """Indexes and statistics of one session, built once and shared by all graders.

    `tool_calls` stand in source order. `requests` are model requests in source order, and
    `requests_source` says whether they come from the proxy or from the agent's own reports.
    `observed` holds the (component, phase) pairs that were collected, also those without events.
    """

    statistics: Statistics
    made_calls: Lazily[tuple[ToolCall, ...]]
    made_requests: Lazily[tuple[Request, ...]]
    requests_source: Literal["proxy", "report"] | None
    observed: frozenset[tuple[str, str]]
    context: RunContext
    events: int
    events_by_type: Mapping[str, Sequence[Event]] = MappingProxyType({})
    made_trajectory: Lazily[Trajectory] = Lazily(Trajectory)

    @property
    def trajectory(self) -> Trajectory:
        """The trajectory, recorded or projected; made at the first use."""
        return self.made_trajectory()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Every tool call of the main agent, in source order; made at the first use."""
        return self.made_calls()

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every model request of the main agent, in source order; made at the first use."""
        return self.made_requests()

    def events_of_type(self, kind: str) -> Sequence[Event]:
        """Return the recorded events of exactly this type, every phase, in session order."""
        return self.events_by_type.get(kind, ())

    @property
    def stats(self) -> Statistics:
        """The statistics, under their public name."""
        return self.statistics

    @property
    def agent_observed(self) -> bool:
        """True when the agent or the gateway was observed in the main-agent phase."""
        return bool(self.observed & {("agent", "agent"), ("mcp", "agent")})

    @property
    def tool_calls_by_id(self) -> Mapping[str, ToolCall]:
        """Calls by scope and id: JSON text of scope parts, then the id; never a bare id."""
        return cast("Mapping[str, ToolCall]", _json.freeze(_by_id(self.tool_calls)))  # type: ignore[arg-type]


def _by_id(calls: tuple[ToolCall, ...]) -> dict[str, ToolCall]:
    table: dict[str, ToolCall] = {}
    for call in calls:
        if call.tool_call_id is not None:
            parts = [*call.scope, call.tool_call_id]
            table.setdefault(_json.compact(parts).decode(), call)
    return table
