"""YAML 1.2 or JSON text to nodes. Any text ends in nodes or in diagnostics, never in a traceback."""

import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

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
# What aliases may add to a file, in nodes: a few hundred bytes could stand for gigabytes.
MAX_ALIASED_NODES: Final = 10_000
_YAML_VERSION: Final = (1, 2)
_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_COLLECTION_TAGS: Final = frozenset({None, "!", f"{_TAG_PREFIX}map", f"{_TAG_PREFIX}seq"})
_TEXT_TAGS: Final = frozenset({"!", f"{_TAG_PREFIX}str"})
# What the YAML reader lets through for malformed text besides its own errors, `"\UFFFFFFFF"` say.
_READER_FAILURES: Final = (YAMLError, ValueError, OverflowError, LookupError, AttributeError)


class _StopReading(Exception):  # noqa: N818 - no error: the reason is a diagnostic already
    """Nothing after this place can be read."""


@dataclass(frozen=True, slots=True)
class _Child:
    """A part of a collection: its node, the word as written, and how many nodes it stands for."""

    node: Node
    word: str | None = None
    is_plain: bool = False
    weight: int = 1


@dataclass(slots=True)
class _Open:
    """A collection whose end has not been read."""

    start: int
    end: int
    anchor: str | None = None
    children: list[_Child] = field(default_factory=list[_Child])


def read(
    source: str, report: Report, *, base: int = 0, data_keys: Collection[str] | None = None
) -> Node | None:
    """Read the one document of a text.

    Takes: YAML 1.2 or JSON text; a byte order mark and CRLF are accepted. `base` is added to every
        offset. `data_keys` are the keys of the root under which everything has to be JSON data;
        None when that is so everywhere. Elsewhere anchors are followed, to a bound, and what JSON
        does not have is text.
    Returns: its root, or None when it holds no document or could not be read; what is no JSON
        data is an `InvalidNode` or left out, with a diagnostic in `report`.
    Raises: nothing.
    Cost: O(length); the depth is bounded while reading, before anything recurses.
    """
    before = report.mark()
    builder = _Builder(report, base, data_keys)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for event in _events(source):
                builder.take(event)
    except _StopReading:
        return builder.root
    except _READER_FAILURES as failure:
        start, message, hint = _failure(failure)
        report.clear(before)
        report.add("config-invalid-yaml", message, (base + start, base + start + 1), hint)
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


def _failure(failure: Exception) -> tuple[int, str, str | None]:
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
    return start, f"not valid YAML: {problem}".replace("'", '"'), hint


