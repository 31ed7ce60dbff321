"""YAML 1.2 or JSON text to nodes. Any text ends in nodes or in diagnostics, never in a traceback."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.reader import ReaderError

from aw_graders.config.nodes import (
    Entry,
    InvalidNode,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    Span,
    kind_of,
)
from aw_graders.config.positions import Report
from aw_graders.config.scalars import NotJsonError, plain_value, text_value
from aw_graders.diagnostics import quoted

MAX_CONFIG_DEPTH: Final = 64
_YAML_VERSION: Final = (1, 2)
_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_COLLECTION_TAGS: Final = frozenset({None, "!", f"{_TAG_PREFIX}map", f"{_TAG_PREFIX}seq"})
_TEXT_TAGS: Final = frozenset({"!", f"{_TAG_PREFIX}str"})
# What the YAML reader lets through for malformed text besides its own errors, `"\UFFFFFFFF"` say.
_READER_FAILURES: Final = (YAMLError, ValueError, OverflowError, LookupError, AttributeError)


class _StopReading(Exception):  # noqa: N818 - no error: the reason is a diagnostic already
    """Nothing after this place can be read."""


@dataclass(slots=True)
class _Open:
    """A collection whose end has not been read."""

    start: int
    end: int
    children: list[tuple[Node, bool]] = field(default_factory=list[tuple[Node, bool]])


def read(source: str, report: Report) -> Node | None:
    """Read the one document of a text.

    Takes: YAML 1.2 or JSON text; a byte order mark and CRLF are accepted.
    Returns: its root, or None when it holds no document or could not be read; what is no JSON
        data is an `InvalidNode` or left out, with a diagnostic in `report`.
    Raises: nothing.
    Cost: O(length); the depth is bounded while reading, before anything recurses.
    """
    builder = _Builder(report)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for event in _events(source):
                builder.take(event)
    except _StopReading:
        return builder.root
    except _READER_FAILURES as failure:
        span, message, hint = _failure(failure)
        report.clear()
        report.add("config-invalid-yaml", message, span, hint)
        return None
    return builder.root


def _events(source: str) -> Iterator[Event]:
    # Events only: nothing is constructed, so no tag can name a Python object.
    reader: Any = YAML(typ="safe", pure=True)
    events: Iterator[Event] = reader.parse(_without_outer_tabs(source))
    return events


def _without_outer_tabs(source: str) -> str:
    """Let JSON text have tabs around it, as JSON allows; every offset stays."""
    body = source.lstrip("\ufeff \t\r\n")
    if not body.startswith("{"):
        return source
    return source[: len(source) - len(body)].replace("\t", " ") + body.rstrip(" \t\r\n")


def _failure(failure: Exception) -> tuple[Span, str, str | None]:
    """Return the place, the message and the hint for text that is not YAML."""
    start, problem, hint = 0, "it cannot be read", None
    known: Any = failure
    if isinstance(failure, MarkedYAMLError):
        mark = known.problem_mark or known.context_mark
        start = int(mark.index) if mark is not None else 0
        problem = str(known.problem or known.context or problem)
    elif isinstance(failure, ReaderError):
        start = int(known.position)
        problem = f"the character U+{int(known.character):04X} is not allowed"
    if "'\\t'" in problem:
        hint = "use spaces instead of tabs"
    return (start, start + 1), f"not valid YAML: {problem}".replace("'", '"'), hint


class _Builder:
    """Builds nodes from events, without recursion."""

    def __init__(self, report: Report) -> None:
        """Start before the first document."""
        self._report = report
        self._stack: list[_Open] = []
        self._documents = 0
        self.root: Node | None = None

    def take(self, event: Event) -> None:
        """Take one event; raises _StopReading where the rest cannot be used."""
        if isinstance(event, DocumentStartEvent):
            self._start_document(event)
        elif isinstance(event, NodeEvent):
            self._take_node(event)
        elif isinstance(event, CollectionEndEvent):
            opened = self._stack.pop()
            is_map = isinstance(event, MappingEndEvent)
            self._attach(self._map(opened) if is_map else _list(opened), is_plain=False)

    def _start_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            message = "the file holds more than one document"
            self._stop("config-multiple-documents", message, event, "keep one, without the other")
        if event.version is not None and tuple(event.version) != _YAML_VERSION:
            message = "the file asks for another YAML version than 1.2"
            self._stop("config-invalid-yaml", message, event, 'remove the line "%YAML"')

    def _stop(self, code: str, message: str, event: Any, hint: str) -> None:
        self._report.add(code, message, _span(event), hint)
        raise _StopReading

    def _take_node(self, event: Any) -> None:
        span = _span(event)
        if event.anchor is not None:
            what = "an alias" if isinstance(event, AliasEvent) else "an anchor"
            hint = "write the value out where it is used"
            self._report.add("config-anchor", f"{what} is not allowed here", span, hint)
        if isinstance(event, AliasEvent):
            self._attach(InvalidNode(span), is_plain=False)
        elif isinstance(event, ScalarEvent):
            # A tag makes `<<` a word like any other, and so do quotes.
            is_plain = _is_plain(event)
            self._attach(self._scalar(event, span, is_plain=is_plain), is_plain=is_plain)
        elif isinstance(event, CollectionStartEvent):
            self._open(event, span)

    def _open(self, event: Any, span: Span) -> None:
        if len(self._stack) >= MAX_CONFIG_DEPTH:
            message = f"nesting is deeper than {MAX_CONFIG_DEPTH}"
            self._stop("config-too-deep", message, event, "flatten the data")
        if _tag(event) not in _COLLECTION_TAGS:
            self._refuse_tag(event, span)
        self._stack.append(_Open(*span))

    def _attach(self, node: Node, *, is_plain: bool) -> None:
        if self._stack:
            self._stack[-1].children.append((node, is_plain))
        else:
            self.root = node

    def _refuse_tag(self, event: Any, span: Span) -> None:
        message = f"the tag {quoted(_short_tag(event))} makes no JSON data"
        self._report.add("config-not-json", message, span, "remove the tag")

    def _scalar(self, event: Any, span: Span, *, is_plain: bool) -> Node:
        tag = _tag(event)
        if tag is not None and tag not in _TEXT_TAGS:
            self._refuse_tag(event, span)
            return InvalidNode(span)
        try:
            value = plain_value(event.value) if is_plain else text_value(event.value)
        except NotJsonError as failure:
            hint = "put it in quotes" if is_plain else "write the whole character"
            message = f"{quoted(event.value)} {failure}"
            self._report.add("config-not-json", message, span, hint)
            return InvalidNode(span)
        return ScalarNode(span, value)

    def _map(self, opened: _Open) -> MapNode:
        entries: dict[str, Entry] = {}
        children = iter(opened.children)
        for (key, is_plain), (value, _) in zip(children, children, strict=True):
            name = self._key(key, is_plain=is_plain)
            if name is None:
                continue
            if name in entries:
                line = self._report.line_of(entries[name].key_span)
                message = f"the key {quoted(name)} is already on line {line}"
                self._report.add("config-duplicate-key", message, key.span, "keep one of them")
            else:
                entries[name] = Entry(name, key.span, value)
        return MapNode((opened.start, opened.end), tuple(entries.values()))

    def _key(self, key: Node, *, is_plain: bool) -> str | None:
        if isinstance(key, InvalidNode):
            return None
        if not isinstance(key, ScalarNode) or not isinstance(key.value, str):
            hint = "put the key in quotes" if isinstance(key, ScalarNode) else None
            message = f"a key is text, got {kind_of(key)}"
            self._report.add("config-not-json", message, key.span, hint)
            return None
        if is_plain and key.value == "<<":
            hint = "write the fields out where they are used"
            self._report.add("config-anchor", "a merge key is not allowed here", key.span, hint)
            return None
        return key.value


def _list(opened: _Open) -> ListNode:
    return ListNode((opened.start, opened.end), tuple(node for node, _ in opened.children))


def _span(event: Any) -> Span:
    return event.start_mark.index, event.end_mark.index


def _is_plain(event: Any) -> bool:
    return bool(event.implicit[0]) and event.ctag is None


def _tag(event: Any) -> str | None:
    return None if event.ctag is None else str(event.ctag)


def _short_tag(event: Any) -> str:
    tag = str(event.ctag)
    return f"!!{tag.removeprefix(_TAG_PREFIX)}" if tag.startswith(_TAG_PREFIX) else tag
