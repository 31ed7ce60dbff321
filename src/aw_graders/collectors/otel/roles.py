"""What a span tells of: an agent's run, a model request, a tool call; and what stands within what.

Source: OpenTelemetry semantic conventions for generative AI, current and older ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import text_of
from aw_graders.collectors.otel.spans import Span
from aw_graders.collectors.otel.usage import has_usage

_OPERATION: Final = "gen_ai.operation.name"
_AGENT_OPERATIONS: Final = frozenset({"invoke_agent", "invoke_workflow"})
_MODEL_OPERATIONS: Final = frozenset({"chat", "generate_content", "text_completion"})
_TOOL_OPERATION: Final = "execute_tool"
_TOOL_NAME: Final = "gen_ai.tool.name"
_TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
_MODELS: Final = ("gen_ai.response.model", "gen_ai.request.model")
# A summary that one framework writes of calls that were made at once, beside a span for each.
_MERGED: Final = "(merged tools)"

Key = tuple[str, str]


class Role(Enum):
    """What a span tells of."""

    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"


def role_of(span: Span) -> Role | None:
    """Say what a span tells of, None when it tells nothing of an agent."""
    attributes = span.attributes
    operation = text_of(attributes.get(_OPERATION))
    if operation is not None:
        operation = operation.lower()
        if operation in _AGENT_OPERATIONS:
            return Role.AGENT
        if operation in _MODEL_OPERATIONS:
            return Role.MODEL
        return _tool_role(span) if operation == _TOOL_OPERATION else None
    if _TOOL_CALL_ID in attributes and _TOOL_NAME in attributes:
        return _tool_role(span)
    # Older instrumentation names no operation: what used tokens of a model was a request.
    return Role.MODEL if model_of(attributes) is not None and has_usage(attributes) else None


def _tool_role(span: Span) -> Role | None:
    return None if span.attributes.get(_TOOL_NAME) == _MERGED else Role.TOOL


def model_of(attributes: Mapping[str, JsonValue]) -> str | None:
    """Name the model that answered, else the one that was asked."""
    return next((name for key in _MODELS if (name := text_of(attributes.get(key)))), None)


def tool_name_of(span: Span) -> str | None:
    """Name the tool of a call, from the span's name when no attribute says it."""
    name = text_of(span.attributes.get(_TOOL_NAME))
    if name is not None:
        return name
    operation, _, rest = span.name.partition(" ")
    return text_of(rest) if operation == _TOOL_OPERATION else None


def tool_call_id_of(span: Span) -> str | None:
    """Give the id of a call as the model knows it."""
    return text_of(span.attributes.get(_TOOL_CALL_ID))


class Tree:
    """Which span stands within which. A circle of parents is cut where it closes."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """Learn the parents of all spans; `cut` are those whose parent closed a circle."""
        self.spans: Final = {span.key: span for span in spans}
        self.parents: Final[dict[Key, Key | None]] = {}
        for span in spans:
            parent = None if span.parent_id is None else (span.trace_id, span.parent_id)
            self.parents[span.key] = parent if parent in self.spans else None
        self.cut: Final[list[Span]] = []
        self._cut_circles()

    def _cut_circles(self) -> None:
        settled: set[Key] = set()
        for key in self.parents:
            way: list[Key] = []
            walked: set[Key] = set()
            at: Key | None = key
            while at is not None and at not in settled and at not in walked:
                way.append(at)
                walked.add(at)
                at = self.parents[at]
            if at in walked:
                self.parents[way[-1]] = None
                self.cut.append(self.spans[way[-1]])
            settled.update(way)

    def _ways(self) -> Iterator[tuple[list[Key], Key | None]]:
        """Walk up from every span, to the first one that an earlier walk passed, or past the top.

        Every span is passed once, so that all walks together are linear in the spans.
        """
        passed: set[Key] = set()
        for key in self.parents:
            way: list[Key] = []
            at: Key | None = key
            while at is not None and at not in passed:
                way.append(at)
                passed.add(at)
                at = self.parents[at]
            yield way, at

    def nearest(self, is_wanted: Callable[[Key], bool]) -> dict[Key, Key | None]:
        """Find for every span the nearest one around it that is wanted.

        Cost: linear in the spans, however deep they stand.
        """
        found: dict[Key, Key | None] = {}
        for way, above in self._ways():
            answer = above if above is None or is_wanted(above) else found[above]
            for key in reversed(way):
                found[key] = answer
                if is_wanted(key):
                    answer = key
        return found

    def roots(self) -> dict[Key, Key]:
        """Find for every span the top of its tree; what misses a parent is named after that one.

        Cost: linear in the spans.
        """
        found: dict[Key, Key] = {}
        for way, above in self._ways():
            if above is not None:
                top = found[above]
            elif way:
                trace, _ = top = way[-1]
                missing = self.spans[top].parent_id
                top = top if missing is None else (trace, missing)
            else:
                continue
            found.update(dict.fromkeys(way, top))
        return found

    def around(self, keys: Sequence[Key]) -> set[Key]:
        """Find all spans around the given ones.

        Cost: linear in the spans.
        """
        found: set[Key] = set()
        for key in keys:
            at = self.parents[key]
            while at is not None and at not in found:
                found.add(at)
                at = self.parents[at]
        return found