class _Builder:
    """Builds nodes from events, without recursion."""

    def __init__(self, report: Report, base: int, data_keys: Collection[str] | None) -> None:
        """Start before the first document."""
        self._report = report
        self._base = base
        self._data_keys = data_keys
        self._stack: list[_Open] = []
        self._documents = 0
        self._aliased = 0
        self._anchors: dict[str, _Child | None] = {}
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
            weight = 1 + sum(child.weight for child in opened.children)
            node = self._map(opened) if is_map else _list(opened)
            self._attach(_Child(node, weight=weight), opened.anchor)

    def _is_data(self) -> bool:
        """Tell whether what is read now has to be JSON data."""
        if self._data_keys is None:
            return True
        children = self._stack[0].children if self._stack else []
        return len(children) % 2 == 1 and children[-1].word in self._data_keys

    def _span(self, event: Any) -> Span:
        return self._base + event.start_mark.index, self._base + event.end_mark.index

    def _start_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            message = "the file holds more than one document"
            self._stop("config-multiple-documents", message, event, "keep one, without the other")
        if event.version is not None and tuple(event.version) != _YAML_VERSION:
            message = "the file asks for another YAML version than 1.2"
            self._stop("config-invalid-yaml", message, event, 'remove the line "%YAML"')

    def _stop(self, code: str, message: str, event: Any, hint: str) -> NoReturn:
        self._report.add(code, message, self._span(event), hint)
        raise _StopReading

    def _take_node(self, event: Any) -> None:
        span = self._span(event)
        is_alias = isinstance(event, AliasEvent)
        if event.anchor is not None and self._is_data():
            what = "an alias" if is_alias else "an anchor"
            hint = "write the value out where it is used"
            self._report.add("config-anchor", f"{what} is not allowed here", span, hint)
        if is_alias:
            self._attach(self._referred(event, span))
        elif isinstance(event, ScalarEvent):
            self._take_scalar(event, span)
        elif isinstance(event, CollectionStartEvent):
            self._open(event, span)

    def _take_scalar(self, event: Any, span: Span) -> None:
        # A tag makes `<<` a word like any other, and so do quotes.
        is_plain = _is_plain(event)
        node = self._scalar(event, span, is_plain=is_plain)
        self._attach(_Child(node, str(event.value), is_plain), event.anchor)

    def _referred(self, event: Any, span: Span) -> _Child:
        """Return what an alias stands for."""
        name = str(event.anchor)
        if self._is_data():
            return _Child(InvalidNode(span))
        if name not in self._anchors:
            hint = f"write &{name} before the value that is meant"
            self._report.add("config-anchor", f"no anchor is called {quoted(name)}", span, hint)
            return _Child(InvalidNode(span))
        found = self._anchors[name]
        if found is None:
            message = f"the alias {quoted(name)} stands inside its own anchor"
            self._stop("config-anchor", message, event, "write the value out where it is used")
        self._aliased += found.weight
        if self._aliased > MAX_ALIASED_NODES:
            message = f"the aliases of the file stand for more than {MAX_ALIASED_NODES:,} values"
            self._stop("config-anchor", message, event, "write the values out where they are used")
        return found

    def _open(self, event: Any, span: Span) -> None:
        if len(self._stack) >= MAX_CONFIG_DEPTH:
            message = f"nesting is deeper than {MAX_CONFIG_DEPTH}"
            self._stop("config-too-deep", message, event, "flatten the data")
        if _tag(event) not in _COLLECTION_TAGS:
            self._refuse_tag(event, span)
        if event.anchor is not None:
            self._anchors[str(event.anchor)] = None
        self._stack.append(_Open(*span, anchor=event.anchor))

    def _attach(self, child: _Child, anchor: str | None = None) -> None:
        if anchor is not None:
            self._anchors[str(anchor)] = child
        if self._stack:
            self._stack[-1].children.append(child)
        else:
            self.root = child.node

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
            if is_plain and not self._is_data():
                return ScalarNode(span, str(event.value))
            hint = "put it in quotes" if is_plain else "write the whole character"
            message = f"{quoted(event.value)} {failure}"
            self._report.add("config-not-json", message, span, hint)
            return InvalidNode(span)
        return ScalarNode(span, value, str(event.style or ""))

    def _map(self, opened: _Open) -> MapNode:
        entries: dict[str, Entry] = {}
        merged: list[Node] = []
        children = iter(opened.children)
        for key, value in zip(children, children, strict=True):
            name = self._key(key)
            if name is None:
                continue
            if name == "<<" and key.is_plain:
                merged.append(value.node)
            elif name in entries:
                line = self._report.line_of(entries[name].key_span)
                message = f"the key {quoted(name)} is already on line {line}"
                self._report.add("config-duplicate-key", message, key.node.span, "keep one of them")
            else:
                entries[name] = Entry(name, key.node.span, value.node)
        for node in merged:
            for entry in _merged_entries(node):
                entries.setdefault(entry.key, entry)
        return MapNode((opened.start, opened.end), tuple(entries.values()))

    def _key(self, key: _Child) -> str | None:
        node = key.node
        if isinstance(node, InvalidNode):
            return None
        is_data = self._is_data()
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
            if isinstance(node, ScalarNode) and not is_data:
                return key.word
            hint = "put the key in quotes" if isinstance(node, ScalarNode) else None
            message = f"a key is text, got {kind_of(node)}"
            self._report.add("config-not-json", message, node.span, hint)
            return None
        if is_data and key.is_plain and node.value == "<<":
            hint = "write the fields out where they are used"
            self._report.add("config-anchor", "a merge key is not allowed here", node.span, hint)
            return None
        return node.value


def _merged_entries(node: Node) -> Iterator[Entry]:
    """Yield what a merge key brings in: the entries of a map, or of each map in a list."""
    if isinstance(node, MapNode):
        yield from node.entries
    elif isinstance(node, ListNode):
        for item in node.items:
            if isinstance(item, MapNode):
                yield from item.entries


def _list(opened: _Open) -> ListNode:
    return ListNode((opened.start, opened.end), tuple(child.node for child in opened.children))


def _is_plain(event: Any) -> bool:
    return bool(event.implicit[0]) and event.ctag is None


def _tag(event: Any) -> str | None:
    return None if event.ctag is None else str(event.ctag)


def _short_tag(event: Any) -> str:
    tag = str(event.ctag)
    return f"!!{tag.removeprefix(_TAG_PREFIX)}" if tag.startswith(_TAG_PREFIX) else tag
