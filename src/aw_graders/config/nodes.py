"""A document as read: JSON data in which every part knows its place."""

from dataclasses import dataclass
from typing import TypeAlias

from aw_graders._json import JsonValue

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A text, number, truth value or null.

    `style` is how YAML spelled it: `|` and `>` for blocks, `'` and `"` for quotes, else nothing.
    """

    span: Span
    value: bool | int | float | str | None
    style: str = ""


@dataclass(frozen=True, slots=True)
class InvalidNode:
    """Something that is no JSON data and that has its diagnostic already."""

    span: Span


@dataclass(frozen=True, slots=True)
class ListNode:
    """An array."""

    span: Span
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of an object, with its value."""

    key: str
    key_span: Span
    value: "Node"


@dataclass(frozen=True, slots=True)
class MapNode:
    """An object: text keys, none twice, in the order of the file."""

    span: Span
    entries: tuple[Entry, ...]


Node: TypeAlias = ScalarNode | InvalidNode | ListNode | MapNode


def entry_of(node: Node | None, key: str) -> Entry | None:
    """Return the entry under a key of a map, or None when it is no map or has no such key."""
    if not isinstance(node, MapNode):
        return None
    return next((entry for entry in node.entries if entry.key == key), None)


def is_null(node: Node | None) -> bool:
    """Tell whether a node is absent, or YAML's null."""
    return node is None or (isinstance(node, ScalarNode) and node.value is None)


def data_of(node: Node) -> JsonValue:
    """Return the plain data of a node, with null for what is invalid; depth is bounded."""
    if isinstance(node, ListNode):
        return [data_of(item) for item in node.items]
    if isinstance(node, MapNode):
        return {entry.key: data_of(entry.value) for entry in node.entries}
    return node.value if isinstance(node, ScalarNode) else None


def kind_of(node: Node) -> str:
    """Name what a node is, the way a message says it."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a map"
    if isinstance(node, InvalidNode):
        return "no JSON data"
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return "a boolean"
    return "text" if isinstance(node.value, str) else "a number"
