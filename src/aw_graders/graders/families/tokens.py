"""How often the context was read again, and how far it grew."""

from typing import Final

from aw_graders.diagnostics.words import counted
from aw_graders.graders.model import (
    LOWER,
    GraderInput,
    GraderSpec,
    Measured,
    Outcome,
    Unavailable,
)
from aw_graders.lookups import Evidence, Reading

_RECORDED: Final = "recorded"
_CONFIG_KEYS: Final = ("inputTokens",)


def _is_recorded(given: GraderInput) -> bool:
    return given.config.get("inputTokens") == _RECORDED


def _chosen(given: GraderInput) -> Reading:
    statistics = given.lookups.statistics
    return statistics.as_recorded if _is_recorded(given) else statistics.as_read


def _reading(given: GraderInput) -> str:
    """Say how cached tokens were read, and how many that concerns."""
    if _is_recorded(given):
        return "input counts taken as recorded"
    reading = _chosen(given)
    if not reading.cached_requests:
        return "input counts taken as recorded, no cached tokens beside them"
    return (
        f"{counted(reading.cached, 'cached token')} of {counted(reading.cached_requests, 'request')} counted beside the "
        "input and added"
    )


def _router(given: GraderInput) -> str:
    count = given.lookups.statistics.router_requests
    return f"; left out: {counted(count, 'request')} of the model router" if count else ""


def _working_set_rebuild_factor(given: GraderInput) -> Outcome:
    """Divide the input tokens of all requests by those of the largest one.

    Counts: what each request read; invalid counts are skipped, not read as 0.
    Unit: factor, 1 or more. Lower is better.
    Unavailable: `no-input-tokens`, when no request has a valid count, or all counts are 0.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decision 34.
    """
    reading = _chosen(given)
    if reading.peak_place is None or reading.peak_input == 0:
        return Unavailable(
            "no-input-tokens",
            "no model request has an input token count above 0; collect the proxy's "
            "token-usage.jsonl",
        )
    total, peak = reading.cumulative_input, reading.peak_input
    details = f"{counted(total, 'input token')} in {counted(reading.reads, 'request')}, {peak} in the largest; {_reading(given)}"
    return Measured(
        max(1, total / peak), details + _router(given), Evidence((reading.peak_place,), 1)
    )


def _context_growth(given: GraderInput) -> Outcome:
    """Divide the tokens of all requests by those of the first one.

    Counts: input and output of each request that has token evidence; a refused request without
        usage is not the first.
    Unit: factor, 1 or more for whole sessions. Lower is better.
    Unavailable: `no-token-usage`, when no request has a count; `first-request-empty`, when the first
        one has 0 tokens.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decisions 7, 34 and 38.
    """
    reading = _chosen(given)
    place = reading.first_place
    if place is None:
        return Unavailable(
            "no-token-usage",
            "no model request has token counts; collect the proxy's token-usage.jsonl",
        )
    if reading.first == 0:
        return Unavailable(
            "first-request-empty",
            "the first model request has 0 tokens, so growth has no base",
            Evidence((place,), 1),
        )
    details = (
        f"{counted(reading.total, 'token')} in {counted(reading.counted, 'request')}, {reading.first} in the first; "
        f"{_reading(given)}"
    )
    return Measured(reading.total / reading.first, details + _router(given), Evidence((place,), 1))


GRADERS: Final = (
    GraderSpec(
        id="working-set-rebuild-factor",
        name="Working-Set Rebuild Factor",
        summary="Cumulative input tokens / peak invocation input tokens",
        formula="max(1, sum of input tokens / largest input of one request)",
        reading="12 means that the model read twelve times as much as its largest request holds: context was sent again and again.",
        example="inputs 100, 200, 300: 600 / 300 = 2",
        evidence="model requests with input token counts",
        unit="factor",
        direction=LOWER,
        minimum=1,
        config_keys=_CONFIG_KEYS,
        compute=_working_set_rebuild_factor,
        cost="O(1), over lookups that are already built",
    ),
    GraderSpec(
        id="context-growth",
        name="Context Growth",
        summary="Total tokens / first-request tokens",
        formula="sum of input and output tokens / those of the first request",
        reading="30 means that the whole run took thirty times the tokens of its first request.",
        example="requests of 100, 200 and 300 tokens: 600 / 100 = 6",
        evidence="model requests with token counts",
        unit="factor",
        direction=LOWER,
        config_keys=_CONFIG_KEYS,
        compute=_context_growth,
        cost="O(1), over lookups that are already built",
    ),
)
