"""The few facts of a session that statistics need, as flat rows.

Rows are what crosses from one process to another when a large session is read by several, and what
is put back into source order before anything is concluded from them.
"""

from typing import Any, Final

import msgspec

from aw_graders.session.model import Seal, check_seal

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

    A start whose completion was met carries it: `end_index` is the completion's place, `end_name`
    and `end_server` what it was called there, `success` and `duration_ms` what it said.
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
    end_index: int | None = None
    end_name: str | None = None
    end_server: str | None = None


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
    model: str | None = None
    request_id: str | None = None
    purpose: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None
    includes_cache: bool | None = None
    duration_ms: int | float | None = None
    has_usage: bool = False


class ResultRow(msgspec.Struct, gc=False, array_like=True):
    """A `session.result`: its duration and its aggregate usage, both possibly absent."""

    index: int
    session_id: str | None
    nested: bool
    duration_ms: int | float | None
    usage: UsageRow | None


class SourceRows(msgspec.Struct, gc=False, array_like=True):
    """Everything kept of one source, in the order it was met.

    `joined` says that every call id of `native` stands once, alone or with its completion, and that
    no session id was announced after the first call, so that nothing is left to be paired.
    `native_top` is the largest index of a native event so far.
    """

    component: str
    phase: str
    path: str
    joined: bool = True
    native_top: int = -1
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
    """The smallest and largest readable times of a batch of main-agent events, in nanoseconds.

    `several` is False when only one event had a time. `times` lists all of them when they were
    asked for, since the newest collection stamp may yet prove some of them to be untimed.
    """

    first_ns: int
    last_ns: int
    several: bool
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
    headers: int = 0
    warnings: int = 0
    events: int = 0


class RedactedObservations(msgspec.Struct, frozen=True):
    """Rows without secrets. Only the redaction engine makes them."""

    observations: Observations
    seal: Seal

    def __post_init__(self) -> None:
        """Refuse rows that were not redacted."""
        check_seal(self.seal)
