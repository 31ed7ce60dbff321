"""Tokens of a trajectory: which steps are single requests, and where cached tokens stand.

The format counts cached tokens inside the prompt since version 1.2; before, it left that open.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders.collectors.atif.family import Member, Trajectory, is_copied
from aw_graders.collectors.normalise import Notes, mapping_of, text_of, whole_number

_VERSION: Final = re.compile(r"ATIF-v([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_CACHE_INSIDE_SINCE: Final = (1, 2)
_AGENT: Final = "agent"
# A count's name in a session; the first of its names in the trajectory that is there is read.
_STEP_COUNTS: Final = (
    ("inputTokens", ("prompt_tokens",)),
    ("outputTokens", ("completion_tokens",)),
    ("cacheReadInputTokens", ("cached_tokens",)),
)
_STEP_EXTRAS: Final = (
    (
        "cacheCreationInputTokens",
        ("cache_creation_input_tokens", "cache_write_input_tokens", "cache_write_tokens"),
    ),
    ("reasoningOutputTokens", ("reasoning_tokens", "reasoning_output_tokens")),
)
_TOTAL_COUNTS: Final = (
    ("inputTokens", ("total_prompt_tokens",)),
    ("outputTokens", ("total_completion_tokens",)),
    ("cacheReadInputTokens", ("total_cached_tokens",)),
)
_TOTAL_EXTRAS: Final = (
    (
        "cacheCreationInputTokens",
        ("total_cache_creation_input_tokens", "total_cache_write_input_tokens"),
    ),
    ("reasoningOutputTokens", ("total_reasoning_tokens", "reasoning_output_tokens")),
)
_COMPARED: Final = (("inputTokens", "input"), ("outputTokens", "output"))


class Accounting(msgspec.Struct, frozen=True):
    """What a recording says about its requests as a whole.

    `single` is False when some step adds up several requests. `beside` holds the models whose
    cached tokens outnumber the prompt that would have to contain them.
    """

    single: bool
    beside: frozenset[str | None]


def model_of(trajectory: Trajectory, step: Mapping[str, Any]) -> str | None:
    """Name the model of a step: its own, else the trajectory's."""
    agent = mapping_of(trajectory.value.get("agent")) or {}
    return text_of(step.get("model_name")) or text_of(agent.get("model_name"))


def requests_in(step: Mapping[str, Any]) -> int:
    """Count the requests that a step stands for.

    A step that does not say is one request when it counts any tokens, else none that is known.
    """
    if step.get("source") != _AGENT or is_copied(step):
        return 0
    said = whole_number(step.get("llm_call_count")).value
    if said is not None:
        return said
    metrics = mapping_of(step.get("metrics")) or {}
    return int(any(_silent_counts(metrics, _STEP_COUNTS).values()))


def survey(members: Sequence[Member]) -> Accounting:
    """Look at every step of a session's trajectories.

    Cost: linear in the steps.
    """
    single = True
    beside: set[str | None] = set()
    for member in members:
        for step in member.trajectory.steps():
            single = single and requests_in(step) <= 1
            counts = _silent_counts(mapping_of(step.get("metrics")) or {}, _STEP_COUNTS)
            cached, prompt = counts.get("cacheReadInputTokens"), counts.get("inputTokens")
            if cached is not None and prompt is not None and cached > prompt:
                beside.add(model_of(member.trajectory, step))
    return Accounting(single, frozenset(beside))


def step_usage(
    member: Member, step: Mapping[str, Any], accounting: Accounting
) -> dict[str, int | bool] | None:
    """Read the counts of a step, None when it has none but zeros."""
    metrics = mapping_of(step.get("metrics")) or {}
    trajectory = member.trajectory
    counts = _counts(metrics, _STEP_COUNTS, _STEP_EXTRAS, trajectory)
    if not any(counts.values()):
        return None
    is_beside = model_of(trajectory, step) in accounting.beside
    return _declared(counts, trajectory, is_beside=is_beside)


def total_usage(
    trajectory: Trajectory, final: Mapping[str, Any], accounting: Accounting
) -> dict[str, int | bool] | None:
    """Read the totals of a trajectory, None when it has none but zeros."""
    counts = _counts(final, _TOTAL_COUNTS, _TOTAL_EXTRAS, trajectory)
    if not any(counts.values()):
        return None
    return _declared(counts, trajectory, is_beside=bool(accounting.beside))


def added_usage(
    members: Sequence[Member], root: Trajectory, accounting: Accounting
) -> dict[str, int | bool] | None:
    """Add up the counts of all steps, for a recording that has no totals."""
    total = _added(members)
    if not any(total.values()):
        return None
    return _declared(total, root, is_beside=bool(accounting.beside))


def note_difference(
    members: Sequence[Member], root: Trajectory, usage: Mapping[str, int | bool]
) -> None:
    """Note totals that are the sum neither of the root's steps nor of all steps."""
    own = _added([member for member in members if member.agent_id is None])
    every = _added(members)
    for name, word in _COMPARED:
        total = usage.get(name)
        if total is None or name not in every or total in {own.get(name, 0), every[name]}:
            continue
        message = f"the totals count {total} {word} tokens, the steps {every[name]}"
        root.notes.add("totals-differ", message, root.line, lossy=False)


def _added(members: Sequence[Member]) -> dict[str, int]:
    total: dict[str, int] = {}
    for member in members:
        for step in member.trajectory.steps():
            if requests_in(step):
                metrics = mapping_of(step.get("metrics")) or {}
                for name, count in _silent_counts(metrics, _STEP_COUNTS).items():
                    total[name] = total.get(name, 0) + count
    return total


def _declared(
    counts: Mapping[str, int], trajectory: Trajectory, *, is_beside: bool
) -> dict[str, int | bool]:
    """Say where the cached tokens stand, when the format or the counts do."""
    if is_beside:
        return {**counts, "inputTokensIncludeCache": False}
    found = _VERSION.match(trajectory.text("schema_version") or "")
    if found is not None and (int(found[1]), int(found[2])) < _CACHE_INSIDE_SINCE:
        return dict(counts)
    return {**counts, "inputTokensIncludeCache": True}


def _silent_counts(
    values: Mapping[str, Any], names: Sequence[tuple[str, Sequence[str]]]
) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, keys in names:
        for key in keys:
            count = whole_number(values.get(key)).value
            if count is not None:
                counts[name] = count
                break
    return counts


def _counts(
    values: Mapping[str, Any],
    names: Sequence[tuple[str, Sequence[str]]],
    extras: Sequence[tuple[str, Sequence[str]]],
    trajectory: Trajectory,
) -> dict[str, int]:
    extra = mapping_of(values.get("extra")) or {}
    for source, wanted in ((values, names), (extra, extras)):
        _note_conventions(source, wanted, trajectory.notes, trajectory.line)
    return {**_silent_counts(values, names), **_silent_counts(extra, extras)}


def _note_conventions(
    values: Mapping[str, Any],
    names: Sequence[tuple[str, Sequence[str]]],
    notes: Notes,
    line: int,
) -> None:
    for _, keys in names:
        for key in keys:
            notes.whole(values.get(key), line)
