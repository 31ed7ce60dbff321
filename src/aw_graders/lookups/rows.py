"""The few facts of a session that statistics need, as flat rows.

Rows are what crosses from one process to another when a large session is read by several, and what
is put back into source order before anything is concluded from them.
"""

from typing import Any, Final

import msgspec

START: Final = 0
COMPLETION: Final = 1
ANNOUNCED: Final = 2
SPAWNED: Final = 3

CALL_RECORD: Final = 0
RPC_REQUEST: Final = 1
RPC_RESPONSE: Final = 2


class NativeRow(msgspec.Struct, gc=False, array_like=True):
    """A start, a completion, an announced session id or a spawned sub-agent, as the agent saw it.

    `arguments` is JSON text with sorted keys, None when the call recorded none. `success` is None
    when the completion says nothing. `duration_ms` is None when it is no finite number from 0.
    """

    kind: int
    index: int
    call_id: str | None = None
    name: str | None = None
    arguments: bytes | None = None
    success: bool | None = None
    session_id: str | None = None
    agent_id: str | None = None
    parent_id: str | None = None
    server: str | None = None
    duration_ms: int | float | None = None
    step: int | None = None


class GatewayRow(msgspec.Struct, gc=False, array_like=True):
    """A call record, an RPC request or an RPC response, as the gateway saw it."""

    kind: int
    index: int
    name: str | None
    server: str | None
    call_id: str | None
    rpc_id: str | None
    failed: bool
    duration_ms: int | float | None


class UsageRow(msgspec.Struct, gc=False, array_like=True):
    """One model request, from the proxy or from a report. Counts are None when not valid."""

    index: int
    model: str | None
    request_id: str | None
    purpose: str | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cache_read: int | None
    cache_creation: int | None
    includes_cache: bool | None
    duration_ms: int | float | None
    has_usage: bool


class ResultRow(msgspec.Struct, gc=False, array_like=True):
    """A `session.result`: its duration and its aggregate usage, both possibly absent."""

    index: int
    session_id: str | None
    nested: bool
    duration_ms: int | float | None
    usage: UsageRow | None


class SourceRows(msgspec.Struct, gc=False, array_like=True):
    """Everything kept of one source, in the order it was met."""

    component: str
    phase: str
    path: str
    first_index: int
    last_index: int = -1
    events: int = 0
    in_order: bool = True
    native: list[NativeRow] = msgspec.field(default_factory=list[NativeRow])
    gateway: list[GatewayRow] = msgspec.field(default_factory=list[GatewayRow])
    proxy: list[UsageRow] = msgspec.field(default_factory=list[UsageRow])
    reports: list[UsageRow] = msgspec.field(default_factory=list[UsageRow])
    results: list[ResultRow] = msgspec.field(default_factory=list[ResultRow])
    execution_ms: list[tuple[int, int | float]] = msgspec.field(
        default_factory=list[tuple[int, "int | float"]]
    )
    retries: list[int] = msgspec.field(default_factory=list[int])
    safe_results: list[int] = msgspec.field(default_factory=list[int])
    saw_gateway: bool = False


class TimeSpan(msgspec.Struct, gc=False, array_like=True):
    """The smallest and largest readable times of a batch of main-agent events, in nanoseconds."""

    first_ns: int
    last_ns: int
    timed: int
    # Every time of a batch that spans over a day, since one of them may yet prove to be untimed.
    times: list[int] | None = None


class Observations(msgspec.Struct, gc=False, array_like=True):
    """All rows of a session, or of a part of one."""

    sources: list[SourceRows] = msgspec.field(default_factory=list[SourceRows])
    spans: list[TimeSpan] = msgspec.field(default_factory=list[TimeSpan])
    collection_ns: int | None = None
    listed: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])
    experiments: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    evals: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    workflow: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    safe_requests: int = 0
    safe_errors: int = 0
    executions: int = 0
    events: int = 0
    duplicate_keys: int = 0
    lone_surrogates: int = 0
