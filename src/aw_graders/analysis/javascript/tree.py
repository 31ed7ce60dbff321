"""The syntax tree of a script, as plain objects in reading order."""

import threading
from typing import TYPE_CHECKING, Final

from aw_graders.analysis.javascript.places import Places
from aw_graders.analysis.model import ParserMissingError

if TYPE_CHECKING:
    from tree_sitter import Language, Tree, TreeCursor

MAX_SCRIPT_BYTES: Final = 262_144

_CHUNK_BYTES: Final = 1024
# The parser may read a script a few times over. Hostile text makes it do so without end.
_MAX_READINGS: Final = 6
# One step is a hundred operations; the densest program takes one for sixteen bytes.
_BASE_STEPS: Final = 2000
_BYTES_PER_STEP: Final = 12
# Repairing what is no JavaScript is slow, and a few repairs say as much as many.
_MAX_STEPS_AFTER_AN_ERROR: Final = 4000
# The parser frees its own stack by recursion, one frame for each open bracket or so.
_STACK_BYTES: Final = 64 << 20

_DROPPED: Final = frozenset({"comment", "html_comment"})
# Words and signs that are kept although they have no name of their own in the grammar.
_KEPT: Final = frozenset({"async", "await", "*", "get", "set", "static", "import"})


class Node:
    """One construct: an expression, a statement or a part of one.

    `first` and `last` are positions in `Script.nodes`: its own, and that of the last one inside.
    """

    __slots__ = (
        *("kind", "field", "start", "end", "first", "last", "parent", "children", "_data"),
    )

    def __init__(
        self, kind: str, field: str | None, span: tuple[int, int], first: int, data: bytes
    ) -> None:
        """Take what the grammar calls it, its role in the parent, and its bytes."""
        self.kind = kind
        self.field = field
        self.start, self.end = span
        self.first = self.last = first
        self.parent: Node = self
        self.children: list[Node] = []
        self._data = data

    @property
    def text(self) -> str:
        """The source of it."""
        return self._data[self.start : self.end].decode("utf-8", "replace")

    def child(self, field: str) -> "Node | None":
        """Return the first part with this role."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def has(self, kind: str) -> bool:
        """Tell whether one of the parts is of this kind."""
        return any(child.kind == kind for child in self.children)


class Script:
    """A script with its tree: every node once, each before the nodes inside it."""

    def __init__(self, places: Places, root: Node, nodes: list[Node], broken: list[Node]) -> None:
        """Take the places, the tree, and what the parser made up or may have left out wrongly."""
        self.places = places
        self.root = root
        self.nodes = nodes
        self.broken = broken


class TooComplexError(Exception):
    """A script that cannot be read in a bounded number of steps."""


def parse(source: str) -> Script:
    """Read a script as the body of a function.

    Takes: any text.
    Raises: ParserMissingError when the parser is not installed; TooComplexError for a text that
        is too long, or that no program comes near to.
    Cost: O(length).
    """
    language = _language()
    places = Places(source)
    if len(places.data) > MAX_SCRIPT_BYTES:
        raise TooComplexError
    return _script(places, _parsed(language, places.plain()))


def _language() -> "Language":
    try:
        import tree_sitter  # noqa: PLC0415 - only when a script is read
        import tree_sitter_javascript  # noqa: PLC0415

        return tree_sitter.Language(tree_sitter_javascript.language())
    except (ImportError, ValueError) as failure:
        msg = f"the parser of JavaScript cannot be loaded: {failure}"
        raise ParserMissingError(msg) from failure


class _Reading:
    """One run of the parser, counted: time would not be the same on every machine."""

    def __init__(self, language: "Language", data: bytes) -> None:
        self._language = language
        self._data = data
        self._steps_left = _BASE_STEPS + len(data) // _BYTES_PER_STEP
        self._chunks_left = 64 + _MAX_READINGS * len(data) // _CHUNK_BYTES
        self._has_error = False
        self.tree: Tree | None = None

    def run(self) -> None:
        """Parse; leaves no tree when the steps did not suffice."""
        from tree_sitter import Parser  # noqa: PLC0415 - known to be there

        try:
            tree = Parser(self._language).parse(self._chunk, progress_callback=self._is_over)
        except ValueError:
            return
        if self._chunks_left >= 0:
            self.tree = tree

    def _chunk(self, offset: int, _: object) -> bytes:
        self._chunks_left -= 1
        return self._data[offset : offset + _CHUNK_BYTES] if self._chunks_left >= 0 else b""

    def _is_over(self, _: int, has_error: bool) -> bool:  # noqa: FBT001 - as the parser calls it
        if has_error and not self._has_error:
            self._has_error = True
            self._steps_left = min(self._steps_left, _MAX_STEPS_AFTER_AN_ERROR)
        self._steps_left -= 1
        return self._steps_left < 0 or self._chunks_left < 0


_stack_size_lock: Final = threading.Lock()


def _parsed(language: "Language", data: bytes) -> "Tree":
    reading = _Reading(language, data)
    thread = threading.Thread(target=reading.run)
    with _stack_size_lock:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if reading.tree is None:
        raise TooComplexError
    return reading.tree


def _script(places: Places, tree: "Tree") -> Script:
    """Copy the tree, without comments and punctuation."""
    data = places.data
    nodes: list[Node] = []
    broken: list[Node] = []
    root = Node("program", None, (0, len(data)), 0, data)
    nodes.append(root)
    above = [root]
    cursor = tree.walk()
    if not cursor.goto_first_child():
        return Script(places, root, nodes, broken)
    if tree.root_node.type == "ERROR":
        broken.append(root)
    while True:
        node = _copied(cursor, len(nodes), data, broken)
        if node is not None:
            node.parent = above[-1]
            above[-1].children.append(node)
            nodes.append(node)
            if cursor.goto_first_child():
                above.append(node)
                continue
        while not cursor.goto_next_sibling():
            above[-1].last = len(nodes) - 1
            cursor.goto_parent()
            if len(above) == 1:
                return Script(places, root, nodes, broken)
            above.pop()


def _copied(cursor: "TreeCursor", at: int, data: bytes, broken: list[Node]) -> Node | None:
    """Copy the node under the cursor, unless it says nothing."""
    held = cursor.node
    assert held is not None  # noqa: S101 - the cursor stands on one
    kind, field = held.type, cursor.field_name
    is_missing = held.is_missing
    span = (held.start_byte, held.end_byte)
    if kind == "html_comment":
        broken.append(Node(kind, field, span, at, data))
    if kind in _DROPPED or not (held.is_named or field or kind in _KEPT or is_missing):
        return None
    node = Node(kind, field, span, at, data)
    if is_missing or kind == "ERROR":
        broken.append(node)
    return node
