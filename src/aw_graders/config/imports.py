"""Shared files that a workflow imports, and one map out of all that they say about graders."""

import re
from dataclasses import dataclass, field
from typing import Final

from aw_graders.config.files import FileProblem, Files, joined, read_bounded
from aw_graders.config.frontmatter import has_frontmatter, read_frontmatter
from aw_graders.config.ids import with_trimmed_ids
from aw_graders.config.nodes import (
    Entry,
    InvalidNode,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    entry_of,
    is_null,
    kind_of,
)
from aw_graders.config.positions import Report, Sources
from aw_graders.diagnostics import quoted

# A shared file is a page of text and settings.
MAX_IMPORT_BYTES: Final = 4 << 20
MAX_IMPORTED_FILES: Final = 100
_OTHER_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+/[^@\s]+@[^@\s]+", re.ASCII)
_LISTS: Final = "aw"
_PATH_KEYS: Final = ("path", "uses")


@dataclass(slots=True)
class Importing:
    """What reading the imports of one workflow needs and gathers.

    `declared_in` has the path from the root for each that is shown, `roots` the settings of every
    file that was read. `unread` names what lies in other repositories, so that nobody takes it for checked.
    """

    files: Files
    sources: Sources
    report: Report
    declared_in: dict[str, str] = field(default_factory=dict[str, str])
    roots: list[MapNode] = field(default_factory=list[MapNode])
    unread: list[str] = field(default_factory=list[str])
    _done: set[str] = field(default_factory=set[str])
    _open: list[str] = field(default_factory=list[str])

    def graders(self, path: str, root: MapNode) -> Node | None:
        """Return the `graders` of a file, merged over those of its imports in their order.

        Takes: the path of the file from the root of the repository, and its settings.
        Returns: a map whose parts keep the places where they were written; what is no map when
            that is all there is; None when nobody says anything about graders.
        """
        self._open.append(path)
        self.roots.append(root)
        merged: Node | None = None
        for name, span in _names(root, self.report):
            merged = merged_over(merged, self._imported(name, span, path))
        self._open.pop()
        own = entry_of(root, "graders")
        return merged_over(merged, None if own is None else self._trimmed(own.value))

    def _trimmed(self, node: Node) -> Node:
        return with_trimmed_ids(node, self.report) if isinstance(node, MapNode) else node

    def _imported(self, name: str, span: tuple[int, int], declaring: str) -> Node | None:
        """Return the graders of one imported file."""
        name = name.partition("#")[0].strip()
        if _OTHER_REPOSITORY.fullmatch(name):
            self.unread.append(name)
            message = f"the import {quoted(name)} lies in another repository and was not read"
            hint = "graders that it declares are unknown here; copy the file to check them"
            self.report.add("import-not-checked", message, span, hint, "warning")
            return None
        declared, folder = name.removeprefix("/"), declaring
        if name.startswith(("/", ".github/")):
            folder = ""
        path = joined(declared, folder) if declared else None
        if path is None:
            message = f"the import {quoted(name)} names no file inside the repository"
            self._refuse(
                message, span, "name a Markdown file, relative to the file that imports it"
            )
            return None
        if path in self._open:
            chain = " → ".join([*self._open[self._open.index(path) :], path])
            self._refuse(f"files import each other: {chain}", span, "remove one of the imports")
            return None
        if path in self._done:
            return None
        self._done.add(path)
        if len(self._done) > MAX_IMPORTED_FILES:
            message = f"the workflow imports more than {MAX_IMPORTED_FILES} files"
            self._refuse(message, span, "import fewer files")
            return None
        return self._read(path, span)

    def _read(self, path: str, span: tuple[int, int]) -> Node | None:
        try:
            source = read_bounded(self.files, path, MAX_IMPORT_BYTES).decode("utf-8")
        except FileProblem as problem:
            self._refuse(f"the import {quoted(path)} {problem}", span, "check the path")
            return None
        except UnicodeDecodeError as failure:
            message = f"the import {quoted(path)} is not UTF-8 text (byte {failure.start})"
            self._refuse(message, span, "save the file as UTF-8")
            return None
        if not has_frontmatter(source):
            # A part of the prompt only.
            return None
        shown = self.files.shown(path)
        self.declared_in[shown] = path
        base = self.sources.add(shown, source)
        root = read_frontmatter(source, self.report, base)
        return None if root is None else self.graders(path, root)

    def _refuse(self, message: str, span: tuple[int, int], hint: str) -> None:
        self.report.add("import-unreadable", message, span, hint)


def merged_over(under: Node | None, over: Node | None) -> Node | None:
    """Lay what was read later over what was read before.

    Maps are merged key by key at every depth; anything else, `false`, 0 and null too, replaces.
    A whole map of graders that is null says nothing, so the other one stays.
    Cost: O(entries); the depth is bounded by the reader.
    """
    if under is None or over is None:
        return under if over is None else over
    if is_null(over) and isinstance(under, MapNode):
        return under
    return _merged(under, over)


def _merged(under: Node, over: Node) -> Node:
    if not isinstance(under, MapNode) or not isinstance(over, MapNode):
        return over
    entries = {entry.key: entry for entry in under.entries}
    for entry in over.entries:
        before = entries.get(entry.key)
        value = entry.value if before is None else _merged(before.value, entry.value)
        entries[entry.key] = Entry(entry.key, entry.key_span, value)
    return MapNode(over.span, tuple(entries.values()))


def _names(root: MapNode, report: Report) -> list[tuple[str, tuple[int, int]]]:
    """Return what a file imports, with the places: a list, or a map whose `aw` is one."""
    entry = entry_of(root, "imports")
    if entry is None or is_null(entry.value) or isinstance(entry.value, InvalidNode):
        return []
    node: Node = entry.value
    if isinstance(node, MapNode):
        listed = entry_of(node, _LISTS)
        if listed is None or is_null(listed.value):
            return []
        node = listed.value
    if isinstance(node, InvalidNode):
        return []
    if not isinstance(node, ListNode):
        message = f'"imports" is a list of paths, got {kind_of(node)}'
        report.add("import-unreadable", message, node.span, "write imports: [shared/base.md]")
        return []
    found: list[tuple[str, tuple[int, int]]] = []
    for item in node.items:
        path = _path_of(item)
        if path is not None:
            found.append((path, item.span))
        elif not isinstance(item, InvalidNode):
            message = f"an import is a path, got {kind_of(item)}"
            hint = 'write the path of a file, or a map with "path"'
            report.add("import-unreadable", message, item.span, hint)
    return found


def _path_of(item: Node) -> str | None:
    for key in _PATH_KEYS:
        entry = entry_of(item, key)
        if entry is not None:
            item = entry.value
            break
    return item.value if isinstance(item, ScalarNode) and isinstance(item.value, str) else None
